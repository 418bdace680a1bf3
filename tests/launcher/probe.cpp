// What tests launch: a rank that writes down how it was started, and then does as it is told.
//
// With OUT in the environment it writes $OUT/rank_$RANK.json first. Its arguments are steps, done
// in order; after `--on RANK` they are those of that rank only, until `--on all`.

#include <muster/control.hpp>

#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <map>
#include <netinet/in.h>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace {

std::string variable(const char* name, const char* otherwise = "") {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    char code[8];
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      json += code;
    } else {
      json += c;
    }
  }
  return json + "\"";
}

std::string of_this_rank(const std::string& name) {
  return variable("OUT", ".") + "/" + name + "_" + variable("RANK", "0");
}

std::string arguments_json(int argc, char** argv) {
  std::string json;
  for (int i = 0; i < argc; ++i) json += (i ? "," : "") + quoted(argv[i]);
  return "[" + json + "]";
}

std::string environment_json() {
  std::string json;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    json += (json.empty() ? "" : ",") + quoted(text.substr(0, equals)) + ":" +
            quoted(text.substr(equals + 1));
  }
  return "{" + json + "}";
}

std::string descriptors_json() {
  std::string json;
  DIR* folder = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(folder)) {
    char target[256] = {};
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    if (entry->d_name[0] == '.' || std::atoi(entry->d_name) == dirfd(folder)) continue;
    if (readlink(path.c_str(), target, sizeof target - 1) < 0) continue;
    json += (json.empty() ? "" : ",") + quoted(entry->d_name) + ":" + quoted(target);
  }
  closedir(folder);
  return "{" + json + "}";
}

/// A line of /proc/self/status.
std::string status_field(const std::string& name) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line))
    if (line.rfind(name + ":\t", 0) == 0) return line.substr(name.size() + 2);
  return "";
}

void write_down(int argc, char** argv) {
  if (variable("OUT").empty()) return;
  winsize size{};
  ioctl(1, TIOCGWINSZ, &size);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  char folder[4096] = {};
  if (!getcwd(folder, sizeof folder)) folder[0] = 0;
  const std::string path = of_this_rank("rank") + ".json";
  const std::string descriptors = descriptors_json();  // Before there is one more.
  std::ofstream out(path + ".part");
  out << "{\"argv\":" << arguments_json(argc, argv) << ",\"env\":" << environment_json()
      << ",\"fds\":" << descriptors << ",\"blocked\":" << quoted(status_field("SigBlk"))
      << ",\"ignored\":" << quoted(status_field("SigIgn")) << ",\"cwd\":" << quoted(folder)
      << ",\"cpus\":" << quoted(status_field("Cpus_allowed_list")) << ",\"pid\":" << getpid()
      << ",\"parent\":" << getppid() << ",\"session\":" << getsid(0)
      << ",\"files\":" << files.rlim_cur << ",\"columns\":" << size.ws_col << ",\"terminals\":["
      << isatty(0) << "," << isatty(1) << "," << isatty(2) << "]}\n";
  out.close();
  std::rename((path + ".part").c_str(), path.c_str());
}

/// "OUT/name" is a file in $OUT.
std::string in_out(const std::string& path) {
  return path.rfind("OUT/", 0) == 0 ? variable("OUT", ".") + path.substr(3) : path;
}

void touch(const std::string& path) { std::ofstream{in_out(path)}; }

void print(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t bytes = write(fd, text.data() + at, text.size() - at);
    if (bytes < 0) std::exit(9);
    at += static_cast<std::size_t>(bytes);
  }
}

void sleep_for(const std::string& seconds) {
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration<double>(std::strtod(seconds.c_str(), nullptr));
  while (std::chrono::steady_clock::now() < end)  // Signals cut a sleep short.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

void note_signal(int signal) {
  static const std::string path = of_this_rank("signals");
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const std::string line = std::string(sigabbrev_np(signal)) + "\n";
  if (write(file, line.data(), line.size()) < 0) std::abort();
  close(file);
}

double slow_end_seconds = 0;

void end_slowly(int) {
  sleep_for(std::to_string(slow_end_seconds));
  touch(of_this_rank("saved"));
  _exit(0);
}

/// Whether the process of another rank is about to be gone, or is.
bool is_exiting(const std::string& rank) {
  std::ifstream file(variable("OUT") + "/rank_" + rank + ".json");
  std::string text;
  std::getline(file, text);
  const auto at = text.find("\"pid\":");
  if (at == std::string::npos) return false;
  std::ifstream stat("/proc/" + std::to_string(std::atoi(text.c_str() + at + 6)) + "/stat");
  std::string fields;
  std::getline(stat, fields);
  unsigned flags = 0;
  const auto name_end = fields.rfind(')');
  constexpr unsigned pf_exiting = 4;
  return name_end == std::string::npos ||
         std::sscanf(fields.c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1 ||
         (flags & pf_exiting) != 0;
}

/// Leaves a grandchild in a session of its own behind, with all our descriptors.
void leave_daemon(const std::string& seconds) {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      std::signal(SIGTERM, SIG_IGN);
      std::signal(SIGHUP, SIG_IGN);
      touch(of_this_rank("daemon"));
      sleep_for(seconds);
      _exit(0);
    }
    _exit(0);
  }
  while (access(of_this_rank("daemon").c_str(), F_OK) != 0) sleep_for("0.005");
}

/// A child that stays one, as data loaders do; every second one in a session of its own.
void start_worker(const std::string& seconds, bool own_session) {
  if (fork() != 0) return;
  if (own_session) setsid();
  sleep_for(seconds);
  _exit(0);
}

void print_lines(int fd, long count) {
  std::string text;
  for (long i = 0; i < count; ++i) {
    text += "line " + std::to_string(i) + " of rank " + variable("RANK", "0") + " " +
            std::string(static_cast<std::size_t>(i * 7 % 301), 'x') + "\n";
    if (text.size() < 8192 && i + 1 < count) continue;
    print(fd, text);
    text.clear();
  }
}

void copy_input() {
  char buffer[65536];
  ssize_t size = 0;
  const std::string path = of_this_rank("input");
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  while ((size = read(0, buffer, sizeof buffer)) > 0)
    if (write(file, buffer, static_cast<std::size_t>(size)) < 0) std::abort();
  close(file);
}

/// "\n", "\r", "\0" and "\xHH" in an argument.
std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char kind = text[++i];
    if (kind == 'n') out += '\n';
    if (kind == 'r') out += '\r';
    if (kind == '0') out += '\0';
    if (kind == 'x') {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    }
  }
  return out;
}

/// As a program's own store does: listens where ranks were told to meet, on a socket of its own,
/// and has nothing to say to whom it does not know.
void keep_store() {
  const int store = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(store, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(variable("MASTER_PORT"))));
  inet_pton(AF_INET, variable("MASTER_ADDR").c_str(), &address.sin_addr);
  if (bind(store, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) std::exit(9);
  listen(store, 8);
  std::thread([store] {
    while (true) close(accept(store, nullptr, nullptr));
  }).detach();
}

/// As our runtime does, for launchers that may not look.
void tell_stack_when_asked() {
  std::signal(SIGURG, [](int) {
    void* addresses[32];
    muster::Control::instance().stack(addresses, backtrace(addresses, 32));
  });
  void* warm[2];
  backtrace(warm, 2);
  muster::Control::instance().stack(nullptr, 0);
}

using Filter = std::vector<sock_filter>;

/// The call `number` fails, if its first argument is `first`.
void refuse_first(Filter& filter, long number, unsigned first, unsigned refuse) {
  filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 3));
  filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 0, 1));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, refuse));
}

/// What fails in a sandbox made before these calls were.
void refuse_new_calls(Filter& filter, unsigned refuse) {
  filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (const long number :
       {__NR_pidfd_open, __NR_pidfd_send_signal, __NR_close_range, __NR_memfd_create, __NR_clone3,
        __NR_sched_setaffinity, __NR_set_mempolicy, __NR_ptrace, __NR_process_vm_readv}) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, refuse));
  }
}

/// `probe --in-sandbox ERRNO program...`; `--in-narrow-sandbox`: without subreapers too;
/// `--in-copying-sandbox`: where a child cannot run in its parent's memory.
void run_in_sandbox(char** argv) {
  const std::string kind = argv[1];
  const unsigned refuse = SECCOMP_RET_ERRNO | static_cast<unsigned>(std::atoi(argv[2]));
  Filter filter;
  if (kind == "--in-copying-sandbox") {
    refuse_first(filter, __NR_clone, CLONE_VM | SIGCHLD, refuse);
  } else {
    refuse_new_calls(filter, refuse);
  }
  if (kind == "--in-narrow-sandbox")
    refuse_first(filter, __NR_prctl, PR_SET_CHILD_SUBREAPER, refuse);
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) std::exit(77);
  execvp(argv[3], argv + 3);
  std::exit(99);
}

using Step = std::function<void(const std::string&)>;

/// Steps without a value, and with one.
const std::map<std::string, Step> plain_steps{
    {"--ignore-term", [](const auto&) { std::signal(SIGTERM, SIG_IGN); }},
    {"--no-core",
     [](const auto&) {
       const rlimit none{};
       setrlimit(RLIMIT_CORE, &none);
     }},
    {"--copy-input", [](const auto&) { copy_input(); }},
    {"--close-output",
     [](const auto&) {
       close(1);
       close(2);
     }},
    {"--ready", [](const auto&) { muster::Control::instance().ready(); }},
    {"--collective",
     [](const auto&) {
       auto& control = muster::Control::instance();
       control.step(40);
       control.note({12, 4096, muster::CollectiveState::running, "all_reduce", "gradients 2/3",
                     "float32 [1024]"});
       touch(of_this_rank("in_collective"));
     }},
    {"--end-busy", [](const auto&) { muster::Control::instance().end_busy(); }},
    {"--wait-in-collective", [](const auto&) { muster::Control::instance().waiting(true); }},
    {"--tell-stack", [](const auto&) { tell_stack_when_asked(); }},
    {"--stop", [](const auto&) { std::raise(SIGSTOP); }},
    {"--store", [](const auto&) { keep_store(); }},
    {"--count-signals",
     [](const auto&) {
       for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH})
         std::signal(signal, note_signal);
       touch(of_this_rank("counting"));
     }},
};

const std::map<std::string, Step> value_steps{
    {"--step",
     [](const std::string& number) { muster::Control::instance().step(std::stoull(number)); }},
    {"--busy", [](const std::string& what) { muster::Control::instance().begin_busy(what); }},
    {"--steps",  // A step every 20 ms, for so many seconds.
     [](const std::string& seconds) {
       const int count = static_cast<int>(std::strtod(seconds.c_str(), nullptr) * 50);
       for (int i = 1; i <= count; ++i) {
         muster::Control::instance().step(static_cast<std::uint64_t>(i));
         sleep_for("0.02");
       }
     }},
    {"--stuck",  // REASON; exits with 9, as by an error, when it may.
     [](const std::string& reason) {
       const bool seen = muster::Control::instance().stuck(reason, 12, "rank x did not come");
       touch(of_this_rank(seen ? "answered" : "unanswered"));
       std::exit(9);
     }},
    {"--exit", [](const std::string& code) { std::exit(std::atoi(code.c_str())); }},
    {"--exit-on",
     [](const std::string& text) {
       const auto colon = text.find(':');
       if (text.substr(0, colon) == variable("RANK", "0"))
         std::exit(std::atoi(text.substr(colon + 1).c_str()));
     }},
    {"--sleep", sleep_for},
    {"--raise",
     [](const std::string& signal) {
       std::signal(std::atoi(signal.c_str()), SIG_DFL);
       std::raise(std::atoi(signal.c_str()));
     }},
    {"--throw", [](const std::string& text) { throw std::runtime_error(text); }},
    {"--death",
     [](const std::string& text) { muster::Control::instance().death("exception", text); }},
    {"--print", [](const std::string& text) { print(1, unescaped(text)); }},
    {"--print-error", [](const std::string& text) { print(2, unescaped(text)); }},
    {"--lines", [](const std::string& count) { print_lines(1, std::atol(count.c_str())); }},
    {"--error-lines", [](const std::string& count) { print_lines(2, std::atol(count.c_str())); }},
    {"--touch", [](const std::string& path) { touch(path); }},
    {"--touch-rank", [](const std::string& name) { touch(of_this_rank(name)); }},
    {"--daemonize", leave_daemon},
    {"--worker", [](const std::string& seconds) { start_worker(seconds, false); }},
    {"--far-worker", [](const std::string& seconds) { start_worker(seconds, true); }},
    {"--slow-term",
     [](const std::string& seconds) {
       slow_end_seconds = std::strtod(seconds.c_str(), nullptr);
       std::signal(SIGTERM, end_slowly);
       touch(of_this_rank("trapping"));
     }},
    {"--wait-for",
     [](const std::string& path) {
       while (access(in_out(path).c_str(), F_OK) != 0) sleep_for("0.005");
     }},
    {"--wait-columns",
     [](const std::string& columns) {
       winsize size{};
       while (size.ws_col != std::atoi(columns.c_str())) {
         sleep_for("0.005");
         ioctl(1, TIOCGWINSZ, &size);
       }
     }},
    {"--wait-exiting",
     [](const std::string& rank) {
       while (!is_exiting(rank)) std::this_thread::yield();
     }},
    {"--fill",
     [](const std::string& megabytes) {
       const auto size = static_cast<std::size_t>(std::atol(megabytes.c_str())) << 20U;
       void* memory =
           mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
       madvise(memory, size, MADV_NOHUGEPAGE);
       std::memset(memory, 1, size);
     }},
};

void do_steps(int argc, char** argv) {
  bool mine = true;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto plain = plain_steps.find(name);
    if (plain != plain_steps.end()) {
      if (mine) plain->second("");
      continue;
    }
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    const auto step = value_steps.find(name);
    if (name == "--on") {
      mine = value == "all" || value == variable("RANK", "0");
    } else if (step == value_steps.end()) {
      continue;  // Any other argument is only written down.
    } else if (mine) {
      step->second(value);
    }
    ++i;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3 && std::string(argv[1]).ends_with("-sandbox")) run_in_sandbox(argv);
  write_down(argc, argv);
  do_steps(argc, argv);
}

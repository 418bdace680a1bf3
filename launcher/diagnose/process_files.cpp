#include "diagnose/process_files.hpp"

#include "text.hpp"
#include "unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string_view>
#include <unistd.h>

namespace muster::launcher {
namespace {

std::string in_proc(pid_t pid, const std::string& name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

std::string in_task(pid_t pid, pid_t thread, const std::string& name) {
  return in_proc(pid, "task/" + std::to_string(thread) + "/" + name);
}

/// The letter in the text of a status file; 0 if there is none.
char state_in(std::string_view status) {
  const auto state = field(status, "State");
  return state.empty() ? '\0' : state.front();
}

/// Empty if it cannot be read.
std::string read_text(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[16384];
  ssize_t bytes = 0;
  while (file && (bytes = ::read(file.get(), buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(bytes));
  return text;
}

}  // namespace

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(in_proc(pid, "task").c_str()),
                                                   &::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr)
    if (const auto number = to_number<pid_t>(entry->d_name)) threads.push_back(*number);
  std::ranges::sort(threads, {}, [pid](pid_t thread) { return std::pair(thread != pid, thread); });
  return threads;
}

std::string thread_name(pid_t pid, pid_t thread) {
  return std::string(trim(read_text(in_task(pid, thread, "comm"))));
}

bool has_ended(pid_t pid, pid_t thread) {
  const auto state = state_in(read_text(in_task(pid, thread, "status")));
  return state == 0 || state == 'Z' || state == 'X';
}

pid_t living_thread(pid_t pid) {
  if (!has_ended(pid, pid)) return pid;
  const auto threads = threads_of(pid);
  const auto living =
      std::ranges::find_if(threads, [pid](const pid_t thread) { return !has_ended(pid, thread); });
  return living == threads.end() ? pid : *living;
}

ProcessView view_of(pid_t pid) {
  ProcessView view;
  auto status = read_text(in_proc(pid, "status"));
  view.state = state_in(status);
  if (view.state == 0) return view;
  const auto speaks = living_thread(pid);
  if (speaks != pid) {
    status = read_text(in_task(pid, speaks, "status"));
    view.state = state_in(status);
  }
  view.tracer = to_number<int>(field(status, "TracerPid")).value_or(0);
  if (view.tracer != 0) view.tracer_name = trim(read_text(in_proc(view.tracer, "comm")));
  const auto where = read_text(in_task(pid, speaks, "wchan"));
  if (where != "0") view.waits_in = where;
  return view;
}

std::string executable_of(pid_t pid) {
  char path[4096];
  const ssize_t size = ::readlink(in_proc(pid, "exe").c_str(), path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

std::string maps_of(pid_t pid) { return read_text(in_proc(pid, "maps")); }

std::string why_not_traced(pid_t pid, int error) {
  const auto view = view_of(pid);
  if (view.tracer != 0)
    return "process " + std::to_string(view.tracer) + " (" + view.tracer_name + ") traces it";
  if (error != EPERM && error != EACCES) return std::strerror(error);
  const auto scope =
      to_number<int>(trim(read_text("/proc/sys/kernel/yama/ptrace_scope"))).value_or(0);
  if (scope >= 2) {
    return "/proc/sys/kernel/yama/ptrace_scope is " + std::to_string(scope) +
           ", which keeps processes from being looked at; 1 would do";
  }
  return "the kernel does not let us trace it (another user's program, one that hides its memory, "
         "or a sandbox without CAP_SYS_PTRACE)";
}

}  // namespace muster::launcher

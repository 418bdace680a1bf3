#include "report/json_report.hpp"

#include <muster/error.hpp>
#include <muster/version.hpp>

#include "report/signal_name.hpp"
#include "screen/patient_write.hpp"
#include "unique_fd.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace muster::launcher {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(CollectiveState state) {
  switch (state) {
    case CollectiveState::none:
      return "none";
    case CollectiveState::queued:
      return "queued";
    case CollectiveState::running:
      return "running";
    case CollectiveState::done:
      return "done";
    case CollectiveState::failed:
      return "failed";
  }
  return "";
}

Json collective_json(const ControlNote& note) {
  return {{"operation", note.operation},
          {"label", note.label},
          {"sequence", note.sequence},
          {"bytes", note.bytes},
          {"state", name_of(note.state)}};
}

Json rank_json(const RankEnd& end, const Plan& plan) {
  Json rank;
  rank["rank"] = end.rank;
  if (const auto* spec = plan.find(end.rank)) {
    rank["host"] = spec->host;
    rank["local_rank"] = spec->world.local_rank;
    rank["device"] = spec->device;
  } else if (!end.host.empty()) {
    rank["host"] = end.host;
    rank["local_rank"] = end.local_rank;
  }
  rank["pid"] = end.pid;
  rank["exit_code"] = end.exit_code;
  rank["signal"] = end.signal == 0 ? Json(nullptr) : Json(signal_name(end.signal));
  rank["core_dumped"] = end.core_dumped;
  rank["stopped_by_muster"] = end.stopped_by_us;
  rank["seconds"] = end.seconds;
  if (!end.reason.empty()) rank["reason"] = end.reason;
  if (!end.text.empty()) rank["error"] = end.text;
  if (end.last.sequence != 0) rank["collective"] = collective_json(end.last);
  if (end.last.step != 0) rank["step"] = end.last.step;
  if (end.checkpoint != 0) rank["checkpoint"] = end.checkpoint;
  if (!end.last_lines.empty()) rank["last_lines"] = end.last_lines;
  return rank;
}

/// What became of the ranks of one start.
void add_ranks(Json& json, const Outcome& outcome, const Plan& plan) {
  if (outcome.first) json["first_failure"] = rank_json(*outcome.first, plan);
  json["ranks"] = Json::array();
  for (const auto& end : outcome.ranks) json["ranks"].push_back(rank_json(end, plan));
}

/// No FIFO and no terminal may hold us up.
constexpr int open_to_write = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

std::string fault_of(const std::string& path) {
  return "--report " + path + ": cannot be written: " + std::strerror(errno);
}

/// 1 or 2 if that is the same file, pipe or terminal (/dev/stdout); else -1.
int own_output(const struct stat& facts) {
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own {};
    if (::fstat(fd, &own) == 0 && own.st_dev == facts.st_dev && own.st_ino == facts.st_ino)
      return fd;
  }
  return -1;
}

/// A reader that has stopped reading must not keep us for ever.
bool can_be_written_soon(int file) {
  constexpr int patience_ms = 2000;
  pollfd ready{file, POLLOUT, 0};
  errno = EAGAIN;
  return ::poll(&ready, 1, patience_ms) == 1;
}

void write_all(int file, const std::string& path, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto written = ::write(file, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN && can_be_written_soon(file)) continue;
    if (written < 0) throw Error(fault_of(path));
    at += static_cast<std::size_t>(written);
  }
}

/// The whole text or what was there before: a new file takes the place of the old one. `mode` is
/// the old one's; 0: there is none.
void replace_file(const std::string& path, mode_t mode, const std::string& text) {
  std::error_code ignored;
  const auto target = std::filesystem::weakly_canonical(path, ignored);
  const std::string place = target.empty() ? path : target.string();
  const std::string beside = place + ".muster-" + std::to_string(::getpid());
  UniqueFd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) {
    // The folder may be another user's, and the file ours.
    file.reset(::open(path.c_str(), open_to_write | O_CREAT | O_TRUNC, 0666));
    write_all(file.get(), path, text);
    return;
  }
  try {
    if (mode != 0) ::fchmod(file.get(), mode);
    write_all(file.get(), path, text);
    if (::rename(beside.c_str(), place.c_str()) != 0) throw Error(fault_of(path));
  } catch (const Error&) {
    ::unlink(beside.c_str());
    throw;
  }
}

}  // namespace

std::string_view to_text(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::ok:
      return "ok";
    case OutcomeKind::usage:
      return "usage";
    case OutcomeKind::not_started:
      return "not_started";
    case OutcomeKind::rank_failed:
      return "rank_failed";
    case OutcomeKind::timeout:
      return "timeout";
    case OutcomeKind::interrupted:
      return "interrupted";
    case OutcomeKind::lost:
      return "lost";
  }
  return "";
}

std::string json_report(const Outcome& outcome, const Plan& plan,
                        const std::vector<std::string>& command_line) {
  Json report;
  report["muster"] = version;
  report["outcome"] = to_text(outcome.kind);
  report["exit_code"] = outcome.exit_code;
  report["seconds"] = outcome.seconds;
  report["command_line"] = command_line;
  if (!plan.run_id.empty()) report["run_id"] = plan.run_id;
  if (!outcome.message.empty()) report["message"] = outcome.message;
  if (outcome.signal != 0) report["signal"] = signal_name(outcome.signal);
  if (!outcome.left.empty()) report["left"] = outcome.left;
  add_ranks(report, outcome, plan);
  report["restarts"] = outcome.earlier.size();
  for (const auto& start : outcome.earlier) {
    auto& earlier = report["earlier_starts"].emplace_back();
    earlier["exit_code"] = start.exit_code;
    earlier["seconds"] = start.seconds;
    add_ranks(earlier, start, plan);
  }
  // A program's lines may be any bytes; the report is UTF-8 all the same.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void check_report_path(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) {
    const UniqueFd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!made) throw ConfigError(fault_of(path));
    ::unlink(path.c_str());
    return;
  }
  if (own_output(facts) >= 0) return;
  if (S_ISDIR(facts.st_mode)) errno = EISDIR;
  if (!S_ISREG(facts.st_mode) && !S_ISCHR(facts.st_mode) && !S_ISDIR(facts.st_mode))
    throw ConfigError("--report " + path + ": is neither a file nor a character device");
  const UniqueFd file(::open(path.c_str(), open_to_write));
  if (!file) throw ConfigError(fault_of(path));
}

void write_report(const std::string& path, const std::string& text) {
  struct stat facts {};
  const bool exists = ::stat(path.c_str(), &facts) == 0;
  if (const int own = exists ? own_output(facts) : -1; own >= 0) {
    // Behind what the job printed, with nothing cut off.
    constexpr std::chrono::minutes patience{1};
    errno = write_patiently(own, text, patience);
    if (errno != 0) throw Error(fault_of(path));
  } else if (exists && !S_ISREG(facts.st_mode)) {
    write_all(UniqueFd(::open(path.c_str(), open_to_write)).get(), path, text);
  } else {
    replace_file(path, exists ? facts.st_mode & 07777U : 0, text);
  }
}

std::string read_error_file(const std::string& path) {
  constexpr std::size_t most = std::size_t{1} << 20U;
  struct stat facts {};
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return "";
  std::string text(std::min<std::size_t>(static_cast<std::size_t>(facts.st_size), most), '\0');
  const auto size = ::read(file.get(), text.data(), text.size());
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  const auto json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("message")) return "";
  const auto& message = json["message"];
  if (message.is_string()) return message.get<std::string>();
  if (message.is_object() && message.contains("message") && message["message"].is_string()) {
    return message["message"].get<std::string>();
  }
  return "";
}

}  // namespace muster::launcher

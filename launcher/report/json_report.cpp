#include "report/json_report.hpp"

#include <muster/error.hpp>
#include <muster/version.hpp>

#include "report/signal_name.hpp"
#include "topology/sysroot.hpp"
#include "unique_fd.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

using Json = nlohmann::ordered_json;

Json rank_json(const RankEnd& end, const Plan& plan) {
  Json rank;
  rank["rank"] = end.rank;
  if (const auto at = static_cast<std::size_t>(end.rank); at < plan.ranks.size()) {
    const auto& spec = plan.ranks[at];
    rank["host"] = spec.host;
    rank["local_rank"] = spec.world.local_rank;
    rank["device"] = spec.device;
  }
  rank["pid"] = end.pid;
  rank["exit_code"] = end.exit_code;
  rank["signal"] = end.signal == 0 ? Json(nullptr) : Json(signal_name(end.signal));
  rank["core_dumped"] = end.core_dumped;
  rank["stopped_by_muster"] = end.stopped_by_us;
  rank["seconds"] = end.seconds;
  if (!end.reason.empty()) rank["reason"] = end.reason;
  if (!end.text.empty()) rank["error"] = end.text;
  if (!end.last_lines.empty()) rank["last_lines"] = end.last_lines;
  return rank;
}

std::string fault_of(const std::string& path) {
  return "--report " + path + ": cannot be written: " + std::strerror(errno);
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
  if (outcome.first) report["first_failure"] = rank_json(*outcome.first, plan);
  report["ranks"] = Json::array();
  for (const auto& end : outcome.ranks) report["ranks"].push_back(rank_json(end, plan));
  // A program's lines may be any bytes; the report is UTF-8 all the same.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void check_report_path(const std::string& path) {
  const bool existed = ::access(path.c_str(), F_OK) == 0;
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!file) throw ConfigError(fault_of(path));
  if (!existed) ::unlink(path.c_str());
}

void write_report(const std::string& path, const std::string& text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) throw Error(fault_of(path));
  for (std::size_t at = 0; at < text.size();) {
    const auto written = ::write(file.get(), text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(fault_of(path));
    at += static_cast<std::size_t>(written);
  }
}

std::string read_error_file(const std::string& path) {
  const auto text = Sysroot().read(path);
  if (!text) return "";
  const auto json = Json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("message")) return "";
  const auto& message = json["message"];
  if (message.is_string()) return message.get<std::string>();
  if (message.is_object() && message.contains("message") && message["message"].is_string()) {
    return message["message"].get<std::string>();
  }
  return "";
}

}  // namespace muster::launcher

#include "report/json_report.hpp"

#include <muster/version.hpp>

#include "report/first_line.hpp"
#include "report/hang_json.hpp"
#include "report/signal_name.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <system_error>

namespace muster::launcher {
namespace {

using Json = nlohmann::ordered_json;
using Time = std::chrono::system_clock::time_point;

/// "2026-03-01T12:00:00.250Z"
std::string time_text(Time time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", text,
                     std::chrono::duration_cast<std::chrono::milliseconds>(time - whole).count());
}

std::string absolute(const std::string& path) {
  std::error_code ignored;
  const auto whole = std::filesystem::absolute(path, ignored);
  return whole.empty() ? path : whole.string();
}

/// What became of a rank, in one word.
std::string_view end_of(const RankEnd& end, const Outcome& outcome) {
  if (end.stopped_by_us) return "stopped_by_muster";
  const auto& early = outcome.left_early;
  if (std::ranges::find(early, end.rank) != early.end()) return "left_early";
  if (end.exit_code == 0) return "ok";
  if (end.out_of_memory) return "out_of_memory";
  return was_killed_from_outside(end) ? "killed_from_outside" : "failed";
}

/// Where and as what it ran.
void add_place(const RankEnd& end, const Plan& plan, Json& rank) {
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
}

/// What it said, and what it was doing.
void add_words(const RankEnd& end, Json& rank) {
  if (!end.reason.empty()) rank["reason"] = end.reason;
  if (!end.text.empty()) rank["error"] = end.text;
  if (!end.call_stack.empty()) rank["call_stack"] = end.call_stack;
  if (end.last.sequence != 0) rank["collective"] = collective_json(end.last);
  if (end.last.step != 0) rank["step"] = end.last.step;
  if (end.checkpoint != 0) rank["checkpoint"] = end.checkpoint;
  if (!end.last_lines.empty()) rank["last_lines"] = end.last_lines;
  if (!end.stdout_log.empty()) {
    rank["log"] = {{"stdout", absolute(end.stdout_log)}, {"stderr", absolute(end.stderr_log)}};
  }
}

Json rank_json(const RankEnd& end, const Outcome& outcome, const Plan& plan) {
  Json rank;
  add_place(end, plan, rank);
  rank["end"] = end_of(end, outcome);
  rank["exit_code"] = end.exit_code;
  rank["signal"] = end.signal == 0 ? Json(nullptr) : Json(signal_name(end.signal));
  rank["core_dumped"] = end.core_dumped;
  if (!end.core.empty()) rank["core"] = end.core;
  rank["stopped_by_muster"] = end.stopped_by_us;
  rank["started_after"] = end.started;
  rank["seconds"] = end.seconds;
  add_words(end, rank);
  return rank;
}

/// How the others ended, because of the first.
Json consequences_json(const Outcome& outcome) {
  auto list = Json::array();
  for (const auto& end : outcome.ranks) {
    const auto what = end_of(end, outcome);
    if (end.rank == outcome.first->rank || what == "ok" || what == "left_early") continue;
    list.push_back({{"rank", end.rank}, {"end", what}, {"exit_code", end.exit_code}});
  }
  return list;
}

Json memory_json(const MemoryKills& kills) {
  Json memory{{"killed", kills.count}, {"counted", kills.on_host ? "host" : "control_group"}};
  if (kills.limit) {
    memory["limit"] = *kills.limit;
    memory["group"] = kills.group;
  }
  if (kills.peak) memory["peak"] = *kills.peak;
  return memory;
}

/// What became of the ranks of one start.
void add_ranks(Json& json, const Outcome& outcome, const Plan& plan) {
  if (outcome.memory) json["memory"] = memory_json(*outcome.memory);
  if (outcome.first) {
    json["first_failure"] = rank_json(*outcome.first, outcome, plan);
    json["consequences"] = consequences_json(outcome);
  }
  if (!outcome.hangs.empty()) json["hangs"] = Json::array();
  for (const auto& hang : outcome.hangs) json["hangs"].push_back(hang_json(hang));
  json["ranks"] = Json::array();
  for (const auto& end : outcome.ranks) json["ranks"].push_back(rank_json(end, outcome, plan));
}

void add_times(const Outcome& outcome, Json& report) {
  report["seconds"] = outcome.seconds;
  if (outcome.started == Time()) return;
  const auto taken =
      std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(outcome.seconds));
  report["started"] = time_text(outcome.started);
  report["ended"] = time_text(outcome.started + taken);
}

Json node_json(const PlanNode& node) {
  return {{"host", node.host},
          {"address", node.address},
          {"first_rank", node.first_rank},
          {"ranks", node.ranks}};
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
  add_times(outcome, report);
  report["command_line"] = command_line;
  if (!plan.run_id.empty()) report["run_id"] = plan.run_id;
  if (!plan.nodes.empty()) {
    report["node_rank"] = plan.ranks.front().world.node_rank;
    for (const auto& node : plan.nodes) report["nodes"].push_back(node_json(node));
  }
  if (!outcome.where.empty()) report["began_on"] = outcome.where;
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

}  // namespace muster::launcher

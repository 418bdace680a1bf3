#include "report/hang_json.hpp"

#include "diagnose/verdict.hpp"

#include <string>
#include <utility>

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

std::string_view name_of(HangCause::Kind kind) {
  switch (kind) {
    case HangCause::Kind::asked:
      return "asked";
    case HangCause::Kind::deadline:
      return "deadline";
    case HangCause::Kind::mismatch:
      return "mismatch";
    case HangCause::Kind::lost:
      return "lost";
    case HangCause::Kind::stall:
      return "stall";
  }
  return "";
}

Json stack_json(const ThreadStack& thread) {
  Json json{{"thread", thread.thread}, {"name", thread.name}, {"frames", Json::array()}};
  for (const auto& frame : thread.frames) {
    json["frames"].push_back(
        {{"function", frame.function}, {"module", frame.module}, {"offset", frame.offset}});
  }
  if (!thread.end.empty()) json["end"] = thread.end;
  return json;
}

Json rank_json(const RankState& rank) {
  Json json{{"rank", rank.rank}, {"pid", rank.pid}, {"ended", rank.ended}};
  if (rank.state != 0) json["state"] = std::string(1, rank.state);
  if (!rank.waits_in.empty()) json["waits_in"] = rank.waits_in;
  if (rank.note) {
    json["step"] = rank.note->step;
    if (rank.note->sequence != 0) json["collective"] = collective_json(*rank.note);
    if (!rank.note->busy.empty()) json["busy"] = rank.note->busy;
  }
  if (!rank.unread.empty()) json["no_stack"] = rank.unread;
  json["stacks"] = Json::array();
  for (const auto& thread : rank.threads) json["stacks"].push_back(stack_json(thread));
  if (rank.unseen_threads != 0) json["unseen_threads"] = rank.unseen_threads;
  if (!rank.python.empty()) json["python"] = rank.python;
  return json;
}

}  // namespace

Json collective_json(const ControlNote& note) {
  return {{"operation", note.operation}, {"label", note.label},   {"sequence", note.sequence},
          {"bytes", note.bytes},         {"tensor", note.tensor}, {"state", name_of(note.state)}};
}

Json hang_json(const HangFacts& hang) {
  Json json{{"cause", name_of(hang.cause.kind)}, {"verdict", verdict(hang)}};
  if (hang.cause.rank >= 0) json["noticed_by"] = hang.cause.rank;
  if (!hang.cause.text.empty()) json["error"] = hang.cause.text;
  json["ranks"] = Json::array();
  for (const auto& rank : hang.ranks) json["ranks"].push_back(rank_json(rank));
  return json;
}

}  // namespace muster::launcher

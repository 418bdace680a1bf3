#include "diagnose/verdict.hpp"

#include "report/signal_name.hpp"
#include "screen/printable.hpp"
#include "screen/screen.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <map>
#include <set>

namespace muster::launcher {
namespace {

constexpr std::size_t most_groups = 6;
constexpr double ns_in_second = 1e9;

/// What a rank does, as "waits in x" and "wait in x"; ranks with equal texts are told together.
struct Situation {
  int order = 0;  ///< Those who wait come first, then who keeps them waiting.
  std::string one, several;

  auto operator<=>(const Situation&) const = default;
};

bool under_way(const ControlNote& note) {
  return note.state == CollectiveState::queued || note.state == CollectiveState::running;
}

/// Whether it has told us anything.
bool reports(const RankState& rank) {
  return rank.ready ||
         (rank.note && (rank.note->sequence != 0 || rank.note->step != 0 ||
                        rank.note->state != CollectiveState::none || rank.note->busy_ns != 0));
}

std::string step_text(const ControlNote& note) {
  return note.step == 0 ? "before its first step" : fmt::format("at step {}", note.step);
}

/// "all_reduce #812 'gradients'"
std::string collective(const ControlNote& note) {
  auto text = note.operation;
  if (note.sequence != 0) text += fmt::format(" #{}", note.sequence);
  if (!note.label.empty()) text += " '" + note.label + "'";
  return text;
}

/// Whether tensors have to be told, as the collectives are equal but for them.
bool tensors_differ(const HangFacts& facts) {
  std::map<std::string, std::set<std::string>> tensors;
  for (const auto& rank : facts.ranks) {
    if (!rank.ended && rank.note && under_way(*rank.note))
      tensors[collective(*rank.note)].insert(rank.note->tensor);
  }
  return std::ranges::any_of(tensors, [](const auto& one) { return one.second.size() > 1; });
}

/// Where the program is, as it follows "is " or "are ".
std::string whereabouts(const RankState& rank, bool with_tensor) {
  if (!reports(rank)) return "before it has joined the others";
  const auto& note = *rank.note;
  if (!under_way(note)) return "in its own code " + step_text(note);
  auto text = "in " + collective(note);
  if (with_tensor && !note.tensor.empty()) text += " of " + note.tensor;
  return text;
}

Situation ended(const RankState& rank) {
  const auto how = rank.signal != 0 ? "died of " + signal_name(rank.signal)
                                    : fmt::format("exited with {}", rank.exit_code);
  const auto text = rank.note && reports(rank) ? how + " " + step_text(*rank.note) : how;
  return {3, "has " + text, "have " + text};
}

Situation held(const RankState& rank, bool with_tensor) {
  const auto who =
      rank.state == 't'
          ? fmt::format("held by {} (pid {})",
                        rank.tracer_name.empty() ? "a debugger" : rank.tracer_name, rank.tracer)
          : std::string("stopped (SIGSTOP)");
  const auto text = who + " " + whereabouts(rank, with_tensor);
  return {2, "is " + text, "are " + text};
}

/// A rank that says nothing, by what the kernel says of it.
Situation silent(const RankState& rank) {
  const auto in = rank.waits_in.empty() ? "" : " in " + rank.waits_in;
  switch (rank.state) {
    case 'R':
      return {1, "runs", "run"};
    case 'S':
    case 'I':
      return {1, "sleeps" + in, "sleep" + in};
    case 'D':
      return {1, "is stuck in the kernel" + in, "are stuck in the kernel" + in};
    case 'T':
      return {2, "is stopped (SIGSTOP)", "are stopped (SIGSTOP)"};
    case 't':
      return held(rank, false);
    default:
      return {2, "is ending", "are ending"};
  }
}

Situation reporting(const RankState& rank, bool with_tensor, std::int64_t now_ns) {
  const auto& note = *rank.note;
  if (note.busy_ns != 0) {
    const auto seconds = static_cast<double>(now_ns - note.busy_ns) / ns_in_second;
    const auto text = fmt::format("busy with {} for {} {}", note.busy,
                                  duration_text(std::max(seconds, 0.0)), step_text(note));
    return {1, "is " + text, "are " + text};
  }
  if (under_way(note)) {
    const auto where = whereabouts(rank, with_tensor);
    if (note.waiting > 0) return {0, "waits " + where, "wait " + where};
    const auto text =
        fmt::format("in its own code {}, with {} under way", step_text(note), where.substr(3));
    return {1, "is " + text, "are " + text};
  }
  if (note.state == CollectiveState::failed) {
    const auto text = "given up " + collective(note);
    return {1, "has " + text, "have " + text};
  }
  const auto text = whereabouts(rank, with_tensor);
  return {1, "is " + text, "are " + text};
}

Situation situation(const RankState& rank, const HangFacts& facts, bool with_tensor,
                    bool anybody_reports) {
  if (rank.ended) return ended(rank);
  if (!anybody_reports) return silent(rank);
  if (rank.state == 'T' || rank.state == 't') return held(rank, with_tensor);
  if (!reports(rank)) return {1, "has not joined the others yet", "have not joined the others yet"};
  return reporting(rank, with_tensor, facts.now_ns);
}

/// "its" of one rank is "their" of several.
std::string of_several(std::string text) {
  for (const auto& [one, several] :
       {std::pair{" its ", " their "}, std::pair{" it has", " they have"}}) {
    const std::string word = one;
    for (auto at = text.find(word); at != text.npos; at = text.find(word, at))
      text.replace(at, word.size(), several);
  }
  return text;
}

using Groups = std::vector<std::pair<Situation, std::vector<int>>>;

Groups groups_of(const HangFacts& facts, bool anybody_reports) {
  const bool with_tensor = facts.cause.kind == HangCause::Kind::mismatch || tensors_differ(facts);
  std::map<Situation, std::vector<int>> alike;
  for (const auto& rank : facts.ranks)
    alike[situation(rank, facts, with_tensor, anybody_reports)].push_back(rank.rank);
  Groups groups(alike.begin(), alike.end());
  std::ranges::stable_sort(groups, [](const auto& a, const auto& b) {
    if (a.first.order != b.first.order) return a.first.order < b.first.order;
    if (a.second.size() != b.second.size()) return a.second.size() > b.second.size();
    return a.second.front() < b.second.front();
  });
  return groups;
}

}  // namespace

std::string ranks_do(const std::vector<int>& ranks, const std::string& does,
                     const std::string& they) {
  if (ranks.size() == 1) return fmt::format("rank {} {}", ranks.front(), does);
  std::string list;
  for (std::size_t at = 0; at < ranks.size();) {
    auto end = at;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
    if (end < at + 2) end = at;  // Two are told one by one.
    list += (list.empty() ? "" : ", ") + std::to_string(ranks[at]);
    if (end > at) list += "-" + std::to_string(ranks[end]);
    at = end + 1;
  }
  return "ranks " + list + " " + they;
}

namespace {

std::string said(const HangFacts& facts) {
  const bool anybody_reports = std::ranges::any_of(facts.ranks, reports);
  const auto groups = groups_of(facts, anybody_reports);
  std::string text = anybody_reports || facts.ranks.empty()
                         ? ""
                         : "no rank reports to muster, so only processes can be seen: ";
  for (std::size_t at = 0; at < groups.size(); ++at) {
    if (at > 0) text += "; ";
    if (at + 1 == most_groups && groups.size() > most_groups) {
      std::size_t more = 0;
      for (; at < groups.size(); ++at) more += groups[at].second.size();
      return text + fmt::format("{} more do other things", more);
    }
    const auto& [what, ranks] = groups[at];
    const bool all = groups.size() == 1 && ranks.size() > 1 &&
                     static_cast<int>(ranks.size()) == facts.world_size;
    const auto everybody =
        ranks.size() == 2 ? std::string("both ranks") : fmt::format("all {} ranks", ranks.size());
    text += all ? everybody + " " + of_several(what.several)
                : ranks_do(ranks, what.one, of_several(what.several));
  }
  const bool together = groups.size() == 1 && groups.front().first.order == 0 &&
                        static_cast<int>(facts.ranks.size()) == facts.world_size &&
                        facts.ranks.size() > 1 && facts.ranks.front().note->sequence != 0;
  return together ? text + ": each has started it, so the data do not come through" : text;
}

}  // namespace

std::string verdict(const HangFacts& facts) {
  const auto text = said(facts);
  return printable(text, text.npos);
}

}  // namespace muster::launcher

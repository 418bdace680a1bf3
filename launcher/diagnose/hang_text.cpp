#include "diagnose/hang_text.hpp"

#include "diagnose/stack_text.hpp"
#include "diagnose/verdict.hpp"
#include "screen/printable.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace muster::launcher {
namespace {

/// A screen's worth, so that what ranks printed before is still there.
constexpr std::size_t most_lines = 25;
constexpr std::size_t most_ranks = 8;
constexpr std::size_t most_stacks = 4;
/// Of each stack: its title, a call, and how many more there are.
constexpr std::size_t fewest_lines = 3;
constexpr int name_columns = 9;
constexpr double ns_in_second = 1e9;

std::string cut(const std::string& line, int width) {
  const auto room = static_cast<std::size_t>(std::max(width, 40));
  const auto whole = printable(line, line.npos);
  return whole.size() <= room ? whole : printable(whole, room - 3) + "...";
}

std::string state_text(const RankState& rank) {
  const auto in = rank.waits_in.empty() ? "" : " in " + rank.waits_in;
  switch (rank.state) {
    case 'R':
      return "running";
    case 'S':
    case 'I':
      return "sleeping" + in;
    case 'D':
      return "stuck in the kernel" + in;
    case 'T':
      return "stopped";
    case 't':
      return fmt::format("traced by {} (pid {})", rank.tracer_name, rank.tracer);
    default:
      return "ending";
  }
}

/// "all_reduce #812 'gradients' of float32 [1024], 4.0 KiB, running for 2.0 s"
std::string collective_text(const ControlNote& note, std::int64_t now_ns) {
  auto text = fmt::format("{} #{} '{}'", note.operation, note.sequence, note.label);
  if (!note.tensor.empty()) text += " of " + note.tensor;
  if (note.bytes != 0) text += ", " + bytes_text(static_cast<double>(note.bytes));
  const auto seconds = static_cast<double>(now_ns - note.since_ns) / ns_in_second;
  const auto since = note.since_ns != 0 ? " for " + duration_text(std::max(seconds, 0.0)) : "";
  switch (note.state) {
    case CollectiveState::queued:
      return text + ", queued" + since;
    case CollectiveState::running:
      return text + ", running" + since;
    case CollectiveState::done:
      return "after " + text;
    case CollectiveState::failed:
      return text + ", failed";
    case CollectiveState::none:
      break;
  }
  return "";
}

bool speaks(const RankState& rank) {
  return rank.note && (rank.note->sequence != 0 || rank.note->step != 0);
}

std::string rank_line(const RankState& rank, std::int64_t now_ns) {
  if (rank.ended) {
    return rank.signal != 0 ? fmt::format("pid {}, ended by signal {}", rank.pid, rank.signal)
                            : fmt::format("pid {}, exited with {}", rank.pid, rank.exit_code);
  }
  auto text = fmt::format("pid {}", rank.pid);
  // Of one that says what it does, that it sleeps meanwhile is no news.
  if (rank.state != 'S' || !speaks(rank)) text += ", " + state_text(rank);
  if (!rank.note) return text;
  if (rank.note->step != 0) text += fmt::format(", step {}", rank.note->step);
  if (!rank.note->busy.empty()) text += ", busy with " + rank.note->busy;
  if (rank.note->sequence != 0) text += ": " + collective_text(*rank.note, now_ns);
  return text;
}

std::string label(const std::vector<int>& ranks) {
  auto text = ranks_do(ranks, "", "");
  text.pop_back();
  return text;
}

/// Those first that others may wait for.
std::vector<const RankState*> by_interest(const HangFacts& facts) {
  std::vector<const RankState*> ranks;
  for (const auto& rank : facts.ranks) ranks.push_back(&rank);
  std::ranges::stable_partition(ranks, [](const RankState* rank) {
    return rank->ended || !rank->note || rank->note->waiting == 0;
  });
  return ranks;
}

/// The first of them, in rank order.
std::vector<const RankState*> to_be_shown(std::vector<const RankState*> ranks) {
  ranks.resize(std::min(ranks.size(), most_ranks));
  std::ranges::sort(ranks, {}, &RankState::rank);
  return ranks;
}

/// Ranks whose first threads make the same calls.
struct Group {
  StackText text;  ///< Of other threads what all of them have.
  std::vector<int> ranks;
};

std::vector<Group> groups_of(const std::vector<const RankState*>& ranks) {
  std::vector<Group> groups;
  for (const RankState* const rank : ranks) {
    auto text = stack_text(*rank);
    if (text.calls.empty()) continue;
    const auto same =
        std::ranges::find(groups, text.calls, [](const Group& group) { return group.text.calls; });
    if (same == groups.end()) {
      groups.push_back({std::move(text), {rank->rank}});
      continue;
    }
    same->ranks.push_back(rank->rank);
    std::erase_if(same->text.others, [&](const std::string& line) {
      return std::ranges::find(text.others, line) == text.others.end();
    });
  }
  return groups;
}

using Lines = std::vector<std::string>;

/// The lines below each title, `left` of them with the titles: calls first, the first groups' the
/// more of them, as they tell more; what other threads do only where there is room.
std::vector<Lines> lines_of(const std::vector<Group>& groups, std::size_t left) {
  std::vector<Lines> all;
  for (std::size_t at = 0; at < groups.size(); ++at) {
    const auto for_others = (groups.size() - at - 1) * fewest_lines;
    const auto room = std::max(left, for_others + fewest_lines) - for_others;
    all.push_back(shortened(groups[at].text.calls, room - 1));
    left -= std::min(left, all.back().size() + 1);
  }
  for (std::size_t at = 0; at < groups.size(); ++at) {
    const auto& others = groups[at].text.others;
    const auto more = std::min(left, others.size());
    all[at].insert(all[at].end(), others.begin(), others.begin() + static_cast<long>(more));
    left -= more;
  }
  return all;
}

/// `left`: lines there are for all of them.
std::string stacks_text(std::vector<Group> groups, std::size_t left, int width,
                        const Screen& screen) {
  const auto hidden = groups.size() - std::min(groups.size(), most_stacks);
  groups.resize(groups.size() - hidden);
  const auto lines = lines_of(groups, left - (hidden == 0 ? 0 : 1));
  std::string text;
  for (std::size_t at = 0; at < groups.size(); ++at) {
    text += "  " + screen.dim("stack of " + label(groups[at].ranks)) + "\n";
    for (const auto& line : lines[at]) text += "    " + cut(line, width) + "\n";
  }
  if (hidden != 0)
    text += fmt::format("  and {} more stacks; --report FILE has them all\n", hidden);
  return text;
}

}  // namespace

std::string cause_text(const HangCause& cause) {
  switch (cause.kind) {
    case HangCause::Kind::asked:
      return "";
    case HangCause::Kind::deadline:
      return fmt::format("rank {} has waited too long: ", cause.rank);
    case HangCause::Kind::mismatch:
      return fmt::format("rank {} met a collective that does not fit: ", cause.rank);
    case HangCause::Kind::lost:
      return fmt::format("rank {} misses another rank: ", cause.rank);
    case HangCause::Kind::stall:
      return fmt::format("no step of rank {} for {}: ", cause.rank, duration_text(cause.seconds));
  }
  return "";
}

std::string hang_text(const HangFacts& facts, const Screen& screen) {
  const bool asked = facts.cause.kind == HangCause::Kind::asked;
  auto text = (asked ? screen.bold("muster:") : screen.red("muster:")) + " " +
              cause_text(facts.cause) + screen.bold(verdict(facts)) + "\n";
  const auto width = std::max(screen.width, 160);
  const auto ranks = by_interest(facts);
  std::size_t left = most_lines - 1;
  for (const RankState* const rank : to_be_shown(ranks)) {
    text += "  " + screen.dim(padded(fmt::format("rank {}", rank->rank), name_columns)) +
            cut(rank_line(*rank, facts.now_ns), width) + "\n";
    --left;
  }
  if (ranks.size() > most_ranks) {
    text +=
        fmt::format("  and {} more ranks; --report FILE has them all\n", ranks.size() - most_ranks);
    --left;
  }
  return text + stacks_text(groups_of(ranks), left, width, screen);
}

}  // namespace muster::launcher

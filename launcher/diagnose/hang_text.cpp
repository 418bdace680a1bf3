#include "diagnose/hang_text.hpp"

#include "diagnose/verdict.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <vector>

namespace muster::launcher {
namespace {

constexpr std::size_t most_frames = 14;
constexpr std::size_t most_stacks = 8;
constexpr std::size_t most_ranks = 16;
constexpr std::size_t most_other_threads = 3;
constexpr int name_columns = 9;
constexpr double ns_in_second = 1e9;

std::string cut(const std::string& line, int width) {
  const auto room = static_cast<std::size_t>(std::max(width, 40));
  return line.size() <= room ? line : line.substr(0, room - 3) + "...";
}

/// "std::this_thread::sleep_for in train", "libc.so.6+0xec2d3"
std::string frame_text(const StackFrame& frame) {
  if (frame.module.empty()) return fmt::format("{:#x}", frame.address);
  if (frame.function.empty()) return fmt::format("{}+{:#x}", frame.module, frame.offset);
  return fmt::format("{}  ({})", frame.function, frame.module);
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

std::string rank_line(const RankState& rank, std::int64_t now_ns) {
  if (rank.ended) {
    return rank.signal != 0 ? fmt::format("pid {}, ended by signal {}", rank.pid, rank.signal)
                            : fmt::format("pid {}, exited with {}", rank.pid, rank.exit_code);
  }
  auto text = fmt::format("pid {}, {}", rank.pid, state_text(rank));
  if (!rank.note) return text;
  if (rank.note->step != 0) text += fmt::format(", step {}", rank.note->step);
  if (!rank.note->busy.empty()) text += ", busy with " + rank.note->busy;
  if (rank.note->sequence != 0) text += ": " + collective_text(*rank.note, now_ns);
  return text;
}

/// The functions from the innermost on; without addresses, which differ though code is the same.
std::vector<std::string> lines_of(const ThreadStack& thread) {
  std::vector<std::string> lines;
  for (const auto& frame : thread.frames) {
    if (lines.size() == most_frames) {
      lines.push_back(fmt::format("... {} more", thread.frames.size() - most_frames));
      break;
    }
    lines.push_back(frame_text(frame));
  }
  if (!thread.end.empty()) lines.push_back("(" + thread.end + ")");
  return lines;
}

/// Threads besides the first: how many are where, the most usual first.
std::vector<std::string> others_of(const RankState& rank) {
  std::map<std::string, int> alike;
  for (std::size_t i = 1; i < rank.threads.size(); ++i) {
    std::string where;
    for (const auto& frame : rank.threads[i].frames) {
      const auto name = frame.function.empty() ? frame_text(frame) : frame.function;
      if (where.size() + name.size() > 90) break;
      where += (where.empty() ? "" : " < ") + name;
    }
    ++alike[where.empty() ? rank.threads[i].end : where];
  }
  std::vector<std::pair<std::string, int>> sorted(alike.begin(), alike.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> lines;
  for (const auto& [where, count] : sorted) {
    if (lines.size() == most_other_threads) {
      lines.push_back(fmt::format("and {} more kinds of threads", sorted.size() - lines.size()));
      break;
    }
    lines.push_back(fmt::format("{} other thread{}: {}", count, count == 1 ? "" : "s", where));
  }
  return lines;
}

/// What is printed of a rank's stack; ranks with equal lines are printed once.
std::vector<std::string> stack_lines(const RankState& rank) {
  if (rank.ended) return {};
  std::vector<std::string> lines;
  if (!rank.threads.empty()) {
    lines = lines_of(rank.threads.front());
    const auto others = others_of(rank);
    lines.insert(lines.end(), others.begin(), others.end());
  }
  if (!rank.unread.empty()) lines.push_back("(no stack was read: " + rank.unread + ")");
  lines.insert(lines.end(), rank.python.begin(), rank.python.end());
  return lines;
}

std::string label(const std::vector<int>& ranks) {
  auto text = ranks_do(ranks, "", "");
  text.pop_back();
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
  std::size_t shown = 0;
  std::vector<std::pair<std::vector<std::string>, std::vector<int>>> stacks;
  for (const auto& rank : facts.ranks) {
    if (++shown <= most_ranks) {
      text += "  " + screen.dim(padded(fmt::format("rank {}", rank.rank), name_columns)) +
              cut(rank_line(rank, facts.now_ns), width) + "\n";
    }
    auto lines = stack_lines(rank);
    if (lines.empty()) continue;
    const auto same = std::ranges::find(stacks, lines, [](const auto& one) { return one.first; });
    if (same == stacks.end()) {
      stacks.emplace_back(std::move(lines), std::vector<int>{rank.rank});
    } else {
      same->second.push_back(rank.rank);
    }
  }
  if (facts.ranks.size() > most_ranks) {
    text += fmt::format("  and {} more ranks; --report FILE has them all\n",
                        facts.ranks.size() - most_ranks);
  }
  for (std::size_t at = 0; at < std::min(stacks.size(), most_stacks); ++at) {
    text += "  " + screen.dim("stack of " + label(stacks[at].second)) + "\n";
    for (const auto& line : stacks[at].first) text += "    " + cut(line, width) + "\n";
  }
  if (stacks.size() > most_stacks) {
    text += fmt::format("  and {} more stacks; --report FILE has them all\n",
                        stacks.size() - most_stacks);
  }
  return text;
}

}  // namespace muster::launcher

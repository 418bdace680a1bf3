#include "diagnose/stack_text.hpp"

#include "text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

namespace muster::launcher {
namespace {

constexpr std::size_t most_other_threads = 3;
constexpr std::size_t other_columns = 90;

/// "std::this_thread::sleep_for  (train)", "libc.so.6+0xec2d3"; without addresses, which differ
/// though the code is the same.
std::string frame_text(const StackFrame& frame) {
  if (frame.module.empty()) return fmt::format("{:#x}", frame.address);
  if (frame.function.empty()) return fmt::format("{}+{:#x}", frame.module, frame.offset);
  return fmt::format("{}  ({})", frame.function, frame.module);
}

/// Whether it stands below main(), in the C library.
bool begins_programs(const StackFrame& frame) {
  constexpr std::array<std::string_view, 3> names{"_start", "__libc_start_main",
                                                  "__libc_start_call_main"};
  if (frame.function.empty()) return frame.module.starts_with("libc.so");
  return std::ranges::find(names, frame.function) != names.end();
}

std::vector<StackFrame> calls_worth_telling(std::vector<StackFrame> frames) {
  const auto name = &StackFrame::function;
  const auto asking = std::ranges::find(frames, "muster::Control::stuck", name);
  if (asking != frames.end()) frames.erase(frames.begin(), asking + 1);
  const auto start = std::ranges::find(frames, "main", name);
  if (start != frames.end()) frames.erase(start + 1, frames.end());
  const auto library = std::ranges::find(frames, "__libc_start_main", name);
  frames.erase(library, frames.end());
  while (frames.size() > 1 && begins_programs(frames.back())) frames.pop_back();
  return frames;
}

std::vector<std::string> calls_of(const ThreadStack& thread) {
  std::vector<std::string> lines;
  for (const auto& frame : calls_worth_telling(thread.frames)) lines.push_back(frame_text(frame));
  if (!thread.end.empty()) lines.push_back("(" + thread.end + ")");
  return lines;
}

/// Threads besides the first: how many are where.
std::vector<std::string> others_of(const RankState& rank) {
  std::map<std::string, int> alike;
  for (std::size_t i = 1; i < rank.threads.size(); ++i) {
    std::string where;
    for (const auto& frame : rank.threads[i].frames) {
      const auto name = frame.function.empty() ? frame_text(frame) : frame.function;
      if (where.size() + name.size() > other_columns) break;
      where += (where.empty() ? "" : " < ") + name;
    }
    ++alike[where.empty() ? rank.threads[i].end : where];
  }
  std::vector<std::pair<std::string, int>> sorted(alike.begin(), alike.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  if (sorted.size() > most_other_threads) sorted.resize(most_other_threads);
  std::vector<std::string> lines;
  for (const auto& [where, count] : sorted)
    lines.push_back(fmt::format("{} other thread{}: {}", count, count == 1 ? "" : "s", where));
  if (rank.unseen_threads != 0)
    lines.push_back(fmt::format("and {} threads that were not looked at", rank.unseen_threads));
  return lines;
}

/// A line of py-spy without the thread's number, which differs from rank to rank.
std::string python_text(std::string_view line) {
  const auto open = line.find('"');
  const auto close = line.rfind('"');
  if (!line.starts_with("Thread ") || open == close) return "  " + std::string(trim(line));
  auto text = std::string(line.substr(open + 1, close - open - 1));
  const auto state = line.find('(');
  if (state < open)
    text += " " + std::string(line.substr(state, line.find(')', state) - state + 1));
  return text;
}

}  // namespace

StackText stack_text(const RankState& rank) {
  StackText text;
  if (rank.ended) return text;
  const bool told = !rank.python.empty() && !rank.python.front().starts_with('(');
  if (told) {
    for (const auto& line : rank.python) text.calls.push_back(python_text(line));
    return text;
  }
  if (!rank.threads.empty()) {
    text.calls = calls_of(rank.threads.front());
    text.others = others_of(rank);
  }
  if (!rank.unread.empty()) {
    const auto who = rank.threads.empty() ? "" : "as it says itself: ";
    text.calls.push_back(fmt::format("({}no stack was read: {})", who, rank.unread));
  }
  text.calls.insert(text.calls.end(), rank.python.begin(), rank.python.end());
  return text;
}

std::vector<std::string> shortened(const std::vector<std::string>& lines, std::size_t most) {
  if (lines.size() <= most) return lines;
  // Both ends tell something: what it does right now, and where in the program that is.
  const auto last = (most - 1) / 3;
  const auto first = most - 1 - last;
  std::vector<std::string> some(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(first));
  some.push_back(fmt::format("... {} more", lines.size() - first - last));
  some.insert(some.end(), lines.end() - static_cast<std::ptrdiff_t>(last), lines.end());
  return some;
}

}  // namespace muster::launcher

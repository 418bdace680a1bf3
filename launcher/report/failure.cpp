#include "report/failure.hpp"

#include "report/signal_name.hpp"
#include "text.hpp"
#include "topology/cpu_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <vector>

namespace muster::launcher {
namespace {

constexpr std::size_t most_error_lines = 6;
constexpr std::size_t most_output_lines = 12;

/// "SIGSEGV (exit 139, core dumped)", "exit 7"
std::string how(const RankEnd& end) {
  if (end.signal == 0) return fmt::format("exit {}", end.exit_code);
  return fmt::format("{} (exit {}{})", signal_name(end.signal), end.exit_code,
                     end.core_dumped ? ", core dumped" : "");
}

/// The same for a rank that nobody blames: its signal, or its code.
std::string short_of(const RankEnd& end) {
  return end.signal == 0 ? how(end) : signal_name(end.signal);
}

std::string cut(std::string_view line, int width) {
  const auto room = static_cast<std::size_t>(std::max(width, 40));
  if (line.size() <= room) return std::string(line);
  auto end = room - 3;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
  return std::string(line.substr(0, end)) + "...";
}

/// A label before the first of some lines, and the others below it.
std::string block(const std::string& label, const std::vector<std::string>& lines,
                  const Screen& screen) {
  std::string text;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    text += "  " + screen.dim(padded(at == 0 ? label : "", 9)) + cut(lines[at], screen.width - 11) +
            "\n";
  }
  return text;
}

std::string ranks_text(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + format_cpu_list(ranks);
}

/// How the other ranks ended, those alike in one line: they are consequences.
std::vector<std::string> consequences(const Outcome& outcome) {
  std::map<std::string, std::vector<int>> alike;
  for (const auto& end : outcome.ranks) {
    if (outcome.first && end.rank == outcome.first->rank) continue;
    const bool well = end.exit_code == 0 && !end.stopped_by_us;
    const auto what = well                ? std::string("ended well")
                      : end.stopped_by_us ? "stopped by muster (" + short_of(end) + ")"
                                          : "failed after it (" + short_of(end) + ")";
    alike[what].push_back(end.rank);
  }
  std::vector<std::string> lines;
  for (const auto& [what, ranks] : alike) lines.push_back(ranks_text(ranks) + " " + what);
  if (lines.size() > 4) {
    const auto more = lines.size() - 3;
    lines.resize(3);
    lines.push_back(fmt::format("and {} more kinds of ends; --report FILE has them all", more));
  }
  return lines;
}

/// The collectives that ranks were in, those alike in one line.
std::vector<std::string> unfinished(const Outcome& outcome) {
  std::map<std::string, std::vector<int>> alike;
  for (const auto& end : outcome.ranks) {
    const auto& last = end.last;
    if (last.state != CollectiveState::queued && last.state != CollectiveState::running) continue;
    alike[fmt::format("{} #{} '{}', step {}", last.operation, last.sequence, last.label, last.step)]
        .push_back(end.rank);
  }
  std::vector<std::string> lines;
  for (const auto& [what, ranks] : alike)
    lines.push_back(ranks_text(ranks) + (ranks.size() == 1 ? " was in " : " were in ") + what);
  if (lines.size() > 4) {
    const auto more = lines.size() - 3;
    lines.resize(3);
    lines.push_back(fmt::format("and {} more; --report FILE has them all", more));
  }
  return lines;
}

/// What follows the first line, whatever the kind.
std::string rest_of(const Outcome& outcome, const Screen& screen) {
  return block("during", unfinished(outcome), screen) +
         block("then", consequences(outcome), screen);
}

/// What did not end, below a first line that tells of something else.
std::string left_over(const Outcome& outcome, const Screen& screen) {
  if (outcome.message.empty()) return "";
  return "  " + screen.dim(padded("left", 9)) + outcome.message + "\n";
}

std::string failed_rank(const Outcome& outcome, const Plan& plan, const Screen& screen,
                        bool brief) {
  const auto& end = *outcome.first;
  const auto* spec = plan.find(end.rank);
  const bool alone = plan.ranks.size() == 1 && plan.ranks.front().world.size == 1;
  const auto& host = spec != nullptr ? spec->host : end.host;
  const int local_rank = spec != nullptr ? spec->world.local_rank : end.local_rank;
  auto text = fmt::format(
      "{} {} on {}{}, pid {}, after {}\n", screen.red("muster:"),
      screen.bold(fmt::format("rank {} failed{}: {}", end.rank, alone ? "" : " first", how(end))),
      host, alone ? "" : fmt::format(", local rank {}", local_rank), end.pid,
      duration_text(end.seconds));
  if (brief) return text + left_over(outcome, screen);
  std::vector<std::string> error;
  for (const auto line : split(end.text, '\n')) error.emplace_back(line);
  if (error.empty() && !end.reason.empty()) error.push_back(end.reason);
  if (error.size() > most_error_lines) error.resize(most_error_lines);
  text += block("error", error, screen);
  // The lines of a rank that is alone are the last ones on the screen already.
  if (!alone) {
    const auto& all = end.last_lines;
    const auto shown = std::min(all.size(), most_output_lines);
    text += block("output", {all.end() - static_cast<std::ptrdiff_t>(shown), all.end()}, screen);
  }
  return text + rest_of(outcome, screen) + left_over(outcome, screen);
}

std::string interruption(const Outcome& outcome, const Screen& screen) {
  const auto by = outcome.from_terminal ? "Ctrl-C" : signal_name(outcome.signal);
  return fmt::format("{} ended by {} after {}\n", screen.red("muster:"), by,
                     duration_text(outcome.seconds));
}

}  // namespace

std::string failure_text(const Outcome& outcome, const Plan& plan, const Screen& screen,
                         bool brief) {
  switch (outcome.kind) {
    case OutcomeKind::ok:
      return "";
    case OutcomeKind::interrupted:
      // SIGPIPE: the reader of our output has had enough.
      return (outcome.signal == SIGPIPE ? "" : interruption(outcome, screen)) +
             left_over(outcome, screen);
    case OutcomeKind::rank_failed:
      if (outcome.first) return failed_rank(outcome, plan, screen, brief);
      break;
    case OutcomeKind::usage:
    case OutcomeKind::not_started:
    case OutcomeKind::timeout:
    case OutcomeKind::lost:
      break;
  }
  auto text = screen.red("muster:") + " " + outcome.message + "\n";
  return brief ? text : text + rest_of(outcome, screen);
}

}  // namespace muster::launcher

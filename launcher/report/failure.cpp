#include "report/failure.hpp"

#include "report/first_line.hpp"
#include "report/signal_name.hpp"
#include "screen/printable.hpp"
#include "text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <vector>

namespace muster::launcher {
namespace {

constexpr std::size_t most_error_lines = 6;
constexpr std::size_t most_output_lines = 12;
constexpr std::size_t most_stack_lines = 4;
/// Of everything.
constexpr std::size_t most_lines = 25;

/// The same for a rank that nobody blames: its signal, or its code.
std::string short_of(const RankEnd& end) {
  return end.signal == 0 ? how_it_ended(end) : signal_name(end.signal);
}

/// Without colours and whatever else a program may tell a terminal.
std::string plain(std::string_view line) {
  std::string text;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\x1b' && at + 1 < line.size() && line[at + 1] == '[') {
      at = std::min(line.find_first_not_of("0123456789;?", at + 2), line.size());
    } else if (static_cast<unsigned char>(line[at]) >= ' ' || line[at] == '\t') {
      text += line[at];
    }
  }
  return text;
}

std::string cut(std::string_view typed, int width) {
  const auto room = static_cast<std::size_t>(std::max(width, 40));
  std::string line = plain(typed);
  if (line.size() <= room) return line;
  auto end = room - 3;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
  return line.substr(0, end) + "...";
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (const auto line : split(text, '\n')) lines.emplace_back(line);
  return lines;
}

std::vector<std::string> last_of(const std::vector<std::string>& lines, std::size_t count) {
  return {lines.end() - static_cast<std::ptrdiff_t>(std::min(lines.size(), count)), lines.end()};
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
    // What ranks do to meet has no number.
    const auto number = last.sequence == 0 ? "" : fmt::format(" #{}", last.sequence);
    const auto step = last.step == 0 ? "" : fmt::format(", step {}", last.step);
    const auto what = fmt::format("{}{} '{}'{}", last.operation, number, last.label, step);
    alike[printable(what, what.npos)].push_back(end.rank);
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

/// What the kernel counted of memory, and which bound there was.
std::vector<std::string> memory_lines(const MemoryKills& memory) {
  const auto killed =
      fmt::format("the kernel killed {} process{}", memory.count, memory.count == 1 ? "" : "es");
  if (memory.on_host) return {killed + " of this host for lack of memory while the job ran"};
  if (!memory.limit) return {killed + " of the job: the host's memory was used up"};
  auto bound = "the control group allows " + bytes_text(static_cast<double>(*memory.limit));
  if (memory.peak) bound += " and the job used " + bytes_text(static_cast<double>(*memory.peak));
  return {bound, killed + " of " + memory.group};
}

/// The exception: its text, and where it was thrown if that is not among the last lines.
std::string error_text(const RankEnd& end, const Screen& screen) {
  std::vector<std::string> error = lines_of(end.text);
  if (error.empty() && !end.reason.empty()) error.push_back(end.reason);
  if (error.size() > most_error_lines) error.resize(most_error_lines);
  auto text = block("error", error, screen);
  const auto is_traceback = [](const std::string& line) {
    return line.find("Traceback (most recent call last)") != line.npos;
  };
  if (std::ranges::any_of(end.last_lines, is_traceback)) return text;
  return text + block("stack", last_of(lines_of(end.call_stack), most_stack_lines), screen);
}

/// What is useless when it is cut; nothing if `text` is empty.
std::string whole_line(const char* label, const std::string& text, const Screen& screen) {
  return text.empty() ? "" : "  " + screen.dim(padded(label, 9)) + text + "\n";
}

/// Where more can be found out.
std::string places_text(const Outcome& outcome, const Screen& screen) {
  std::string text;
  if (outcome.memory) text += block("memory", memory_lines(*outcome.memory), screen);
  return text + whole_line("core", outcome.first->core, screen) +
         whole_line("log", outcome.first->stderr_log, screen);
}

std::string failed_rank(const Outcome& outcome, const Plan& plan, const Screen& screen,
                        bool brief) {
  const auto& end = *outcome.first;
  auto text = first_line(outcome, plan, screen);
  if (brief) return text + left_over(outcome, screen);
  text += error_text(end, screen);
  const auto below =
      places_text(outcome, screen) + rest_of(outcome, screen) + left_over(outcome, screen);
  // The lines of a rank that is alone are the last ones on the screen already.
  if (!is_alone(plan) || !end.shown) {
    const auto taken = std::ranges::count(text, '\n') + std::ranges::count(below, '\n');
    const auto room = most_lines - std::min(most_lines, static_cast<std::size_t>(taken));
    text += block("output", last_of(end.last_lines, std::min(room, most_output_lines)), screen);
  }
  return text + below;
}

std::string interruption(const Outcome& outcome, const Screen& screen) {
  const auto by = outcome.from_terminal ? "Ctrl-C" : signal_name(outcome.signal);
  const auto where = outcome.where.empty() ? "" : " on " + outcome.where;
  return fmt::format("{} ended by {}{} after {}\n", screen.red("muster:"), by, where,
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

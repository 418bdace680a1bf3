#include "check/findings_text.hpp"

#include <muster/version.hpp>

#include "report/first_line.hpp"
#include "screen/printable.hpp"
#include "text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace muster::launcher {
namespace {

constexpr int result_columns = 13, time_columns = 8;

std::string painted(CheckResult result, const Screen& screen) {
  switch (result) {
    case CheckResult::ok:
      return padded("ok", result_columns);
    case CheckResult::fault:
      return screen.red(padded("FAULT", result_columns));
    case CheckResult::under_way:
      return screen.red(padded("UNDER WAY", result_columns));
    case CheckResult::not_checked:
      return screen.dim(padded("not checked", result_columns));
    case CheckResult::not_made:
      break;
  }
  return screen.dim(padded("not made", result_columns));
}

/// What is in the last column.
std::string explanation(const CheckRow& row) {
  if (row.result() == CheckResult::under_way) {
    return "when the job ended, on " + ranks_text(row.under_way);
  }
  if (row.result() != CheckResult::not_checked || row.not_checked.empty()) return row.looked_at;
  const auto& reason = row.not_checked.front();  // "deadlines: one rank waits for nobody"
  const auto colon = reason.find(": ");
  return colon == reason.npos ? reason : reason.substr(colon + 2);
}

class Table {
 public:
  Table(const Findings& findings, const Screen& screen) : findings_(findings), screen_(screen) {
    for (const auto& row : findings.rows) {
      name_columns_ = std::max(name_columns_, columns_of(row.name) + 2);
    }
    indent_ = name_columns_ + result_columns + time_columns;
  }

  std::string text() const {
    auto text = screen_.bold(padded("check", name_columns_) + padded("result", result_columns) +
                             padded("time", time_columns) + "what was checked") +
                "\n";
    for (const auto& row : findings_.rows) text += line(row);
    return text;
  }

 private:
  std::string line(const CheckRow& row) const {
    const auto time = row.ended.empty() ? "" : duration_text(row.seconds);
    auto text = padded(row.name, name_columns_) + painted(row.result(), screen_) +
                padded(time, time_columns) + wrapped(explanation(row), screen_.width, indent_);
    while (text.ends_with(' ')) text.pop_back();
    text += "\n";
    for (const auto& fault : row.faults) text += fault_lines(fault);
    const auto more = row.fault_count - std::min(row.fault_count, row.faults.size());
    if (more > 0) text += fmt::format("{:{}}and {} more\n", "", name_columns_, more);
    return text;
  }

  std::string fault_lines(const CheckFault& fault) const {
    constexpr std::size_t longest = 400;  // An error's text may be long.
    const auto label = fmt::format("{:{}}rank {}  ", "", name_columns_, fault.rank);
    const int indent = columns_of(label);
    const auto part = [&](const char* name, const std::string& value) {
      return fmt::format("{:{}}{:10}{}\n", "", indent, name,
                         wrapped(printable(value, longest), screen_.width, indent + 10));
    };
    return label + wrapped(printable(fault.where, longest), screen_.width, indent) + "\n" +
           part("expected", fault.expected) + part("found", fault.found);
  }

  const Findings& findings_;
  const Screen& screen_;
  int name_columns_ = 7;
  int indent_ = 0;
};

/// Of the checks that were made, and of their parts.
std::string not_checked_lines(const Findings& findings, const Screen& screen) {
  std::string text;
  std::set<std::string> told;
  constexpr std::string_view label = "not checked  ";
  for (const auto& row : findings.rows) {
    if (row.result() == CheckResult::not_checked) continue;  // Its own line says why.
    for (const auto& part : row.not_checked) {
      if (!told.insert(part).second) continue;
      text +=
          screen.dim(label) + wrapped(part, screen.width, static_cast<int>(label.size())) + "\n";
    }
  }
  return text;
}

std::string faulty_text(const Findings& findings) {
  std::string text;
  std::set<int> here;
  for (const auto& row : findings.rows) {
    if (row.result() != CheckResult::fault) continue;
    std::set<int> ranks;
    for (const auto& fault : row.faults) ranks.insert(fault.rank);
    here.insert(ranks.begin(), ranks.end());
    text += fmt::format("{}{} on {}", text.empty() ? "" : ", ", row.name,
                        ranks_text({ranks.begin(), ranks.end()}));
  }
  std::vector<int> others;
  for (const int rank : findings.faulty) {
    if (!findings.ranks.contains(rank)) others.push_back(rank);
  }
  if (!others.empty()) {
    text += fmt::format("{}{} on another host", text.empty() ? "" : "; ", ranks_text(others));
  }
  return text;
}

std::string sum_up(const Findings& findings, const Plan& plan, double seconds,
                   const Screen& screen) {
  const auto count = [&](CheckResult result) {
    return std::ranges::count_if(findings.rows,
                                 [&](const CheckRow& row) { return row.result() == result; });
  };
  const auto ok = count(CheckResult::ok);
  const auto made = ok + count(CheckResult::fault);
  const auto ranks = plan.ranks.size();
  const auto world = ranks == 0 ? 0 : plan.ranks.front().world.size;
  const bool all_here = static_cast<std::size_t>(world) == ranks;
  const auto where =
      fmt::format("on {}{} rank{} in {}", all_here ? "" : fmt::format("{} of ", ranks), world,
                  world == 1 ? "" : "s", duration_text(seconds));
  if (findings.all_ok()) return screen.bold(fmt::format("{} checks ok", ok)) + " " + where + "\n";
  const auto faulty = faulty_text(findings);
  auto text =
      fmt::format("{} of {} checks ok {}", ok,
                  made + count(CheckResult::under_way) + count(CheckResult::not_made), where);
  if (!faulty.empty()) text += "; faults: " + faulty;
  return screen.red(wrapped(text, screen.width)) + "\n";
}

}  // namespace

std::string findings_text(const Findings& findings, const Plan& plan, double seconds,
                          const Screen& screen) {
  if (findings.rows.empty()) return "";
  return Table(findings, screen).text() + not_checked_lines(findings, screen) +
         sum_up(findings, plan, seconds, screen);
}

std::vector<std::string> checks_under_way(const Findings& findings) {
  std::vector<std::string> lines;
  for (const auto& row : findings.rows) {
    if (row.under_way.empty()) continue;
    lines.push_back("the check '" + row.name + "' was under way on " + ranks_text(row.under_way));
  }
  return lines;
}

}  // namespace muster::launcher

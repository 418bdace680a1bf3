#include "planning/plan_text.hpp"

#include <muster/contract.hpp>
#include <muster/show.hpp>

#include "diagnose/verdict.hpp"
#include "planning/dry_run.hpp"
#include "text.hpp"
#include "topology/cpu_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace muster::launcher {
namespace {

std::string shown_value(const std::string& name, const std::string& value) {
  if (is_secret_name(name)) return "(hidden)";
  if (name == "MASTER_PORT" && value == "0") return "(free port)";
  if (name == "TORCHELASTIC_ERROR_FILE" && value.starts_with("/error-")) {
    return "(private)" + value;
  }
  return shell_quoted(value);
}

/// Entries side by side, indented by two, within the width where they fit.
std::string wrapped(const std::vector<std::string>& entries, int width) {
  std::string text, line;
  for (const auto& entry : entries) {
    if (!line.empty() && columns_of(line) + columns_of(entry) + 4 > width) {
      text += "  " + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : "  ") + entry;
  }
  return line.empty() ? text : text + "  " + line + "\n";
}

std::string device_text(const ProcessSpec& spec) {
  if (spec.device == "cpu") return "cpu";
  return "cuda " + spec.device + (spec.device_name.empty() ? "" : " (" + spec.device_name + ")");
}

/// The rows of a table, the first its heads; all columns but the first lie to the left.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<int> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t at = 0; at < row.size(); ++at) {
      widths[at] = std::max(widths[at], columns_of(row[at]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    auto line = fmt::format("{:>5}", row.front());
    for (std::size_t at = 1; at < row.size(); ++at) line += "  " + padded(row[at], widths[at]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

/// Columns that would be empty for all ranks are left out.
std::string rank_table(const Plan& plan, const Cpus& cpus) {
  const auto any = [&](auto has) { return std::any_of(plan.ranks.begin(), plan.ranks.end(), has); };
  const bool memory = any([](const ProcessSpec& spec) { return spec.memory_node >= 0; });
  const bool nics = any([](const ProcessSpec& spec) { return !spec.nic.empty(); });
  std::vector<std::vector<std::string>> rows{{"rank", "node", "device", "cpus"}};
  if (memory) rows.front().emplace_back("memory");
  if (nics) rows.front().emplace_back("network");
  rows.front().emplace_back("threads");
  for (const auto& spec : plan.ranks) {
    auto& row = rows.emplace_back(std::vector<std::string>{std::to_string(spec.world.rank),
                                                           spec.host, device_text(spec),
                                                           format_cpu_list(cpus_of(spec, cpus))});
    if (memory) {
      row.push_back(spec.memory_node < 0 ? "any" : "NUMA " + std::to_string(spec.memory_node));
    }
    if (nics) row.push_back(spec.nic);
    row.push_back(std::to_string(spec.threads));
  }
  return aligned(rows);
}

/// Names of the first rank's variables that some rank has not, or with another value.
std::set<std::string> that_differ(const Plan& plan) {
  const auto& first = plan.ranks.front().set;
  const auto all = first.whole();
  std::set<std::string> names;
  const auto compare = [&](const Variables& theirs, const Environment& among) {
    for (const auto& [name, value] : among) {
      if (names.contains(name)) continue;
      const auto *one = first.find(name), *other = theirs.find(name);
      if (one && (!other || *one != *other)) names.insert(name);
    }
  };
  for (const auto& spec : plan.ranks) {
    // Of what is kept once, only what one of the two has of its own can differ.
    const bool shares = spec.set.shares_with(first);
    compare(spec.set, shares ? first.own() : all);
    if (shares) compare(spec.set, spec.set.own());
  }
  return names;
}

/// Variables with one value for all ranks, and those that differ as their first and last value.
void list_variables(const Plan& plan, std::vector<std::string>& of_all,
                    std::vector<std::string>& of_each) {
  const auto& last = plan.ranks.back();
  const auto differ = that_differ(plan);
  for (const auto& [name, value] : plan.ranks.front().set.whole()) {
    const auto shown = shown_value(name, value);
    if (differ.contains(name)) {
      of_each.push_back(name + "=" + shown + " ... " + shown_value(name, last.set.at(name)));
    } else {
      of_all.push_back(name + "=" + shown);
    }
  }
}

/// "4 ranks on 2 hosts, here node 1 with ranks 2-3"
std::string hosts_text(const Plan& plan) {
  const World& first = plan.ranks.front().world;
  const int last = plan.ranks.back().world.rank;
  const auto here = first.rank == last ? fmt::format("rank {}", last)
                                       : fmt::format("ranks {}-{}", first.rank, last);
  return fmt::format("{} ranks on {} hosts, here node {} with {}", first.size, first.node_count,
                     first.node_rank, here);
}

std::string job_line(const Plan& plan, const TrainSettings& train) {
  const auto count = plan.ranks.size();
  auto text = fmt::format("{} rank{} on 1 host", count, count == 1 ? "" : "s");
  if (!plan.nodes.empty()) text = hosts_text(plan);
  if (train.strategy != "auto") text += ", strategy " + train.strategy;
  if (train.communicator != "auto") text += ", communicator " + train.communicator;
  if (!plan.why_ranks.empty()) text += "   (" + plan.why_ranks + ")";
  return text;
}

/// What ranks run, those alike in one line.
std::string programs_text(const Plan& plan, const Screen& screen) {
  std::map<std::vector<std::string>, std::vector<int>> alike;
  for (const auto& spec : plan.ranks) alike[spec.argv].push_back(spec.world.rank);
  std::vector<std::pair<std::vector<int>, std::string>> lines;
  for (const auto& [argv, ranks] : alike) {
    std::string program;
    for (const auto& word : argv) program += (program.empty() ? "" : " ") + shell_quoted(word);
    lines.emplace_back(ranks, program);
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const auto& [ranks, program] : lines) {
    text += screen.bold("program") + "   " + program;
    if (lines.size() > 1) text += "   (" + ranks_do(ranks, "", "");
    while (lines.size() > 1 && text.ends_with(' ')) text.pop_back();
    text += lines.size() > 1 ? ")\n" : "\n";
  }
  if (plan.stop_on_exec) {
    text +=
        "          stops before its first instruction, until SIGCONT or a debugger lets it go "
        "on (--stop-on-exec)\n";
  }
  return text;
}

}  // namespace

std::string plan_text(const Plan& plan, const TrainSettings& train, const Cpus& cpus,
                      const Environment& environment, const Screen& screen) {
  const auto& first = plan.ranks.front();
  std::vector<std::string> of_all, of_each;
  list_variables(plan, of_all, of_each);
  const auto removed = removed_variables(first, environment);

  auto text = screen.bold("job") + "       " + job_line(plan, train) + "\n";
  if (!plan.unknown.empty()) text += screen.bold("unknown") + "   " + plan.unknown + "\n";
  text += programs_text(plan, screen);
  text += rank_table(plan, cpus);
  text += screen.bold("added to the environment of every rank") + "\n";
  text += wrapped(of_all, screen.width);
  if (!of_each.empty()) text += screen.bold("and of each") + "\n" + wrapped(of_each, screen.width);
  std::vector<std::string> later(contract::of_a_rank.begin(), contract::of_a_rank.end());
  std::erase_if(later, [&](const std::string& name) {
    return name == contract::exported || first.set.contains(name);
  });
  text += screen.bold("and by the running launcher, for programs with muster's runtime") + "\n" +
          wrapped(later, screen.width);
  if (!removed.empty()) {
    text += screen.bold("removed from it") + "\n" + wrapped(removed, screen.width);
  }
  return text;
}

}  // namespace muster::launcher

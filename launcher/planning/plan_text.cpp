#include "planning/plan_text.hpp"

#include <muster/contract.hpp>
#include <muster/show.hpp>

#include "topology/cpu_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace muster::launcher {
namespace {

/// As a shell would take it back.
std::string quoted(const std::string& word) {
  constexpr std::string_view plain = "-_./=:,+@%^";
  const bool safe = !word.empty() && std::all_of(word.begin(), word.end(), [&](char letter) {
    const bool beyond_ascii = static_cast<unsigned char>(letter) > 127;
    return beyond_ascii || std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           plain.find(letter) != plain.npos;
  });
  if (safe) return word;
  std::string text = "'";
  for (const char letter : word)
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

std::string shown_value(const std::string& name, const std::string& value) {
  if (is_secret_name(name)) return "(hidden)";
  if (name == "MASTER_PORT" && value == "0") return "(free port)";
  if (name == "TORCHELASTIC_ERROR_FILE" && value.starts_with("/error-")) {
    return "(private)" + value;
  }
  return quoted(value);
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

std::string rank_table(const Plan& plan, const std::string& all_cpus) {
  int host_columns = 4, device_columns = 6;
  const int cpu_columns = std::max(columns_of(all_cpus), 4);
  for (const auto& spec : plan.ranks) {
    host_columns = std::max(host_columns, columns_of(spec.host));
    device_columns = std::max(device_columns, columns_of(device_text(spec)));
  }
  const auto row = [&](const std::string& rank, const std::string& host, const std::string& device,
                       const std::string& cpus, const std::string& threads) {
    return fmt::format("{:>5}  {}  {}  {}  {}\n", rank, padded(host, host_columns),
                       padded(device, device_columns), padded(cpus, cpu_columns), threads);
  };
  auto text = row("rank", "node", "device", "cpus", "threads");
  for (const auto& spec : plan.ranks) {
    text += row(std::to_string(spec.world.rank), spec.host, device_text(spec), all_cpus,
                std::to_string(spec.threads));
  }
  return text;
}

bool is_of_all(const Plan& plan, const std::string& name, const std::string& value) {
  return std::all_of(plan.ranks.begin(), plan.ranks.end(), [&](const ProcessSpec& spec) {
    const auto found = spec.set.find(name);
    return found != spec.set.end() && found->second == value;
  });
}

/// Variables with one value for all ranks, and those that differ as their first and last value.
void list_variables(const Plan& plan, std::vector<std::string>& of_all,
                    std::vector<std::string>& of_each) {
  const auto& first = plan.ranks.front();
  const auto& last = plan.ranks.back();
  for (const auto& [name, value] : first.set) {
    const auto shown = shown_value(name, value);
    if (is_of_all(plan, name, value)) {
      of_all.push_back(name + "=" + shown);
    } else {
      of_each.push_back(name + "=" + shown + " ... " + shown_value(name, last.set.at(name)));
    }
  }
}

std::vector<std::string> removed_variables(const ProcessSpec& spec,
                                           const Environment& environment) {
  std::vector<std::string> removed;
  for (const auto& name : spec.unset) {
    const bool twice = std::find(removed.begin(), removed.end(), name) != removed.end();
    if (!twice && environment.contains(name) && !spec.set.contains(name)) removed.push_back(name);
  }
  return removed;
}

std::string job_line(const Plan& plan, const TrainSettings& train) {
  const auto count = plan.ranks.size();
  auto text = fmt::format("{} rank{} on 1 host", count, count == 1 ? "" : "s");
  if (train.strategy != "auto") text += ", strategy " + train.strategy;
  if (train.communicator != "auto") text += ", communicator " + train.communicator;
  if (!plan.why_ranks.empty()) text += "   (" + plan.why_ranks + ")";
  return text;
}

}  // namespace

std::string plan_text(const Plan& plan, const TrainSettings& train, const Cpus& cpus,
                      const Environment& environment, const Screen& screen) {
  const auto& first = plan.ranks.front();
  std::string program;
  for (const auto& word : first.argv) program += (program.empty() ? "" : " ") + quoted(word);
  std::vector<std::string> of_all, of_each;
  list_variables(plan, of_all, of_each);
  const auto removed = removed_variables(first, environment);

  auto text = screen.bold("job") + "       " + job_line(plan, train) + "\n";
  text += screen.bold("program") + "   " + program + "\n";
  text += rank_table(plan, format_cpu_list(cpus.allowed));
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

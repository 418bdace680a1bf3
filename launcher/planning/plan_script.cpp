#include <muster/contract.hpp>
#include <muster/show.hpp>
#include <muster/version.hpp>

#include "planning/dry_run.hpp"
#include "text.hpp"
#include "topology/cpu_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace muster::launcher {
namespace {

constexpr std::string_view line_end = " \\\n    ";

/// "NAME=value" for env, with the script's own values for what muster decides at the start.
std::string assignment(const ProcessSpec& spec, const std::string& name, const std::string& value) {
  if (is_secret_name(name)) return "\"" + name + "=$(printenv " + shell_quoted(name) + ")\"";
  if (!is_decided_at_start(spec, name)) return shell_quoted(name + "=" + value);
  if (name == "MASTER_PORT") return "\"MASTER_PORT=$port\"";
  if (name == "TORCHELASTIC_RUN_ID") return "\"TORCHELASTIC_RUN_ID=$job\"";
  return "\"" + name + "=$folder" + value.substr(value.rfind('/')) + "\"";
}

bool is_of_all(const Plan& plan, const std::string& name, const std::string& value) {
  return name != "TORCHELASTIC_ERROR_FILE" &&
         std::all_of(plan.ranks.begin(), plan.ranks.end(), [&](const ProcessSpec& spec) {
           const auto* found = spec.set.find(name);
           return found != nullptr && *found == value;
         });
}

/// The variables that all ranks share, and their names.
std::string shared_part(const Plan& plan, std::set<std::string>& shared) {
  const auto& first = plan.ranks.front();
  std::set<std::string> unset(first.unset->begin(), first.unset->end());
  unset.insert(contract::of_a_rank.begin(), contract::of_a_rank.end());
  std::string text = "every_rank() {\n  exec env";
  for (const auto& name : unset) {
    if (!first.set.contains(name)) text += " -u " + shell_quoted(name);
  }
  for (const auto& [name, value] : first.set.whole()) {
    if (!is_of_all(plan, name, value)) continue;
    shared.insert(name);
    text.append(line_end).append(assignment(first, name, value));
  }
  return text.append(line_end).append("\"$@\"\n}\n");
}

std::string rank_part(const ProcessSpec& spec, const std::set<std::string>& shared) {
  auto text = fmt::format("rank_{}() {{\n  every_rank", spec.world.rank);
  for (const auto& [name, value] : spec.set.whole()) {
    if (!shared.contains(name)) text.append(line_end).append(assignment(spec, name, value));
  }
  if (!spec.cpus.empty()) {
    text.append(line_end).append("${taskset:+\"$taskset\" -c " + format_cpu_list(spec.cpus) + "}");
  }
  if (spec.memory_node >= 0) {
    text.append(line_end).append(
        fmt::format("${{numactl:+\"$numactl\" --preferred={}}}", spec.memory_node));
  }
  // env would take such a name for one more variable.
  if (spec.argv.front().find('=') != std::string::npos) {
    text.append(line_end).append("sh -c 'exec \"$@\"' sh");
  }
  text.append(line_end);
  for (const auto& word : spec.argv)
    text += (&word == &spec.argv.front() ? "" : " ") + shell_quoted(word);
  return text + "\n}\n";
}

std::string head(const DryRun& run) {
  const auto& plan = run.plan;
  const auto& first = plan.ranks.front();
  auto text = fmt::format(
      "#!/bin/sh\n"
      "# What muster {} would start, without muster: `sh FILE` runs all ranks and waits for them,\n"
      "# `sh FILE RANK` runs one. Nobody looks after them; what ends the script tells them to "
      "end.\n"
      "set -u\n"
      "job=$$\n",
      version);
  if (!plan.unknown.empty()) text += "# Still unknown here: " + plan.unknown + "\n";
  if (first.world.master_port == 0) text += "port=${MUSTER_LAUNCH_MASTER_PORT:-29500}\n";
  text +=
      "folder=$(mktemp -d \"${TMPDIR:-/tmp}/muster-XXXXXX\") || exit 125\n"
      "trap 'rm -rf \"$folder\"' EXIT\n";
  const auto any = [&](auto has) { return std::any_of(plan.ranks.begin(), plan.ranks.end(), has); };
  if (any([](const ProcessSpec& spec) { return !spec.cpus.empty(); })) {
    text += "taskset=$(command -v taskset) || echo 'no taskset: ranks are not bound' >&2\n";
  }
  if (any([](const ProcessSpec& spec) { return spec.memory_node >= 0; })) {
    text += "numactl=$(command -v numactl) || echo 'no numactl: memory comes from any node' >&2\n";
  }
  return text + "\n";
}

bool reads_input(const DryRun& run, const ProcessSpec& spec) {
  const auto& reader = run.settings.standard_input;
  const int alone = run.plan.wrapped_alone;
  if (alone >= 0 && !run.plan.input_chosen)
    return &spec == &run.plan.ranks[static_cast<std::size_t>(alone)];
  return reader == "all" || reader == std::to_string(spec.world.rank);
}

std::string tail(const DryRun& run) {
  const auto& ranks = run.plan.ranks;
  auto text = fmt::format(
      "\nif [ $# -gt 0 ]; then\n"
      "  case $1 in *[!0-9]* | '') false ;; *) [ \"$1\" -ge {0} ] && [ \"$1\" -le {1} ] ;; esac "
      "||\n"
      "    {{ echo \"no rank '$1': {0} to {1}\" >&2; exit 2; }}\n"
      "  (\"rank_$1\")\n"
      "  exit\n"
      "fi\n"
      "exec 3<&0\n"
      "pids=\n"
      "trap 'kill $pids 2>/dev/null' INT TERM HUP\n",
      ranks.front().world.rank, ranks.back().world.rank);
  for (const auto& spec : ranks) {
    text += fmt::format("rank_{} {} 3<&- &\npids=\"$pids $!\"\n", spec.world.rank,
                        reads_input(run, spec) ? "<&3" : "</dev/null");
  }
  return text +
         "exec 3<&-\n"
         "code=0\n"
         "for pid in $pids; do\n"
         "  wait \"$pid\" || { end=$?; [ $code -ne 0 ] || code=$end; }\n"
         "done\n"
         "wait\n"
         "exit $code\n";
}

}  // namespace

std::string plan_script(const DryRun& run) {
  std::set<std::string> shared;
  auto text = head(run) + shared_part(run.plan, shared);
  for (const auto& spec : run.plan.ranks) text += rank_part(spec, shared);
  return text + tail(run);
}

}  // namespace muster::launcher

#include "check/findings.hpp"

#include "topology/cpu_list.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace muster::launcher {
namespace {

using Json = nlohmann::json;

/// Takes the lines of one rank after the other.
class Reader {
 public:
  explicit Reader(Findings& findings) : findings_(findings) {}

  void read(const std::string& path, int rank) {
    rank_ = rank;
    finished_ = false;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      // The last one of a rank that died may be half of one.
      const auto json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (json.is_object()) take(json);
    }
    if (!finished_) findings_.unfinished.push_back(rank);
  }

 private:
  void take(const Json& line) {
    if (line.contains("checks")) {
      for (const auto& name : line["checks"]) row(name);
    } else if (line.contains("facts")) {
      const auto& facts = line["facts"];
      findings_.ranks[rank_] = {facts.value("cpus", std::vector<int>()), facts.value("threads", 0),
                                facts.value("device", ""), facts.value("libtorch", "")};
    } else if (line.contains("begin")) {
      row(line["begin"]).under_way.push_back(rank_);
    } else if (line.contains("end")) {
      end(row(line["end"]), line);
    } else if (line.contains("faulty")) {
      finished_ = true;
      findings_.faulty = line["faulty"].get<std::vector<int>>();
    }
  }

  CheckRow& row(const std::string& name) {
    for (auto& row : findings_.rows) {
      if (row.name == name) return row;
    }
    findings_.rows.emplace_back().name = name;
    return findings_.rows.back();
  }

  void end(CheckRow& row, const Json& line) {
    std::erase(row.under_way, rank_);
    row.ended.push_back(rank_);
    row.seconds = std::max(row.seconds, line.value("seconds", 0.0));
    if (row.looked_at.empty()) row.looked_at = line.value("looked_at", "");
    for (const auto& text : line.value("not_checked", std::vector<std::string>())) {
      const bool known = std::ranges::find(row.not_checked, text) != row.not_checked.end();
      if (!known) row.not_checked.push_back(text);
    }
    row.fault_count += line.value("fault_count", std::size_t{0});
    for (const auto& fault : line.value("faults", Json::array())) {
      row.faults.push_back(
          {rank_, fault.value("where", ""), fault.value("expected", ""), fault.value("found", "")});
    }
  }

  Findings& findings_;
  int rank_ = 0;
  bool finished_ = false;
};

void add_fault(CheckRow& row, CheckFault fault) {
  row.faults.push_back(std::move(fault));
  ++row.fault_count;
}

}  // namespace

std::string_view to_text(CheckResult result) {
  switch (result) {
    case CheckResult::ok:
      return "ok";
    case CheckResult::fault:
      return "fault";
    case CheckResult::not_checked:
      return "not_checked";
    case CheckResult::under_way:
      return "under_way";
    case CheckResult::not_made:
      break;
  }
  return "not_made";
}

CheckResult CheckRow::result() const {
  if (fault_count > 0) return CheckResult::fault;
  if (!under_way.empty()) return CheckResult::under_way;
  if (ended.empty()) return CheckResult::not_made;
  return looked_at.empty() ? CheckResult::not_checked : CheckResult::ok;
}

bool Findings::all_ok() const {
  return !rows.empty() && unfinished.empty() && faulty.empty() &&
         std::ranges::all_of(rows, [](const CheckRow& row) {
           return row.result() == CheckResult::ok || row.result() == CheckResult::not_checked;
         });
}

Findings read_findings(const Plan& plan) {
  Findings findings;
  Reader reader(findings);
  for (const auto& spec : plan.ranks) {
    const auto rank = std::to_string(spec.world.rank);
    reader.read(plan.run_directory + "/check-" + rank + ".jsonl", spec.world.rank);
  }
  return findings;
}

void compare_with_plan(const Plan& plan, Findings& findings) {
  if (findings.rows.empty()) return;
  auto& row = findings.rows.front();
  for (const auto& [rank, found] : findings.ranks) {
    const auto* spec = plan.find(rank);
    if (spec == nullptr) continue;
    if (found.threads != spec->threads) {
      add_fault(row, {rank, "threads", std::to_string(spec->threads) + ", as planned",
                      std::to_string(found.threads)});
    }
    if (!spec->cpus.empty() && !found.cpus.empty() && found.cpus != spec->cpus) {
      add_fault(row, {rank, "CPUs", format_cpu_list(spec->cpus) + ", as planned",
                      format_cpu_list(found.cpus)});
    }
    if (spec->device != "cpu" && found.device == "cpu") {
      row.not_checked.push_back("device " + spec->device + " of rank " + std::to_string(rank) +
                                ": the runtime computes on the CPU");
    }
  }
}

}  // namespace muster::launcher

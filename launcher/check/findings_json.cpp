#include <muster/version.hpp>

#include "check/findings_text.hpp"

#include <nlohmann/json.hpp>

namespace muster::launcher {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson row_json(const CheckRow& row) {
  auto faults = OrderedJson::array();
  for (const auto& fault : row.faults) {
    faults.push_back({{"rank", fault.rank},
                      {"where", fault.where},
                      {"expected", fault.expected},
                      {"found", fault.found}});
  }
  return {{"name", row.name},
          {"result", to_text(row.result())},
          {"seconds", row.seconds},
          {"looked_at", row.looked_at},
          {"fault_count", row.fault_count},
          {"faults", std::move(faults)},
          {"not_checked", row.not_checked},
          {"under_way_on", row.under_way}};
}

OrderedJson rank_json(int rank, const CheckedRank& found, const Plan& plan) {
  const auto* spec = plan.find(rank);
  return {{"rank", rank},
          {"host", spec == nullptr ? "" : spec->host},
          {"device", found.device},
          {"cpus", found.cpus},
          {"threads", found.threads},
          {"libtorch", found.libtorch}};
}

}  // namespace

std::string findings_json(const Findings& findings, const Plan& plan, double seconds,
                          std::string_view outcome) {
  auto rows = OrderedJson::array(), ranks = OrderedJson::array();
  for (const auto& row : findings.rows) rows.push_back(row_json(row));
  for (const auto& [rank, found] : findings.ranks) ranks.push_back(rank_json(rank, found, plan));
  const OrderedJson whole{{"muster", version},
                          {"ok", findings.all_ok()},
                          {"outcome", outcome},
                          {"seconds", seconds},
                          {"world_size", plan.ranks.empty() ? 0 : plan.ranks.front().world.size},
                          {"ranks", std::move(ranks)},
                          {"checks", std::move(rows)},
                          {"faulty_ranks", findings.faulty}};
  return whole.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace muster::launcher

#include "traces.hpp"

#include "supervise/core_dump.hpp"

#include <filesystem>
#include <system_error>

namespace muster::launcher {
namespace {

/// Empty if it is gone.
std::string current_folder() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

}  // namespace

void collect_traces(const Plan& plan, const std::vector<std::string>& programs,
                    std::vector<RankFacts>& ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    RankFacts& rank = ranks[i];
    if (rank.end.code == 0 && rank.end.signal == 0) continue;
    const ProcessSpec& spec = plan.ranks[i];
    const auto* path = spec.set.find("TORCHELASTIC_ERROR_FILE");
    if (path != nullptr) rank.error_file = read_error_file(*path, rank.started_ns);
    if (rank.end.core_dumped == 0) continue;
    rank.core = place_of({rank.pid, rank.end.signal, current_folder(), programs[i], spec.host},
                         CorePattern::of_this_host());
  }
}

}  // namespace muster::launcher

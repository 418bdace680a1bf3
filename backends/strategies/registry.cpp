#include <muster/error.hpp>
#include <muster/strategy.hpp>

#include <string>
#include <utility>

namespace muster {

std::string_view strategy_name(std::string_view name) {
  if (name == "auto" || name == "ddp") return "ddp";
  throw ConfigError("no strategy '" + std::string(name) + "'; this build has: auto, ddp");
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, std::shared_ptr<Mesh> mesh,
                                        StrategyOptions options) {
  static_cast<void>(strategy_name(name));  // There is one so far.
  return make_data_parallel(std::move(mesh), std::move(options));
}

}  // namespace muster

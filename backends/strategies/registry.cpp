#include <muster/error.hpp>
#include <muster/strategy.hpp>

#include <string>
#include <utility>

namespace muster {

std::unique_ptr<Strategy> make_strategy(std::string_view name, std::shared_ptr<Mesh> mesh,
                                        StrategyOptions options) {
  if (name == "auto" || name == "ddp")
    return make_data_parallel(std::move(mesh), std::move(options));
  throw ConfigError("no strategy '" + std::string(name) + "'; this build has: auto, ddp");
}

}  // namespace muster

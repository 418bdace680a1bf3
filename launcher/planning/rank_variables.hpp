#pragma once

#include <muster/resolve.hpp>
#include <muster/world.hpp>

#include "devices/choose_devices.hpp"
#include "planning/make_plan.hpp"
#include "variables.hpp"

#include <memory>
#include <string>

namespace muster::launcher {

/// What is set in the environment of each rank of this host. Ranks differ in few variables, and
/// there may be ten thousand of them: what they have in common is put together once.
class RankVariables {
 public:
  /// `shared` is SharedEnvironment::set, and `world` that of any of the ranks; all else in it is
  /// the others' too. Borrows the rest.
  RankVariables(const Resolution& resolution, const Job& job, const DeviceChoice& devices,
                const Environment& shared, const World& world);

  /// Of the rank with this world.
  Variables of(const World& world) const;

 private:
  std::string error_file(const World& world) const;

  const Job& job_;
  const DeviceChoice& devices_;
  std::shared_ptr<const Environment> common_;
};

}  // namespace muster::launcher

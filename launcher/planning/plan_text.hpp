#pragma once

#include <muster/settings.hpp>
#include <muster/world.hpp>

#include "plan.hpp"
#include "screen/screen.hpp"
#include "topology/cpus.hpp"

#include <string>

namespace muster::launcher {

/// The text of --dry-run: what each rank will run, on what, and how its environment will differ
/// from `environment`. Values of secret names are hidden. What is only known when the job runs (the
/// port, the private folder of the job) is named in brackets.
std::string plan_text(const Plan& plan, const TrainSettings& train, const Cpus& cpus,
                      const Environment& environment, const Screen& screen);

}  // namespace muster::launcher

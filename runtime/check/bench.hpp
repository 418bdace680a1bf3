#pragma once

#include <muster/accelerator_options.hpp>
#include <muster/communicator.hpp>
#include <muster/settings.hpp>
#include <muster/world.hpp>

#include "check/numbers.hpp"
#include "check/report.hpp"
#include "session.hpp"

#include <memory>
#include <string>
#include <vector>

namespace muster::check {

/// What the checks of one rank share: the group of all ranks, and where each says what it found.
/// All ranks make the same checks in the same order; what differs is a fault and no reason to stop,
/// so that all of them go on together.
class Bench {
 public:
  /// Joins no group yet.
  Bench(World world, Settings settings);

  const World& world() const noexcept { return world_; }
  const Settings& settings() const noexcept { return settings_; }
  Numbers& numbers() noexcept { return numbers_; }

  /// Collective: the group of all ranks, which Accelerators of this process then share. Throws as
  /// Session::join.
  void join();
  /// Leaves it, so that this process can be a world of one.
  void leave() noexcept { session_.reset(); }
  /// After join().
  Communicator& group() const { return session_->mesh()->world(); }
  const Session& session() const { return *session_; }
  /// What every Accelerator of a check is made with, whatever a person has set.
  AcceleratorOptions options() const;

  // --- what a check found ------------------------------------------------------------------------

  void looked_at(std::string what) { findings_.looked_at = std::move(what); }
  void not_checked(std::string what) { findings_.not_checked.push_back(std::move(what)); }
  void fault(std::string where, std::string expected, std::string found);
  void expect(bool holds, std::string where, std::string expected, std::string found);
  /// A fault unless dtype, shape and bits are those expected; with a bound, values may differ by
  /// it.
  void expect_same(const std::string& where, const at::Tensor& expected, const at::Tensor& found,
                   const at::Tensor& bound = {});
  /// What was found since the last call.
  Findings take_findings();

 private:
  World world_;
  Settings settings_;
  Numbers numbers_;
  std::shared_ptr<Session> session_;
  Findings findings_;
};

}  // namespace muster::check

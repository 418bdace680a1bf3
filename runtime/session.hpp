#pragma once

#include <muster/mesh.hpp>
#include <muster/world.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace muster {

/// The group of all ranks, joined once a process and shared by its Accelerators.
class Session {
 public:
  /// Collective if none is joined yet. Throws ConfigError if one is joined, but by another
  /// communicator or with another timeout than asked for. `debug`: collectives are checked.
  static std::shared_ptr<Session> join(const World& world, const std::string& communicator,
                                       bool debug);

  const std::shared_ptr<Mesh>& mesh() const noexcept { return mesh_; }
  const std::string& why() const noexcept { return why_; }  ///< This communicator was chosen.

 private:
  Session(const World& world, std::string communicator, bool debug);

  std::string asked_;
  std::chrono::milliseconds timeout_;
  std::shared_ptr<Mesh> mesh_;
  std::string why_;
};

}  // namespace muster

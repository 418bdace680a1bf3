#pragma once

#include <muster/communicator.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace muster {

/// An operation that a fake communicator was asked for.
struct FakeRecord {
  Operation::Kind kind;
  std::uint64_t sequence;
  std::string label;
  std::uint64_t bytes;   ///< Of the larger of input and output.
  at::ScalarType dtype;  ///< Of the input (receive: of the output; barrier: Undefined).
  int peer;              ///< Root, or peer of send and receive; else -1.
};

/// Any rank of a world of any size in one process, for tests and for estimates of traffic. It talks
/// to nobody: operations are recorded and done at once, with the result there would be if every
/// other rank held what this one holds; a receive gives zeros. Splits are fakes too, and record for
/// themselves.
class FakeCommunicator : public Communicator {
 public:
  virtual const std::vector<FakeRecord>& records() const noexcept = 0;

 protected:
  using Communicator::Communicator;
};

/// Throws ConfigError if there is no such rank.
std::unique_ptr<FakeCommunicator> make_fake(int rank, int size, at::Device device = at::kCPU);

}  // namespace muster

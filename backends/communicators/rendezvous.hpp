#pragma once

#include <muster/communicators.hpp>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <memory>
#include <string>

namespace muster {

/// What an opened rendezvous is to communicators.
struct Rendezvous::State {
  c10::intrusive_ptr<c10d::Store> store;
  std::string local_address;  ///< This host's address on the way to rank 0: peers reach it there.
};

}  // namespace muster

#pragma once

#include <muster/communicators.hpp>

namespace muster {

// One row a kind of communicator, each beside its class, named in the table of registry.cpp.

extern const CommunicatorKind self_communicator;
extern const CommunicatorKind shm_communicator;
extern const CommunicatorKind gloo_communicator;
extern const CommunicatorKind fake_communicator;

}  // namespace muster

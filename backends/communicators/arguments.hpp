#pragma once

#include <muster/communicator.hpp>

#include <string_view>

namespace muster {

/// Of send and receive; the smallest is 0.
constexpr int largest_tag = (1 << 27) - 1;

/// The group that an operation's arguments are checked against.
struct GroupShape {
  int rank;
  int size;
  at::Device device;
};

/// Throws ConfigError, naming the operation, its label and the argument, if `operation` cannot be
/// right whatever the other ranks ask for: a tensor that is undefined, not contiguous, on another
/// device, of a dtype that the reduction has no meaning for; counts or sizes that do not add up; a
/// rank that is not in the group.
void check_arguments(const Operation& operation, const GroupShape& group);

}  // namespace muster

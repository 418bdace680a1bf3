#pragma once

#include <array>
#include <string_view>

/// The variables between launcher and rank that are not settings and not torchelastic's.
namespace muster::contract {

/// The rank's end of a SOCK_SEQPACKET pair: ControlMessages, one a datagram.
inline constexpr std::string_view control_fd = "MUSTER_CONTROL_FD";
/// A memfd that holds one ControlSlot for each rank of this host.
inline constexpr std::string_view control_memory_fd = "MUSTER_CONTROL_MEMORY_FD";
/// Which slot is this rank's; without it LOCAL_RANK.
inline constexpr std::string_view control_slot = "MUSTER_CONTROL_SLOT";
/// Rank 0 of our runtime: a socket bound to MASTER_ADDR:MASTER_PORT that does not listen yet.
inline constexpr std::string_view master_fd = "MUSTER_MASTER_FD";
/// Names, with commas between, of the settings variables that a launcher of ours wrote.
inline constexpr std::string_view exported = "MUSTER_EXPORTED";
/// "1": the launcher puts the rank before each line, so the rank's own log does not.
inline constexpr std::string_view prefixed = "MUSTER_PREFIXED";
/// How often all ranks of the job were started again: 0, 1, ...
inline constexpr std::string_view restart_count = "MUSTER_RESTART_COUNT";

/// What a launcher writes for one rank: an inner launcher removes these from its ranks'
/// environment.
inline constexpr std::array of_a_rank{control_fd, control_memory_fd, control_slot, master_fd,
                                      exported,   prefixed,          restart_count};

/// The secret of several hosts' launchers: never handed on to ranks.
inline constexpr std::string_view token = "MUSTER_TOKEN";
/// Where ranks of `muster test` leave what they find: a folder that goes with the job. No other
/// ranks have it.
inline constexpr std::string_view check_folder = "MUSTER_CHECK_FOLDER";
inline constexpr std::array of_launchers{token, check_folder};

/// Variables of the build and the tests; not the launcher's business, and no mistake either.
inline constexpr std::array of_the_build{
    std::string_view{"MUSTER_TORCH_VERSION"}, std::string_view{"MUSTER_LIBTORCH"},
    std::string_view{"MUSTER_CUDA_RUNTIME"}, std::string_view{"MUSTER_TIDY_MINUTES"}};

}  // namespace muster::contract

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {

/// The functions at some of a file's own addresses, as its symbol tables name them; those without a
/// name are left out. Reads the file piece by piece, and nothing if it is not the one with `inode`.
std::map<std::uint64_t, std::string> symbols_in(const std::string& path, std::uint64_t inode,
                                                const std::vector<std::uint64_t>& addresses);

/// The address at which the file wants its first byte; nothing if it is not the ELF file with
/// `inode`.
std::optional<std::uint64_t> first_address_in(const std::string& path, std::uint64_t inode);

}  // namespace muster::launcher

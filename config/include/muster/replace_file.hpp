#pragma once

#include <filesystem>
#include <string_view>

namespace muster {

/// Puts a file with this text in the place of the one at `path`, or makes it: at every moment there
/// is the old one or the new one, whole and on the disk. Follows links; keeps mode, owner and
/// group. Signals that would end the process wait until it is done. Throws Error, with the old file
/// as it was, for a full disk, a file or folder that may not be written to, and a file whose owner
/// could not be kept.
void replace_file(const std::filesystem::path& path, std::string_view text);

}  // namespace muster

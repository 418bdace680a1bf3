#pragma once

#include <string>

namespace muster::launcher {

/// Changes how this process is listed: its name, and its command line to the name and `more`. What
/// looks for the program by either (pkill, killall) does not find it any more. Cut to 15 bytes, and
/// to the room that the command line had.
void set_process_title(const std::string& name, const std::string& more);

}  // namespace muster::launcher

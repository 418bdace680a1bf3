#pragma once

#include <string>

namespace muster::launcher {

/// Changes how this process is listed, by name and by command line, so that what looks for the
/// program's command line (pkill -f) does not find it. Cut to the room that the command line had.
void set_process_title(const std::string& name);

}  // namespace muster::launcher

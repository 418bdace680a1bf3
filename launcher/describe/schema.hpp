#pragma once

#include <string>

namespace muster::launcher {

/// A JSON schema (draft 7) of settings files, from the settings table, for editors.
std::string settings_schema();

}  // namespace muster::launcher

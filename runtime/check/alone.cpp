#include "check/alone.hpp"

#include <cstdlib>

namespace muster::check {

Alone::Alone() {
  const auto present = current_environment();
  for (const auto& [name, value] : World().to_environment()) {
    const auto found = present.find(name);
    if (found == present.end()) continue;
    before_.insert(*found);
    ::unsetenv(name.c_str());
  }
}

Alone::~Alone() {
  for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
}

}  // namespace muster::check

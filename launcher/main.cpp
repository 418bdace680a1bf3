#include <muster/world.hpp>

#include "commands/commands.hpp"
#include "supervise.hpp"

#include <string>
#include <vector>

int main(int count, char** words) {
  muster::launcher::open_standard_descriptors();
  const std::vector<std::string> all(words + (count > 0 ? 1 : 0), words + count);
  return muster::launcher::run(all, muster::current_environment());
}

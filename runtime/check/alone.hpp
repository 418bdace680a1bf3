#pragma once

#include <muster/world.hpp>

namespace muster::check {

/// While it lives, this process is a world of one to whatever asks its environment. It must have
/// left its group, and have one thread that reads the environment.
class Alone {
 public:
  Alone();
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
  ~Alone();

 private:
  Environment before_;
};

}  // namespace muster::check

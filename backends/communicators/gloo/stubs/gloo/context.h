#pragma once
// Gloo's library is inside LibTorch, its headers are not. These declare what c10d's header mentions.

#include <chrono>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};

}  // namespace gloo

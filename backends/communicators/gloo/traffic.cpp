#include "communicators/gloo/traffic.hpp"

#include <algorithm>

namespace muster::gloo {

void Traffic::send(int peer, int tag, const char* data, std::size_t bytes) {
  for (std::size_t begin = 0; begin < bytes; begin += longest) {
    sends_.push_back(links_.send(peer, tag, data + begin, std::min(longest, bytes - begin)));
  }
}

void Traffic::receive(int peer, int tag, char* data, std::size_t bytes) {
  for (std::size_t begin = 0; begin < bytes; begin += longest) {
    receives_.push_back(links_.receive(peer, tag, data + begin, std::min(longest, bytes - begin)));
  }
}

Ticket Traffic::receive_one(int peer, int tag, char* data, std::size_t bytes) {
  kept_.push_back(links_.receive(peer, tag, data, bytes));
  return kept_.back();
}

void Traffic::settle() {
  for (auto* const tickets : {&receives_, &sends_}) {
    for (const auto& ticket : *tickets) {
      links_.wait(ticket);
    }
    tickets->clear();
  }
  kept_.clear();
}

}  // namespace muster::gloo

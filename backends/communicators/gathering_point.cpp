#include "communicators/gathering_point.hpp"

#include <muster/error.hpp>

#include "communicators/rendezvous.hpp"
#include "text.hpp"

namespace muster {

std::vector<std::string> exchange_texts(const Endpoint& endpoint, const std::string& name,
                                        const std::string& text) {
  c10d::Store& store = *endpoint.rendezvous.state()->store;
  std::vector<std::string> keys;
  for (int rank = 0; rank < endpoint.size; ++rank) {
    keys.push_back(name + "/" + endpoint.group + "/" + std::to_string(rank));
  }
  store.set(keys[static_cast<std::size_t>(endpoint.rank)], text);
  try {
    store.wait(keys, endpoint.timeout);
  } catch (const std::exception&) {
    std::vector<int> missing;
    for (int rank = 0; rank < endpoint.size; ++rank) {
      if (!store.check({keys[static_cast<std::size_t>(rank)]})) missing.push_back(rank);
    }
    if (!missing.empty()) {
      throw CommunicationError("group '" + endpoint.group + "' of " +
                               std::to_string(endpoint.size) + " ranks: " + ranks_text(missing) +
                               " did not come within " + to_text(endpoint.timeout) +
                               " (this is rank " + std::to_string(endpoint.rank) + ")");
    }
  }
  std::vector<std::string> texts;
  for (const std::string& key : keys) texts.push_back(store.get_to_str(key));
  return texts;
}

}  // namespace muster

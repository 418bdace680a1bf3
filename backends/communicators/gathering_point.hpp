#pragma once

#include <muster/communicators.hpp>

#include <string>
#include <vector>

namespace muster {

/// Collective over the endpoint's ranks, before they have a communicator: the texts of all, in rank
/// order. name: of this exchange, once a group. Throws CommunicationError, naming the ranks that
/// did not come, when the endpoint's timeout has passed.
std::vector<std::string> exchange_texts(const Endpoint& endpoint, const std::string& name,
                                        const std::string& text);

}  // namespace muster

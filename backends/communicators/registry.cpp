#include <muster/error.hpp>

#include "communicators/joining.hpp"
#include "communicators/kinds.hpp"

#include <array>
#include <memory>
#include <string>
#include <utility>

namespace muster {
namespace {

std::string names() {
  std::string text;
  for (const auto* kind : communicator_kinds()) {
    text += (text.empty() ? "" : ", ") + std::string(kind->name);
  }
  return text;
}

const CommunicatorKind& find(std::string_view name) {
  for (const auto* kind : communicator_kinds()) {
    if (kind->name == name) {
      return *kind;
    }
  }
  throw ConfigError("no communicator '" + std::string(name) + "'; this build has: auto, " +
                    names());
}

std::unique_ptr<Communicator> connect_to(const CommunicatorKind& kind, const Endpoint& endpoint) {
  if (endpoint.size == 1 || !kind.moves_data) {
    return kind.connect(endpoint);
  }
  return joining("connect", endpoint.group, [&] { return kind.connect(endpoint); });
}

/// Null, and why, if the ranks find together that it cannot serve them.
std::unique_ptr<Communicator> try_connect(const CommunicatorKind& kind, const Endpoint& endpoint,
                                          std::string& why_not) {
  try {
    return connect_to(kind, endpoint);
  } catch (const UnsupportedError& error) {
    why_not = error.what();
    return nullptr;
  }
}

Connection connect_first(const Endpoint& endpoint) {
  std::string passed_over;
  for (const auto* kind : communicator_kinds()) {
    if (!kind->moves_data) {
      continue;
    }
    auto why_not = kind->unavailable(endpoint);
    std::unique_ptr<Communicator> connected;
    if (why_not.empty()) connected = try_connect(*kind, endpoint, why_not);
    if (connected) {
      const auto why = "serves " + std::to_string(endpoint.size) +
                       (endpoint.size == 1 ? " rank" : " ranks") + " on " + endpoint.device.str() +
                       (endpoint.size == 1  ? ""
                        : endpoint.one_host ? ", one host"
                                            : ", several hosts");
      return {std::move(connected), std::string(kind->name) + " " + why + passed_over};
    }
    passed_over += "; not " + std::string(kind->name) + ": " + why_not;
  }
  throw UnsupportedError("no communicator for " + std::to_string(endpoint.size) + " ranks on " +
                         endpoint.device.str() + passed_over);
}

}  // namespace

std::span<const CommunicatorKind* const> communicator_kinds() noexcept {
  static constexpr std::array kinds{&self_communicator, &shm_communicator, &gloo_communicator,
                                    &fake_communicator};
  return kinds;
}

Connection connect(std::string_view name, const Endpoint& endpoint) {
  if (name == "auto") {
    return connect_first(endpoint);
  }
  const auto& kind = find(name);
  if (endpoint.size == 1 && kind.moves_data && &kind != &self_communicator) {
    return {self_communicator.connect(endpoint),
            "self, because a group of one has nobody to talk to over " + std::string(name)};
  }
  if (const auto why_not = kind.unavailable(endpoint); !why_not.empty()) {
    throw UnsupportedError("communicator '" + std::string(name) + "' was asked for, but it " +
                           why_not + "; this build has: auto, " + names());
  }
  return {connect_to(kind, endpoint), std::string(name) + ", because it was asked for"};
}

}  // namespace muster

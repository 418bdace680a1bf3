#include "communicators/gloo/gloo_transport.hpp"

#include "communicators/gloo/parcel.hpp"
#include "communicators/gloo/scene.hpp"

#include <memory>

namespace muster::gloo {

using Kind = Operation::Kind;

GlooTransport::GlooTransport(const Endpoint& endpoint)
    : rank_(endpoint.rank),
      size_(endpoint.size),
      strict_(endpoint.check_collectives),
      links_(endpoint),
      letters_(links_, rank_, size_),
      farewell_(links_, rank_, size_) {}

void GlooTransport::collective(const Operation& operation, std::uint64_t ordinal) {
  // It stays after a failure, so that its messages go after the links were closed.
  traffic_.emplace(links_);
  const Scene scene{rank_, size_, letters_, scratch_, *traffic_, ordinal, strict_};
  if (operation.kind == Kind::all_reduce || operation.kind == Kind::reduce_scatter) {
    reduce(scene, operation);
  } else if (relays(scene, operation)) {
    relay(scene, operation);
  } else {
    move(scene, operation);
  }
  traffic_.reset();
}

std::function<void()> GlooTransport::parcel(const Operation& operation) {
  auto parcel = std::make_shared<Parcel>(links_, operation, parcels_++);
  return [parcel = std::move(parcel), &operation] { parcel->deliver(operation); };
}

}  // namespace muster::gloo

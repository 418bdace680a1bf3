#include "communicators/gloo/scene.hpp"

namespace muster::gloo {

void announce(const Scene& scene, const Operation& operation) {
  auto header = describe(operation);
  header.ordinal = scene.ordinal;
  for (int peer = 0; peer < scene.size; ++peer) {
    auto& outgoing = scene.letters.outgoing(peer);
    header.for_you = outgoing.for_you;
    header.inline_bytes = outgoing.inline_bytes;
    outgoing = header;
  }
  scene.letters.post();
}

void meet(const Scene& scene, const Operation& operation,
          const std::vector<std::int64_t>& expected) {
  scene.letters.await();
  auto mine = describe(operation);
  mine.ordinal = scene.ordinal;
  require_agreement({scene.rank, scene.size, scene.strict, mine,
                     [&](int peer) -> const Header& { return scene.letters.incoming(peer); }},
                    expected);
}

}  // namespace muster::gloo

#include "communicators/shm/scene.hpp"

#include "communicators/transport.hpp"

#include <algorithm>

namespace muster::shm {
namespace {

std::size_t turn(std::uint64_t ordinal) { return static_cast<std::size_t>(ordinal % 2); }

}  // namespace

Header& header_of(const Board& board, int peer, std::uint64_t ordinal) {
  static_assert(sizeof(Header) <= header_bytes);
  return *reinterpret_cast<Header*>(board.state(peer).headers[turn(ordinal)].data());
}

void announce(const Scene& scene, const Operation& operation,
              const std::vector<std::int64_t>& sent) {
  RankState& own = scene.board.own();
  Header header = describe(operation);
  header.ordinal = scene.ordinal;
  header_of(scene.board, scene.rank(), scene.ordinal) = header;
  auto& row = own.sent[turn(scene.ordinal)];
  std::fill_n(row.begin(), scene.size(), 0);
  std::ranges::copy(sent, row.begin());
  own.arrived.store(scene.ordinal, std::memory_order_release);
}

void meet(const Scene& scene, const Operation& operation,
          const std::vector<std::int64_t>& expected) {
  Header mine = describe(operation);
  mine.ordinal = scene.ordinal;
  std::vector<Header> all;
  for (int peer = 0; peer < scene.size(); ++peer) {
    all.push_back(header_of(scene.board, peer, scene.ordinal));
    all.back().for_you =
        scene.board.state(peer).sent[turn(scene.ordinal)][static_cast<std::size_t>(scene.rank())];
  }
  require_agreement(
      {scene.rank(), scene.size(), scene.strict, mine,
       [&](int peer) -> const Header& { return all[static_cast<std::size_t>(peer)]; }},
      expected);
}

}  // namespace muster::shm

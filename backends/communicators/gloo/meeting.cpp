#include "communicators/gloo/scene.hpp"
#include "text.hpp"

#include <cstring>
#include <map>
#include <string>

namespace muster::gloo {
namespace {

/// What the texts of two headers that do not agree leave out.
std::string hidden_difference(const Scene& scene, const Header& mine, int peer,
                              std::int64_t expected) {
  const auto& theirs = scene.letters.incoming(peer);
  if (theirs.for_you != expected) {
    return "; " + rank_text(peer) + " sends " + std::to_string(theirs.for_you) + " elements to " +
           rank_text(scene.rank) + ", which expects " + std::to_string(expected);
  }
  return mine.counts_hash != theirs.counts_hash ? "; the counts are not the same" : "";
}

[[noreturn]] void disagree(const Scene& scene, const Header& mine, const std::string& hidden) {
  std::map<std::string, std::vector<int>> requests;
  for (int rank = 0; rank < scene.size; ++rank) {
    const auto& header = rank == scene.rank ? mine : scene.letters.incoming(rank);
    requests[to_text(header)].push_back(rank);
  }
  std::string text = "the ranks started different operations:";
  for (const auto& [request, ranks] : requests) {
    text += (text.back() == ':' ? " " : "; ") + ranks_text(ranks) + ": " + request;
  }
  if (requests.size() == 1) {
    text += hidden;
  }
  throw Disagreement(text + ". All ranks of a group must start the same ones in the same order");
}

}  // namespace

std::vector<Slice> slices(std::int64_t numel, const std::vector<std::int64_t>& counts, int size) {
  std::vector<Slice> result(static_cast<std::size_t>(size));
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto count = counts.empty() ? numel / size : counts[i];
    result[i] = {begin, count};
    begin += count;
  }
  return result;
}

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
  for (int peer = 0; peer < scene.size; ++peer) {
    const auto index = static_cast<std::size_t>(peer);
    if (peer == scene.rank) {
      continue;
    }
    const auto& theirs = scene.letters.incoming(peer);
    const bool same_label = std::strcmp(mine.label, theirs.label) == 0;
    if (!agree(mine, theirs, expected[index]) || (scene.strict && !same_label)) {
      disagree(scene, mine, hidden_difference(scene, mine, peer, expected[index]));
    }
  }
}

}  // namespace muster::gloo

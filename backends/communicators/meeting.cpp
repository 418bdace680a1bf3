#include "communicators/meeting.hpp"

#include "communicators/transport.hpp"
#include "text.hpp"

#include <cstring>
#include <map>
#include <string>

namespace muster {
namespace {

/// What the texts of two headers that do not agree leave out.
std::string hidden_difference(const Meeting& meeting, int peer, std::int64_t expected) {
  const auto& theirs = meeting.theirs(peer);
  if (theirs.for_you != expected) {
    return "; " + rank_text(peer) + " sends " + std::to_string(theirs.for_you) + " elements to " +
           rank_text(meeting.rank) + ", which expects " + std::to_string(expected);
  }
  return meeting.mine.counts_hash != theirs.counts_hash ? "; the counts are not the same" : "";
}

[[noreturn]] void disagree(const Meeting& meeting, const std::string& hidden) {
  std::map<std::string, std::vector<int>> requests;
  for (int rank = 0; rank < meeting.size; ++rank) {
    const auto& header = rank == meeting.rank ? meeting.mine : meeting.theirs(rank);
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

void require_agreement(const Meeting& meeting, const std::vector<std::int64_t>& expected) {
  for (int peer = 0; peer < meeting.size; ++peer) {
    if (peer == meeting.rank) {
      continue;
    }
    const auto wanted = expected[static_cast<std::size_t>(peer)];
    const auto& theirs = meeting.theirs(peer);
    const bool same_label = std::strcmp(meeting.mine.label, theirs.label) == 0;
    if (!agree(meeting.mine, theirs, wanted) || (meeting.strict && !same_label)) {
      disagree(meeting, hidden_difference(meeting, peer, wanted));
    }
  }
}

void require_fit(const Operation& receive, const Header& theirs) {
  const auto mine = describe(receive);
  if (theirs.input_numel != mine.input_numel || theirs.input_dtype != mine.input_dtype) {
    throw Disagreement(to_text(mine) + " was posted for a message from rank " +
                       std::to_string(receive.peer) + " with tag " + std::to_string(receive.tag) +
                       ", which is " + to_text(theirs));
  }
}

}  // namespace muster

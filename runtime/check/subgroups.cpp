// Parts of the group: by color and key, by a list; memory; a group that is aborted, and one after
// it.

#include <muster/error.hpp>
#include <muster/windows.hpp>

#include "check/checks.hpp"
#include "check/lists.hpp"

#include <ATen/ops/zeros.h>

#include <numeric>
#include <string>

namespace muster::check {
namespace {

std::string place_of(const Communicator& group) {
  return "rank " + std::to_string(group.rank()) + " of " + std::to_string(group.size());
}

/// Even and odd ranks, each backwards.
void by_color(Bench& bench) {
  auto& group = bench.group();
  const int odd = group.rank() % 2;
  const auto part = group.split(odd, -group.rank());
  const int size = (group.size() + 1 - odd) / 2;
  const auto expected =
      "rank " + std::to_string(size - 1 - group.rank() / 2) + " of " + std::to_string(size);
  bench.expect(place_of(*part) == expected, "split", expected, place_of(*part));
  const auto tensor = bench.numbers().of(group.rank(), 1000, at::kFloat).to(group.device());
  part->broadcast(tensor, 0, "check").wait();
  const int root = odd + 2 * (size - 1);
  bench.expect_same("broadcast in a part", bench.numbers().of(root, 1000, at::kFloat), tensor);
  const auto none = group.split(group.rank() == 0 ? 0 : -1, 0);
  bench.expect((none != nullptr) == (group.rank() == 0), "split", "no group for color -1",
               none ? "a group" : "none");
}

void by_list(Bench& bench) {
  auto& group = bench.group();
  std::vector<int> backwards(static_cast<std::size_t>(group.size()));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  const auto part = group.subgroup(backwards);
  const auto expected = "rank " + std::to_string(group.size() - 1 - group.rank()) + " of " +
                        std::to_string(group.size());
  bench.expect(place_of(*part) == expected, "subgroup", expected, place_of(*part));
}

void memory(Bench& bench) {
  auto& group = bench.group();
  const auto tensor = group.allocate(1001, at::kBFloat16);
  bench.expect_same("allocate", at::zeros({1001}, at::kBFloat16), tensor.fill_(0));
  if (group.windows() == nullptr) {
    bench.not_checked("reading peers' memory: " + std::string(group.name()) + " does not offer it");
    return;
  }
  const auto mine = bench.numbers().of(group.rank(), 1000, at::kFloat).to(group.device());
  group.windows()->expose("check", mine);
  const int peer = (group.rank() + 1) % group.size();
  const auto found = at::zeros({500}, at::kFloat).to(group.device());
  group.windows()->get(found, peer, "check", 250).wait();
  bench.expect_same("a peer's memory",
                    bench.numbers().of(peer, 1000, at::kFloat).narrow(0, 250, 500), found);
  group.barrier("all have read").wait();
}

/// One rank aborts: all get its reason, and the whole group works on.
void aborted(Bench& bench) {
  auto& group = bench.group();
  const auto part = group.split(0, group.rank());
  const std::string reason = "muster test wants it";
  if (group.rank() == 0) part->abort(reason);
  std::string found = "a barrier that ends well";
  try {
    part->barrier("check").wait();
  } catch (const CommunicationError& error) {
    found = error.what();
  }
  bench.expect(found.find(reason) != std::string::npos, "a barrier after abort",
               "an error with the reason", found);
  group.barrier("after an abort").wait();
}

}  // namespace

void check_subgroups(Bench& bench) {
  by_color(bench);
  by_list(bench);
  memory(bench);
  aborted(bench);
  bench.looked_at("by color, by list, after an abort; memory");
}

}  // namespace muster::check

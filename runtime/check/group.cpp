// The ranks meet, and are alike in what the same numbers need.

#include <muster/communicators.hpp>
#include <muster/version.hpp>

#include "check/checks.hpp"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/ops/zeros.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace muster::check {
namespace {

/// What must be the same on all ranks.
struct Property {
  const char* name;
  std::string value;
};

std::vector<Property> properties() {
  return {{"muster", std::string(version)},
          {"LibTorch", TORCH_VERSION},
          {"instruction set", at::get_cpu_capability()},
          {"threads of LibTorch", std::to_string(at::get_num_threads())}};
}

constexpr std::size_t longest = 64;

/// Collective: what every rank gave, `longest` bytes each.
std::vector<std::string> from_all(Communicator& group, const std::string& mine) {
  const auto sent = at::zeros({std::int64_t{longest}}, at::kByte);
  std::memcpy(sent.mutable_data_ptr(), mine.data(), longest);
  const auto all = at::zeros({group.size() * std::int64_t{longest}}, at::kByte).to(group.device());
  group.all_gather(all, sent.to(group.device()), "what ranks are").wait();
  const auto here = all.to(at::kCPU);
  const auto* const bytes = static_cast<const char*>(here.const_data_ptr());
  std::vector<std::string> texts;
  for (int rank = 0; rank < group.size(); ++rank) {
    texts.emplace_back(bytes + static_cast<std::size_t>(rank) * longest, longest);
  }
  return texts;
}

void compare(Bench& bench, const Property& property) {
  auto mine = property.value;
  mine.resize(longest);
  const auto all = from_all(bench.group(), mine);
  const auto& back = all[static_cast<std::size_t>(bench.group().rank())];
  if (back != mine) {
    const auto at = std::mismatch(mine.begin(), mine.end(), back.begin()).first - mine.begin();
    bench.fault("what this rank told the others", property.value,
                "another byte at place " + std::to_string(at));
  }
  if (all.front() == mine) return;
  bench.fault(property.name, std::string(all.front().c_str()) + ", as on rank 0", property.value);
}

void tell_other_communicators(Bench& bench) {
  const auto used = bench.group().name();
  for (const auto* kind : communicator_kinds()) {
    if (!kind->moves_data || kind->name == used || kind->name == "self") continue;
    const std::string name(kind->name);
    bench.not_checked(name + (bench.world().size == 1 ? ": one rank talks to nobody; -n 2 checks it"
                                                      : ": --communicator " + name + " checks it"));
  }
}

}  // namespace

void check_group(Bench& bench) {
  bench.join();
  auto& group = bench.group();
  const auto& world = bench.world();
  bench.expect(group.rank() == world.rank, "RANK", std::to_string(world.rank),
               std::to_string(group.rank()));
  bench.expect(group.size() == world.size, "WORLD_SIZE", std::to_string(world.size),
               std::to_string(group.size()));
  const auto before = group.operations();
  group.barrier("all ranks are here").wait();
  bench.expect(group.operations() == before + 1, "operations counted by a barrier", "one more",
               std::to_string(group.operations() - before) + " more");
  for (const auto& property : properties()) compare(bench, property);
  tell_other_communicators(bench);
  bench.looked_at(std::string(group.name()) + "; same versions, CPU kind, threads on all");
}

}  // namespace muster::check

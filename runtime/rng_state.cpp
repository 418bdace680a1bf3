#include <muster/device.hpp>
#include <muster/error.hpp>
#include <muster/log.hpp>
#include <muster/processes.hpp>

#include <ATen/Context.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

namespace muster {
namespace {

constexpr std::string_view magic = "muster-rng-1\n";

std::string device_name(const DeviceKind& kind, int index) {
  const std::string name(kind.name());
  return name == "cpu" ? name : name + ':' + std::to_string(index);
}

template <class Visit>
void for_each_device(Visit&& visit) {
  for (const auto* kind : device_kinds()) {
    const int count = kind->name() == "cpu" ? 1 : kind->count();
    for (int index = 0; index < count; ++index) visit(*kind, index, device_name(*kind, index));
  }
}

void append(std::string& bytes, std::string_view part) {
  const std::uint64_t size = part.size();
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size).append(part);
}

[[noreturn]] void refuse() {
  throw CheckpointError("the state of random generators is cut or damaged");
}

std::string take(std::string_view& rest) {
  std::uint64_t size = 0;
  if (rest.size() < sizeof size) refuse();
  std::memcpy(&size, rest.data(), sizeof size);
  rest.remove_prefix(sizeof size);
  if (rest.size() < size) refuse();
  std::string part(rest.substr(0, size));
  rest.remove_prefix(size);
  return part;
}

std::string_view bytes_in(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()),
          static_cast<std::size_t>(tensor.numel())};
}

/// FNV-1a, with every bit of the result moved by all.
std::uint64_t hash(std::string_view bytes, std::uint64_t value) {
  for (const char byte : bytes) value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccd;
  return value ^ (value >> 33);
}

/// Eight bytes that tell a damaged state.
std::string sum_of(std::string_view bytes) {
  const auto sum = hash(bytes, 0);
  return {reinterpret_cast<const char*>(&sum), sizeof sum};
}

}  // namespace

std::string RngState::to_bytes() const {
  std::string bytes(magic);
  append(bytes, std::to_string(rank));
  for (const auto& [name, state] : generators) {
    append(bytes, name);
    append(bytes, bytes_in(state));
  }
  return bytes + sum_of(bytes);
}

RngState RngState::from_bytes(std::string_view bytes) {
  if (!bytes.starts_with(magic) || bytes.size() < magic.size() + sum_of("").size()) refuse();
  const auto body = bytes.substr(0, bytes.size() - sum_of("").size());
  if (sum_of(body) != bytes.substr(body.size())) refuse();
  auto rest = body.substr(magic.size());
  RngState state;
  state.rank = std::stoi(take(rest));
  while (!rest.empty()) {
    const auto name = take(rest);
    const auto value = take(rest);
    auto tensor = at::empty({static_cast<std::int64_t>(value.size())}, at::kByte);
    std::memcpy(tensor.mutable_data_ptr(), value.data(), value.size());
    state.generators[name] = tensor;
  }
  return state;
}

RngState rng_state_for(int rank, const std::vector<RngState>& saved) {
  if (saved.empty()) throw CheckpointError("there is no state of random generators");
  const auto count = saved.size();
  const auto& near = saved[static_cast<std::size_t>(rank) % count];
  if (static_cast<std::size_t>(rank) < count) return near;
  RngState state{rank, {}};
  for (const auto& [name, bytes] : near.generators) {
    // A seed in place of a state: eight bytes.
    const auto seed = hash(bytes_in(bytes), static_cast<std::uint64_t>(rank) + 1);
    auto tensor = at::empty({sizeof seed}, at::kByte);
    std::memcpy(tensor.mutable_data_ptr(), &seed, sizeof seed);
    state.generators[name] = tensor;
  }
  return state;
}

void Processes::set_seed(std::uint64_t seed, bool per_rank) const {
  at::manual_seed(per_rank ? seed + static_cast<std::uint64_t>(process_index()) : seed);
}

RngState Processes::rng_state() const {
  RngState state{process_index(), {}};
  for_each_device([&](const DeviceKind& kind, int index, const std::string& name) {
    state.generators[name] = kind.rng_state(index).clone();
  });
  return state;
}

void Processes::set_rng_state(const RngState& state) const {
  auto missing = state.generators;
  for_each_device([&](const DeviceKind& kind, int index, const std::string& name) {
    const auto found = missing.find(name);
    if (found == missing.end()) return;
    const auto& bytes = found->second;
    std::uint64_t seed = 0;
    if (bytes.numel() == static_cast<std::int64_t>(sizeof seed)) {
      std::memcpy(&seed, bytes.const_data_ptr(), sizeof seed);
      auto generator = at::globalContext().defaultGenerator(name == "cpu" ? at::Device(at::kCPU)
                                                                          : at::Device(name));
      const std::lock_guard lock(generator.mutex());
      generator.set_current_seed(seed);
    } else {
      kind.set_rng_state(index, bytes);
    }
    missing.erase(found);
  });
  for (const auto& [name, bytes] : missing) {
    log(LogLevel::warning, "set_rng_state: this process has no " + name +
                               "; the state of its generator is not restored");
  }
}

}  // namespace muster

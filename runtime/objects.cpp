#include "collectives.hpp"
#include "signature.hpp"

#include <ATen/ops/empty.h>

#include <cstring>

namespace muster::collectives {

std::vector<std::string> gather_object(Communicator& group, std::string_view object,
                                       std::string_view operation) {
  const auto counts = exchange_numbers(group, operation, static_cast<std::int64_t>(object.size()));
  const auto all = all_gather_bytes(group, object, counts, operation);
  std::vector<std::string> objects;
  std::size_t taken = 0;
  for (const auto count : counts) {
    objects.push_back(all.substr(taken, static_cast<std::size_t>(count)));
    taken += static_cast<std::size_t>(count);
  }
  return objects;
}

std::string broadcast_object(Communicator& group, std::string_view object, int from,
                             std::string_view operation) {
  const auto lengths =
      exchange_numbers(group, std::string(operation) + " from rank " + std::to_string(from),
                       static_cast<std::int64_t>(object.size()));
  require_rank(group, operation, from);
  const auto length = lengths[static_cast<std::size_t>(from)];
  if (group.rank() == from && (group.size() == 1 || length == 0)) return std::string(object);
  if (length == 0) return {};
  auto bytes = at::empty({length}, at::kByte);
  if (group.rank() == from) std::memcpy(bytes.mutable_data_ptr(), object.data(), object.size());
  group.broadcast(bytes, from, operation).wait();
  return {static_cast<const char*>(bytes.const_data_ptr()), static_cast<std::size_t>(length)};
}

}  // namespace muster::collectives

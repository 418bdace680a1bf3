#include "signature.hpp"

#include <muster/error.hpp>
#include <muster/tensor_text.hpp>

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <numeric>
#include <utility>

namespace muster::collectives {
namespace {

constexpr std::size_t most_dims = 8;
constexpr std::size_t name_bytes = 64;

/// A signature as it travels.
struct Record {
  std::array<char, name_bytes> operation;
  Signature::Kind kind;
  std::int64_t dtype, dims;
  std::array<std::int64_t, most_dims> shape;
};

Signature::Kind kind_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return Signature::Kind::undefined;
  if (tensor.layout() != at::kStrided) return Signature::Kind::not_dense;
  return static_cast<std::size_t>(tensor.dim()) > most_dims ? Signature::Kind::too_many_dimensions
                                                            : Signature::Kind::dense;
}

Record record_of(std::string_view operation, Signature::Kind kind,
                 std::initializer_list<std::int64_t> shape) {
  Record record{};
  std::copy_n(operation.begin(), std::min(operation.size(), name_bytes - 1),
              record.operation.begin());
  record.kind = kind;
  record.dims = static_cast<std::int64_t>(shape.size());
  std::copy(shape.begin(), shape.end(), record.shape.begin());
  return record;
}

Record record_of(std::string_view operation, const at::Tensor& tensor) {
  Record record = record_of(operation, kind_of(tensor), {});
  if (record.kind != Signature::Kind::dense) return record;
  record.dtype = static_cast<std::int64_t>(tensor.scalar_type());
  record.dims = tensor.dim();
  std::copy(tensor.sizes().begin(), tensor.sizes().end(), record.shape.begin());
  return record;
}

Signature read(const Record& record) {
  const auto* end = record.shape.begin() + record.dims;
  return {record.operation.data(),
          record.kind,
          {record.shape.begin(), end},
          static_cast<at::ScalarType>(record.dtype),
          {}};
}

std::string tensor_text(const Signature& signature) {
  switch (signature.kind) {
    case Signature::Kind::undefined:
      return "an undefined tensor";
    case Signature::Kind::too_many_dimensions:
      return "a tensor of more than " + std::to_string(most_dims) + " dimensions";
    case Signature::Kind::not_dense:
      return "a tensor that is not dense";
    case Signature::Kind::structure:
      return "a structure of " + std::to_string(signature.shape.front()) + " tensors";
    case Signature::Kind::object:
      return "an object";
    case Signature::Kind::dense:
      break;
  }
  return to_text(signature.shape) + ' ' + to_text(signature.dtype);
}

std::string text(const Signature& signature) {
  const auto& path = signature.path;
  return signature.operation + " of " + (path.empty() ? "" : path + ": ") + tensor_text(signature);
}

bool same(const Signature& a, const Signature& b, Compared compared) {
  if (a.operation != b.operation || a.kind != b.kind || a.dtype != b.dtype ||
      a.shape.size() != b.shape.size()) {
    return false;
  }
  if (compared == Compared::rank_and_dtype) return true;
  const std::ptrdiff_t first = compared == Compared::row_shape && !a.shape.empty() ? 1 : 0;
  return std::equal(a.shape.begin() + first, a.shape.end(), b.shape.begin() + first);
}

std::vector<Signature> exchange_records(Communicator& group, const Record& mine) {
  if (group.size() == 1) return {read(mine)};
  const auto size = static_cast<std::int64_t>(sizeof(Record));
  auto sent = at::empty({size}, at::kByte);
  auto received = at::empty({group.size(), size}, at::kByte);
  std::memcpy(sent.mutable_data_ptr(), &mine, sizeof(Record));
  group.all_gather(received, sent, std::string(mine.operation.data()) + ": shapes").wait();
  std::vector<Signature> result;
  const auto* bytes = static_cast<const char*>(received.const_data_ptr());
  for (int rank = 0; rank < group.size(); ++rank, bytes += sizeof(Record)) {
    Record record;
    std::memcpy(&record, bytes, sizeof(Record));
    result.push_back(read(record));
  }
  return result;
}

/// Paths travel with their length before them.
void append(std::string& bytes, const TensorLeaf& leaf, const Record& record) {
  const auto length = leaf.path.size();
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length).append(leaf.path);
  bytes.append(reinterpret_cast<const char*>(&record), sizeof record);
}

Signature take(std::string_view& bytes) {
  std::size_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  std::string path(bytes.substr(sizeof length, length));
  Record record;
  std::memcpy(&record, bytes.data() + sizeof length + length, sizeof record);
  bytes.remove_prefix(sizeof length + length + sizeof record);
  auto signature = read(record);
  signature.path = std::move(path);
  return signature;
}

[[noreturn]] void refuse_structures(std::string_view operation, std::size_t index,
                                    const std::vector<std::vector<Signature>>& ranks) {
  std::string message = "ranks do not call the same: " + std::string(operation) +
                        " of structures that differ, first in tensor " + std::to_string(index) +
                        ":";
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    message += "\n  rank " + std::to_string(rank) + ": " + std::to_string(ranks[rank].size()) +
               " tensors, " +
               (index < ranks[rank].size() ? text(ranks[rank][index]) : "and no such one");
  }
  throw ModelError(message);
}

/// [rank][tensor] as [tensor][rank].
std::vector<std::vector<Signature>> by_tensor(std::string_view operation,
                                              const std::vector<std::vector<Signature>>& ranks) {
  std::size_t most = 0;
  for (const auto& rank : ranks) most = std::max(most, rank.size());
  std::vector<std::vector<Signature>> result(most);
  for (std::size_t index = 0; index < most; ++index) {
    for (const auto& rank : ranks) {
      if (index >= rank.size() || rank[index].path != ranks.front()[index].path) {
        refuse_structures(operation, index, ranks);
      }
      result[index].push_back(rank[index]);
    }
  }
  return result;
}

}  // namespace

std::string all_gather_bytes(Communicator& group, std::string_view bytes,
                             const std::vector<std::int64_t>& counts, std::string_view label) {
  const auto total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (group.size() == 1 || total == 0) return std::string(bytes);
  auto sent = at::empty({static_cast<std::int64_t>(bytes.size())}, at::kByte);
  if (!bytes.empty()) std::memcpy(sent.mutable_data_ptr(), bytes.data(), bytes.size());
  auto received = at::empty({total}, at::kByte);
  group.all_gather(received, sent, counts, label).wait();
  return {static_cast<const char*>(received.const_data_ptr()), static_cast<std::size_t>(total)};
}

std::vector<Signature> exchange(Communicator& group, std::string_view operation,
                                const at::Tensor& tensor) {
  return exchange_records(group, record_of(operation, tensor));
}

std::vector<std::vector<Signature>> exchange(Communicator& group, std::string_view operation,
                                             const std::vector<TensorLeaf>& leaves) {
  if (leaves.size() == 1 && leaves.front().path.empty()) {
    const auto& [path, tensor, note] = leaves.front();
    return {exchange(group, std::string(operation) + note, tensor)};
  }
  std::string mine;
  for (const auto& leaf : leaves) {
    append(mine, leaf, record_of(std::string(operation) + leaf.note, leaf.tensor));
  }
  const auto heads = exchange_records(group, record_of(operation, Signature::Kind::structure,
                                                       {static_cast<std::int64_t>(leaves.size()),
                                                        static_cast<std::int64_t>(mine.size())}));
  require_same(heads, Compared::rank_and_dtype);
  std::vector<std::int64_t> counts;
  for (const auto& head : heads) counts.push_back(head.shape.back());
  const auto all = all_gather_bytes(group, mine, counts, std::string(operation) + ": structures");
  std::string_view rest = all;
  std::vector<std::vector<Signature>> ranks;
  for (const auto& head : heads) {
    auto& rank = ranks.emplace_back();
    for (std::int64_t i = 0; i < head.shape.front(); ++i) rank.push_back(take(rest));
  }
  return by_tensor(operation, ranks);
}

std::vector<std::int64_t> exchange_numbers(Communicator& group, std::string_view operation,
                                           std::int64_t number) {
  const auto signatures =
      exchange_records(group, record_of(operation, Signature::Kind::object, {number}));
  require_same(signatures, Compared::rank_and_dtype);
  std::vector<std::int64_t> numbers;
  for (const auto& signature : signatures) numbers.push_back(signature.shape.front());
  return numbers;
}

void require_same(const std::vector<Signature>& signatures, Compared compared) {
  const auto& first = signatures.front();
  const bool equal = std::ranges::all_of(
      signatures, [&](const Signature& other) { return same(first, other, compared); });
  const bool possible = first.kind == Signature::Kind::dense ||
                        first.kind == Signature::Kind::structure ||
                        first.kind == Signature::Kind::object;
  if (equal && possible) return;
  if (equal) {
    throw ConfigError(text(first) + ": it takes a dense one of at most " +
                      std::to_string(most_dims) + " dimensions");
  }
  std::string message = "ranks do not call the same:";
  for (std::size_t rank = 0; rank < signatures.size(); ++rank) {
    message += "\n  rank " + std::to_string(rank) + ": " + text(signatures[rank]);
  }
  const bool same_call = std::ranges::all_of(signatures, [&](const Signature& other) {
    return other.operation == first.operation && other.kind == first.kind &&
           other.dtype == first.dtype;
  });
  if (same_call && compared == Compared::shape) {
    message += "\npad_across_processes makes shapes equal; gather_uneven takes rows of any number";
  }
  throw ModelError(message);
}

}  // namespace muster::collectives

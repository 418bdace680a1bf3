#include "signature.hpp"

#include <muster/error.hpp>
#include <muster/tensor_text.hpp>

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <cstring>

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

Record record_of(std::string_view operation, const at::Tensor& tensor) {
  Record record{};
  std::copy_n(operation.begin(), std::min(operation.size(), name_bytes - 1),
              record.operation.begin());
  record.kind = kind_of(tensor);
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
          static_cast<at::ScalarType>(record.dtype)};
}

std::string tensor_text(const Signature& signature) {
  switch (signature.kind) {
    case Signature::Kind::undefined:
      return "an undefined tensor";
    case Signature::Kind::too_many_dimensions:
      return "a tensor of more than " + std::to_string(most_dims) + " dimensions";
    case Signature::Kind::not_dense:
      return "a tensor that is not dense";
    case Signature::Kind::dense:
      break;
  }
  return to_text(signature.shape) + ' ' + to_text(signature.dtype);
}

std::string text(const Signature& signature) {
  return signature.operation + " of " + tensor_text(signature);
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

}  // namespace

std::vector<Signature> exchange(Communicator& group, std::string_view operation,
                                const at::Tensor& tensor) {
  const auto mine = record_of(operation, tensor);
  if (group.size() == 1) return {read(mine)};
  const auto size = static_cast<std::int64_t>(sizeof(Record));
  auto sent = at::empty({size}, at::kByte);
  auto received = at::empty({group.size(), size}, at::kByte);
  std::memcpy(sent.mutable_data_ptr(), &mine, sizeof(Record));
  group.all_gather(received, sent, std::string(operation) + ": shapes").wait();
  std::vector<Signature> result;
  const auto* bytes = static_cast<const char*>(received.const_data_ptr());
  for (int rank = 0; rank < group.size(); ++rank, bytes += sizeof(Record)) {
    Record record;
    std::memcpy(&record, bytes, sizeof(Record));
    result.push_back(read(record));
  }
  return result;
}

void require_same(const std::vector<Signature>& signatures, Compared compared) {
  const auto& first = signatures.front();
  const bool equal = std::ranges::all_of(
      signatures, [&](const Signature& other) { return same(first, other, compared); });
  if (equal && first.kind == Signature::Kind::dense) return;
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
    message +=
        "\npad_across_processes makes shapes equal; gather_for_metrics takes rows of any number";
  }
  throw ModelError(message);
}

}  // namespace muster::collectives

#include "data/dispatch/packing.hpp"

#include <muster/error.hpp>
#include <muster/tensor_text.hpp>
#include <muster/visit_parts.hpp>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace muster {
namespace {

enum class Kind : char { tensor = 'T', undefined = 'U', number = 'N', text = 'S', list = 'L' };

/// Tensors begin on a cache line.
constexpr std::int64_t line = 64;
constexpr std::int64_t padded(std::int64_t bytes) { return (bytes + line - 1) / line * line; }
std::int64_t bytes_of(const at::Tensor& tensor) {
  return static_cast<std::int64_t>(tensor.nbytes());
}

/// Collects a batch's parts.
class Packer : public PartVisitor {
 public:
  void tensor(at::Tensor& tensor) override {
    if (!tensor.defined()) return put(Kind::undefined);
    if (tensor.layout() != at::kStrided) {
      throw UnsupportedError("data loader: dispatch cannot send " + describe_tensor(tensor) +
                             ", which is not dense: give the loader a collate function that makes "
                             "it dense");
    }
    put(Kind::tensor);
    put(static_cast<std::int8_t>(tensor.scalar_type()));
    put(tensor.dim());
    for (const std::int64_t size : tensor.sizes()) put(size);
    tensors_.push_back(tensor.detach().resolve_conj().resolve_neg().cpu().contiguous());
  }
  void number(std::span<std::byte> bytes) override {
    put(Kind::number);
    put(bytes.size());
    put_bytes(bytes.data(), bytes.size());
  }
  void text(std::string& text) override {
    put(Kind::text);
    put(text.size());
    put_bytes(text.data(), text.size());
  }
  std::size_t list(std::size_t length) override {
    put(Kind::list);
    put(length);
    return length;
  }

  at::Tensor bytes() const {
    const auto head = static_cast<std::int64_t>(head_.size());
    std::int64_t total = padded(head + 8);
    for (const auto& tensor : tensors_) total += padded(bytes_of(tensor));
    at::Tensor result = at::empty({total}, at::TensorOptions(at::kByte));
    auto* to = static_cast<char*>(result.mutable_data_ptr());
    std::memcpy(to, &head, sizeof head);
    std::memcpy(to + 8, head_.data(), head_.size());
    to += padded(head + 8);
    for (const auto& tensor : tensors_) {
      if (tensor.nbytes() > 0) std::memcpy(to, tensor.const_data_ptr(), tensor.nbytes());
      to += padded(bytes_of(tensor));
    }
    return result;
  }

 private:
  template <class T>
  void put(const T& value) {
    put_bytes(&value, sizeof value);
  }
  void put_bytes(const void* data, std::size_t size) {
    head_.append(static_cast<const char*>(data), size);
  }

  std::string head_;
  std::vector<at::Tensor> tensors_;
};

/// Gives a batch its parts back.
class Unpacker : public PartVisitor {
 public:
  explicit Unpacker(at::Tensor bytes) : bytes_(std::move(bytes)) {
    const auto* data = static_cast<const char*>(bytes_.const_data_ptr());
    std::int64_t head = 0;
    if (bytes_.numel() < line) refuse();
    std::memcpy(&head, data, sizeof head);
    if (head < 0 || padded(head + 8) > bytes_.numel()) refuse();
    next_ = data + 8;
    end_ = next_ + head;
    offset_ = padded(head + 8);
  }

  void tensor(at::Tensor& tensor) override {
    const Kind kind = get<Kind>();
    if (kind == Kind::undefined) {
      tensor = at::Tensor();
      return;
    }
    if (kind != Kind::tensor) refuse();
    const auto dtype = static_cast<at::ScalarType>(get<std::int8_t>());
    std::vector<std::int64_t> sizes(get<std::size_t>());
    for (auto& size : sizes) size = get<std::int64_t>();
    auto* from = static_cast<char*>(bytes_.mutable_data_ptr()) + offset_;
    tensor = at::from_blob(
        from, sizes, [bytes = bytes_](void*) {}, at::TensorOptions(dtype));
    offset_ += padded(bytes_of(tensor));
    if (offset_ > bytes_.numel()) refuse();
  }
  void number(std::span<std::byte> bytes) override {
    require(Kind::number);
    if (get<std::size_t>() != bytes.size()) refuse();
    get_bytes(bytes.data(), bytes.size());
  }
  void text(std::string& text) override {
    require(Kind::text);
    const auto length = get<std::size_t>();
    if (length > static_cast<std::size_t>(end_ - next_)) refuse();
    text.assign(next_, length);
    next_ += length;
  }
  std::size_t list(std::size_t) override {
    require(Kind::list);
    return get<std::size_t>();
  }

  void require_end() const {
    if (next_ != end_) refuse();
  }

 private:
  [[noreturn]] static void refuse() {
    throw ModelError(
        "data loader: rank 0 sent a batch of another type than this rank expects: all ranks have "
        "to run the same program");
  }
  void require(Kind kind) {
    if (get<Kind>() != kind) refuse();
  }
  template <class T>
  T get() {
    T value{};
    get_bytes(&value, sizeof value);
    return value;
  }
  void get_bytes(void* to, std::size_t size) {
    if (size > static_cast<std::size_t>(end_ - next_)) refuse();
    std::memcpy(to, next_, size);
    next_ += size;
  }

  at::Tensor bytes_;
  const char *next_ = nullptr, *end_ = nullptr;
  std::int64_t offset_ = 0;
};

}  // namespace

at::Tensor pack(const std::function<void(PartVisitor&)>& visit) {
  Packer packer;
  visit(packer);
  return packer.bytes();
}

void unpack(const at::Tensor& bytes, const std::function<void(PartVisitor&)>& visit) {
  Unpacker unpacker(bytes);
  visit(unpacker);
  unpacker.require_end();
}

}  // namespace muster

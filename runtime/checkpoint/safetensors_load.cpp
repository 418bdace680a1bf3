#include <muster/error.hpp>
#include <muster/safetensors.hpp>

#include "checkpoint/safetensors_header.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <sys/stat.h>
#include <unistd.h>

namespace muster {
namespace {

/// A regular file that is open for reading.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path)
      : name_(path.string()), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat found {};
    if (descriptor_ < 0 || fstat(descriptor_, &found) != 0) {
      const int reason = errno;
      if (descriptor_ >= 0) close(descriptor_);
      throw CheckpointError("cannot read '" + name_ + "': " + std::strerror(reason));
    }
    if (!S_ISREG(found.st_mode)) {
      close(descriptor_);
      throw CheckpointError("cannot read '" + name_ + "': it is " +
                            (S_ISDIR(found.st_mode) ? "a folder" : "no regular file"));
    }
    size_ = static_cast<std::uint64_t>(found.st_size);
  }
  ~InputFile() { close(descriptor_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& name() const noexcept { return name_; }
  std::uint64_t size() const noexcept { return size_; }

  void read(std::uint64_t offset, void* memory, std::uint64_t bytes) const {
    auto* next = static_cast<char*>(memory);
    while (bytes > 0) {
      const ssize_t got = pread(descriptor_, next, bytes, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        throw CheckpointError("cannot read '" + name_ + "': " +
                              (got == 0 ? "it became shorter meanwhile" : std::strerror(errno)));
      }
      next += got;
      offset += static_cast<std::uint64_t>(got);
      bytes -= static_cast<std::uint64_t>(got);
    }
  }

 private:
  std::string name_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

std::uint64_t header_bytes(const InputFile& file) {
  std::array<std::byte, sizeof(std::uint64_t)> first{};
  const std::size_t there = std::min<std::uint64_t>(first.size(), file.size());
  file.read(0, first.data(), there);
  return safetensors_header_length(std::span(first).first(there), file.size(), file.name());
}

}  // namespace

Safetensors load_safetensors(const std::filesystem::path& path) {
  const InputFile file(path);
  std::string json(header_bytes(file), '\0');
  file.read(sizeof(std::uint64_t), json.data(), json.size());
  const std::uint64_t start = sizeof(std::uint64_t) + json.size();
  SafetensorsHeader header = parse_safetensors_header(json, file.size() - start, file.name());
  Safetensors result;
  result.metadata = std::move(header.metadata);
  for (SafetensorsEntry& entry : header.entries) {
    at::Tensor tensor = at::empty(entry.shape, at::TensorOptions(entry.dtype));
    file.read(start + entry.begin, tensor.mutable_data_ptr(), entry.end - entry.begin);
    result.tensors.push_back({std::move(entry.name), std::move(tensor)});
  }
  return result;
}

const at::Tensor* Safetensors::find(std::string_view name) const {
  const auto stored = [&](std::string_view wanted) -> const at::Tensor* {
    const auto at = std::ranges::find(
        tensors, wanted, [](const auto& named) -> std::string_view { return named.name; });
    return at == tensors.end() ? nullptr : &at->tensor;
  };
  if (const at::Tensor* tensor = stored(name)) return tensor;
  const auto alias = metadata.find(std::string(name));
  return alias == metadata.end() ? nullptr : stored(alias->second);
}

}  // namespace muster

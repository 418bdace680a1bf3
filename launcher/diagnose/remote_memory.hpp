#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sys/types.h>
#include <unordered_map>
#include <vector>

namespace muster::launcher {

/// Memory of another process, read a page at a time and kept, up to a limit: for what does not
/// change, its code and constants. Stacks, which do, are kept as they were when they were copied.
class RemoteMemory {
 public:
  explicit RemoteMemory(pid_t pid) : pid_(pid) {}

  /// False if some of it cannot be read.
  bool read(std::uint64_t address, void* to, std::size_t size);
  template <class Value>
  bool read(std::uint64_t address, Value& value) {
    return read(address, &value, sizeof value);
  }

  /// From now on `bytes` are what lies at `address`.
  void use(std::uint64_t address, const std::vector<char>& bytes);

  /// A copy of at most `size` bytes, as they are now; shorter where the memory ends.
  std::vector<char> copy(std::uint64_t address, std::size_t size) const;

 private:
  static constexpr std::size_t page_size = 4096;
  static constexpr std::size_t most_pages = 2048;  ///< Nothing that is whole needs so many.
  using Page = std::array<char, page_size>;

  const Page* page(std::uint64_t number);

  pid_t pid_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;  ///< Null: cannot be read.
  std::uint64_t kept_at_ = 0;
  const std::vector<char>* kept_ = nullptr;
};

/// Reads numbers one after the other, in the ways of DWARF. After the first that cannot be read all
/// are 0, and failed() says so.
class RemoteReader {
 public:
  RemoteReader(RemoteMemory& memory, std::uint64_t address) : memory_(&memory), address_(address) {}

  template <class Value>
  Value take() {
    Value value{};
    if (failed_ || !memory_->read(address_, value)) {
      failed_ = true;
      return Value{};
    }
    address_ += sizeof value;
    return value;
  }
  std::uint64_t uleb();
  std::int64_t sleb();
  /// A pointer in one of the encodings of exception tables (DW_EH_PE_*). `data`: what those that
  /// are relative to data are relative to. What has to be looked up elsewhere is a failure.
  std::uint64_t pointer(std::uint8_t encoding, std::uint64_t data);

  std::uint64_t address() const noexcept { return address_; }
  void skip(std::uint64_t bytes) noexcept { address_ += bytes; }
  bool failed() const noexcept { return failed_; }
  RemoteMemory& memory() const noexcept { return *memory_; }

 private:
  std::int64_t plain(std::uint8_t format);

  RemoteMemory* memory_;
  std::uint64_t address_;
  bool failed_ = false;
};

}  // namespace muster::launcher

#include "diagnose/remote_memory.hpp"

#include <algorithm>
#include <cstring>
#include <sys/uio.h>

namespace muster::launcher {
namespace {

/// Bits; seven more come in each byte.
constexpr unsigned longest_number = 63;

ssize_t read_process(pid_t pid, std::uint64_t address, void* to, std::size_t size) {
  const iovec local{to, size};
  // An address of another process, which is never followed here.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  const iovec remote{reinterpret_cast<void*>(address), size};
  return ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

}  // namespace

const RemoteMemory::Page* RemoteMemory::page(std::uint64_t number) {
  if (pages_.size() >= most_pages && !pages_.contains(number)) return nullptr;
  const auto [entry, is_new] = pages_.try_emplace(number);
  if (is_new) {
    auto fresh = std::make_unique<Page>();
    const auto got = read_process(pid_, number * page_size, fresh->data(), page_size);
    if (got == static_cast<ssize_t>(page_size)) entry->second = std::move(fresh);
  }
  return entry->second.get();
}

bool RemoteMemory::read(std::uint64_t address, void* to, std::size_t size) {
  if (kept_ && address >= kept_at_ && address - kept_at_ <= kept_->size() &&
      size <= kept_->size() - (address - kept_at_)) {
    std::memcpy(to, kept_->data() + (address - kept_at_), size);
    return true;
  }
  auto* out = static_cast<char*>(to);
  while (size > 0) {
    const Page* const from = page(address / page_size);
    if (!from) return false;
    const std::size_t offset = address % page_size;
    const std::size_t part = std::min(size, page_size - offset);
    std::memcpy(out, from->data() + offset, part);
    out += part;
    address += part;
    size -= part;
  }
  return true;
}

void RemoteMemory::use(std::uint64_t address, const std::vector<char>& bytes) {
  kept_at_ = address;
  kept_ = &bytes;
}

std::vector<char> RemoteMemory::copy(std::uint64_t address, std::size_t size) const {
  std::vector<char> bytes(size);
  const auto got = read_process(pid_, address, bytes.data(), size);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

std::uint64_t RemoteReader::uleb() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; !failed_; shift += 7) {
    if (shift > longest_number) failed_ = true;
    const auto byte = take<std::uint8_t>();
    if (shift < 64) value |= std::uint64_t{byte & 0x7FU} << shift;
    if ((byte & 0x80U) == 0) break;
  }
  return value;
}

std::int64_t RemoteReader::sleb() {
  std::uint64_t value = 0;
  unsigned shift = 0;
  std::uint8_t byte = 0x80;
  while (!failed_ && (byte & 0x80U) != 0) {
    if (shift > longest_number) failed_ = true;
    byte = take<std::uint8_t>();
    if (shift < 64) value |= std::uint64_t{byte & 0x7FU} << shift;
    shift += 7;
  }
  if ((byte & 0x40U) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
  return static_cast<std::int64_t>(value);
}

std::int64_t RemoteReader::plain(std::uint8_t format) {
  switch (format) {
    case 0x00:  // As wide as a pointer.
    case 0x04:
    case 0x0c:
      return take<std::int64_t>();
    case 0x01:
      return static_cast<std::int64_t>(uleb());
    case 0x09:
      return sleb();
    case 0x02:
      return take<std::uint16_t>();
    case 0x0a:
      return take<std::int16_t>();
    case 0x03:
      return take<std::uint32_t>();
    case 0x0b:
      return take<std::int32_t>();
    default:
      failed_ = true;
      return 0;
  }
}

std::uint64_t RemoteReader::pointer(std::uint8_t encoding, std::uint64_t data) {
  constexpr std::uint8_t omitted = 0xff, indirect = 0x80;
  constexpr std::uint8_t relative_to_itself = 0x10, relative_to_data = 0x30;
  if (encoding == omitted) return 0;
  const auto here = address_;
  auto value = static_cast<std::uint64_t>(plain(encoding & 0x0fU));
  const auto base = static_cast<std::uint8_t>(encoding & 0x70U);
  if (base == relative_to_itself) {
    value += here;
  } else if (base == relative_to_data) {
    value += data;
  } else if (base != 0) {
    failed_ = true;
  }
  if ((encoding & indirect) != 0 && !failed_ && !memory_->read(value, value)) failed_ = true;
  return value;
}

}  // namespace muster::launcher

#include "tracking/line_file.hpp"

#include <muster/tracker.hpp>
#include <muster/write_all.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace muster::tracking {

void throw_file_trouble(const char* doing, const std::filesystem::path& path, int reason) {
  throw TrackerError("cannot " + std::string(doing) + " '" + path.string() +
                     "': " + std::strerror(reason));
}

LineFile::LineFile(const std::filesystem::path& path, std::int64_t keep)
    : path_(path),
      descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)),
      size_(keep) {
  if (descriptor_ < 0) fail("write", errno);
  if (ftruncate(descriptor_, keep) == 0) return;
  const int reason = errno;
  close(std::exchange(descriptor_, -1));
  fail("write", reason);
}

LineFile::~LineFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

LineFile::LineFile(LineFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

LineFile& LineFile::operator=(LineFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

void LineFile::append(std::string_view piece) {
  const int reason = write_all(descriptor_, piece);
  if (reason != 0) {
    // A full disk takes a part; a half line would spoil the file.
    if (ftruncate(descriptor_, size_) != 0) fail("shorten", errno);
    fail("write", reason);
  }
  size_ += static_cast<std::int64_t>(piece.size());
}

void LineFile::fail(const char* doing, int reason) const {
  throw_file_trouble(doing, path_, reason);
}

void swap_file(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path part = path.string() + ".part";
  const int descriptor = open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) throw_file_trouble("write", part, errno);
  int reason = write_all(descriptor, text);
  if (close(descriptor) != 0 && reason == 0) reason = errno;
  if (reason == 0 && rename(part.c_str(), path.c_str()) != 0) reason = errno;
  if (reason == 0) return;
  unlink(part.c_str());
  throw_file_trouble("write", path, reason);
}

std::string read_whole(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) return {};
  if (descriptor < 0) throw_file_trouble("read", path, errno);
  std::string text;
  std::string block(1 << 16, '\0');
  ssize_t count = 0;
  do {
    count = read(descriptor, block.data(), block.size());
    if (count > 0) text.append(block, 0, static_cast<std::size_t>(count));
  } while (count > 0 || (count < 0 && errno == EINTR));
  const int reason = count < 0 ? errno : 0;
  close(descriptor);
  if (reason != 0) throw_file_trouble("read", path, reason);
  return text;
}

}  // namespace muster::tracking

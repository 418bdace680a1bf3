#include "checkpoint/atomic_file.hpp"

#include <muster/error.hpp>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster {
namespace {

namespace fs = std::filesystem;

/// Calls `function` until no signal interrupts it.
template <class Function>
auto uninterrupted(Function function) {
  auto result = function();
  while (result < 0 && errno == EINTR) result = function();
  return result;
}

/// Locks a file that this process writes, so that others leave it alone. False if it was removed
/// meanwhile. A file system without locks has nothing to say.
bool hold(int descriptor) {
  uninterrupted([&] { return flock(descriptor, LOCK_EX); });
  struct stat found {};
  return fstat(descriptor, &found) != 0 || found.st_nlink > 0;
}

/// Removes what killed processes have left in `folder`: parts that nobody holds, on any host.
void remove_left_overs(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator next(folder, error), end; !error && next != end;
       next.increment(error)) {
    const std::string name = next->path().filename().string();
    if (!name.starts_with(".muster-") || !name.ends_with(".part")) continue;
    const int part = open(next->path().c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (part < 0) continue;
    if (flock(part, LOCK_EX | LOCK_NB) == 0) unlink(next->path().c_str());
    close(part);
  }
}

fs::path target_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& path) : path_(target_of(path)) {
  struct stat found {};
  if (stat(path_.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) {
    throw CheckpointError("cannot write '" + path_.string() + "': it is " +
                          (S_ISDIR(found.st_mode) ? "a folder" : "no regular file"));
  }
  const fs::path parent = path_.parent_path();
  const fs::path folder = parent.empty() ? "." : parent;
  remove_left_overs(folder);
  create(folder);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::create(const fs::path& folder) {
  static std::atomic<unsigned> counter{0};
  do {
    if (descriptor_ >= 0) close(descriptor_);
    temporary_ = folder / (".muster-" + std::to_string(getpid()) + "-" + std::to_string(counter++) +
                           ".part");
    descriptor_ = uninterrupted(
        [&] { return open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644); });
    // The name is another's, or was taken for a left-over before it was locked.
  } while (descriptor_ < 0 ? errno == EEXIST : !hold(descriptor_));
  if (descriptor_ >= 0) return;
  temporary_.clear();
  check(false, "create a file in its folder");
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written =
        uninterrupted([&] { return ::write(descriptor_, bytes.data(), bytes.size()); });
    check(written >= 0, "write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  check(uninterrupted([&] { return fsync(descriptor_); }) == 0, "flush");
  const int closed = close(descriptor_);
  descriptor_ = -1;
  check(closed == 0, "close");
  check(rename(temporary_.c_str(), path_.c_str()) == 0, "rename");
  const fs::path folder = temporary_.parent_path();
  temporary_.clear();
  // The new name is durable once its folder is. Some file systems cannot flush folders, and say so;
  // and a folder may be written and not read. The file is in its place all the same.
  const int opened =
      uninterrupted([&] { return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (opened < 0 && errno == EACCES) return;
  check(opened >= 0, "flush its folder");
  const int flushed = uninterrupted([&] { return fsync(opened); });
  const int reason = errno;
  close(opened);
  errno = reason;
  check(flushed == 0 || reason == EINVAL || reason == ENOTSUP, "flush its folder");
}

void AtomicFile::check(bool success, const char* step) const {
  if (success) return;
  const int reason = errno;
  throw CheckpointError("cannot write '" + path_.string() + "': " + step + ": " +
                        std::strerror(reason));
}

}  // namespace muster

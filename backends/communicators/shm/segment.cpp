#include "communicators/shm/segment.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace muster::shm {
namespace {

[[noreturn]] void fail(int reason, const std::string& what) {
  throw std::system_error(reason, std::generic_category(), what);
}

}  // namespace

Segment Segment::create(std::size_t bytes, std::size_t reserved) {
  const int descriptor = memfd_create("muster", MFD_CLOEXEC);
  if (descriptor < 0) fail(errno, "memfd_create");
  int reason = ftruncate(descriptor, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  // Now, and not as a bus error when it is used.
  if (reason == 0) reason = posix_fallocate(descriptor, 0, static_cast<off_t>(reserved));
  if (reason != 0) {
    ::close(descriptor);
    fail(reason, std::to_string(reserved) + " bytes of shared memory");
  }
  return {descriptor, bytes};
}

Segment Segment::open(pid_t owner, int descriptor, std::size_t bytes) {
  const std::string path = "/proc/" + std::to_string(owner) + "/fd/" + std::to_string(descriptor);
  const int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0) fail(errno, path);
  struct stat found {};
  if (fstat(opened, &found) != 0 || static_cast<std::size_t>(found.st_size) != bytes) {
    ::close(opened);
    fail(EINVAL, path + " is another file");
  }
  return {opened, bytes};
}

Segment::Segment(int descriptor, std::size_t bytes) : descriptor_(descriptor), bytes_(bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) {
    const int reason = errno;
    ::close(descriptor);
    fail(reason, "mapping " + std::to_string(bytes) + " bytes of shared memory");
  }
  // A child that the program forks has nothing to do with the group.
  madvise(memory, bytes, MADV_DONTFORK);
  data_ = static_cast<std::byte*>(memory);
}

Segment::Segment(Segment&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(other.bytes_),
      data_(std::exchange(other.data_, nullptr)) {}

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  std::swap(data_, other.data_);
  return *this;
}

Segment::~Segment() {
  close_descriptor();
  if (data_ != nullptr) munmap(data_, bytes_);
}

void Segment::close_descriptor() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace muster::shm

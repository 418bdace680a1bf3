#include "data/disk/mapped_file.hpp"

#include <muster/data_error.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster {
namespace {

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  int number;
};

/// Bytes of an open regular file.
std::size_t size_of(const Descriptor& file, const std::string& name) {
  struct stat found {};
  if (file.number < 0 || fstat(file.number, &found) != 0) {
    throw DataError(name + ": cannot be read: " + std::strerror(errno));
  }
  if (!S_ISREG(found.st_mode)) {
    throw DataError(name + ": cannot be mapped: it is " +
                    (S_ISDIR(found.st_mode) ? "a folder" : "no regular file"));
  }
  return static_cast<std::size_t>(found.st_size);
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : name_(path.string()) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const std::size_t size = size_of(file, name_);
  if (size == 0) return;  // mmap refuses it.
  // Private and writable: a program may change a tensor in place, which must not end it.
  void* memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.number, 0);
  if (memory == MAP_FAILED) throw DataError(name_ + ": cannot be mapped: " + std::strerror(errno));
  bytes_ = {static_cast<std::byte*>(memory), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

}  // namespace muster

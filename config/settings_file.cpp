#include "settings_file.hpp"

#include <muster/error.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster {
namespace {

/// No settings file comes near; a larger one is something else, given by mistake.
constexpr off_t largest_file = 1 << 20;

class File {
 public:
  // Without O_NONBLOCK, opening a FIFO would wait for somebody to write to it.
  explicit File(const std::filesystem::path& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

void check_trust(const std::filesystem::path& path, const std::string& name,
                 const struct stat& file) {
  const std::string consent =
      "; if you want it: --config ./" + path.filename().string() + ", if not: --no-config";
  if ((file.st_mode & S_IWOTH) != 0) {
    throw ConfigError(name + ": not read, because everybody may write to it" + consent);
  }
  struct stat folder {};
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  const bool known = stat(parent.c_str(), &folder) == 0;
  const bool ours = file.st_uid == geteuid() || file.st_uid == 0;
  if (ours || (known && file.st_uid == folder.st_uid)) return;
  throw ConfigError(name + ": not read, because it belongs to user " + std::to_string(file.st_uid) +
                    ", not to you, to root or to the folder's owner" + consent);
}

std::string read_all(int fd, const std::string& name) {
  std::string text;
  char buffer[16384];
  while (true) {
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw ConfigError(name + ": cannot be read: " + std::strerror(errno));
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (static_cast<off_t>(text.size()) > largest_file) {
      throw ConfigError(name + ": larger than 1 MiB: not a settings file");
    }
  }
}

void check_text(const std::string& text, const std::string& name) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw ConfigError(name + ": is UTF-16; expected TOML in UTF-8");
  }
  const auto zero = text.find('\0');
  if (zero == std::string::npos) return;
  throw ConfigError(name + ": not text: byte " + std::to_string(zero + 1) +
                    " is zero; expected TOML");
}

}  // namespace

std::optional<std::string> read_settings_file(const std::filesystem::path& path,
                                              const std::string& name, Trust trust) {
  const File file(path);
  if (file.fd() < 0) {
    if (errno == ENOENT || (errno == ENOTDIR && trust == Trust::unnamed)) return std::nullopt;
    throw ConfigError(name + ": cannot be opened: " + std::strerror(errno));
  }
  struct stat status {};
  if (fstat(file.fd(), &status) != 0) {
    throw ConfigError(name + ": cannot be read: " + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    throw ConfigError(name + ": is " + kind_of(status.st_mode) + "; expected a TOML file");
  }
  if (trust == Trust::unnamed) check_trust(path, name, status);
  if (status.st_size > largest_file) {
    throw ConfigError(name + ": " + std::to_string(status.st_size) +
                      " bytes: larger than 1 MiB, not a settings file");
  }
  std::string text = read_all(file.fd(), name);
  check_text(text, name);
  return text;
}

}  // namespace muster

#include <muster/error.hpp>
#include <muster/replace_file.hpp>
#include <muster/write_all.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace muster {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what, int error) {
  throw Error(path.string() + ": " + what + ": " + std::strerror(error));
}

/// A signal between the making of the new file and its renaming would leave it lying about.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&ending, signal);
    pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  sigset_t before_{};
};

/// The file that a path means in the end; it need not exist.
std::filesystem::path end_of_links(std::filesystem::path path) {
  constexpr int most = 40;  // As many as the kernel follows.
  std::error_code none;
  for (int i = 0; std::filesystem::is_symlink(path, none); ++i) {
    if (i == most) fail(path, "cannot be written", ELOOP);
    const auto target = std::filesystem::read_symlink(path);
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  return path;
}

/// The file beside the old one that is to take its place; gone with this object unless it did.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& target)
      : target_(target),
        path_(target.parent_path() /
              ("." + target.filename().string() + "." + std::to_string(getpid()) + ".new")) {
    constexpr mode_t all_that_umask_allows = 0666;
    unlink(path_.c_str());  // Left by a process of this number that was killed.
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, all_that_umask_allows);
    if (fd_ < 0) fail(target_, "cannot be written, for its folder cannot be", errno);
  }
  ~NewFile() {
    if (fd_ >= 0) close(fd_);
    if (!renamed_) unlink(path_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void be_like(const struct stat& old) const {
    struct stat ours {};
    if (fstat(fd_, &ours) != 0) fail(target_, "cannot be written", errno);
    const bool same = ours.st_uid == old.st_uid && ours.st_gid == old.st_gid;
    if (!same && fchown(fd_, old.st_uid, old.st_gid) != 0) {
      fail(target_, "not written, for it would not keep its owner and group", errno);
    }
    if (fchmod(fd_, old.st_mode & 07777) != 0) fail(target_, "cannot be written", errno);
  }

  void fill(std::string_view text) {
    if (const int error = write_all(fd_, text)) fail(target_, "not written", error);
    if (fsync(fd_) != 0) fail(target_, "not written", errno);
    const int fd = fd_;
    fd_ = -1;
    if (close(fd) != 0) fail(target_, "not written", errno);
  }

  void take_its_place() {
    if (rename(path_.c_str(), target_.c_str()) != 0) fail(target_, "not written", errno);
    renamed_ = true;
  }

 private:
  std::filesystem::path target_, path_;
  int fd_ = -1;
  bool renamed_ = false;
};

/// The name too must be on the disk. Some file systems cannot do that for a folder.
void sync_folder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

}  // namespace

void replace_file(const std::filesystem::path& path, std::string_view text) {
  auto target = end_of_links(path);
  if (!target.has_parent_path()) target = "." / target;
  struct stat old {};
  const bool exists = stat(target.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) throw Error(path.string() + ": is no regular file");
  if (exists && access(target.c_str(), W_OK) != 0) fail(path, "cannot be written", errno);
  const SignalsWait wait;
  NewFile file(target);
  if (exists) file.be_like(old);
  file.fill(text);
  file.take_its_place();
  sync_folder(target.parent_path());
}

}  // namespace muster

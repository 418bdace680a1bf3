#include <muster/error.hpp>
#include <muster/replace_file.hpp>

#include "config/support.hpp"

#include <catch2/catch_test_macros.hpp>

#include <csignal>
#include <fstream>
#include <iterator>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace muster {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t files_in(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::string error_of(const std::filesystem::path& path, std::string_view text) {
  try {
    replace_file(path, text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Runs `call` in a process of its own and returns its exit code.
int in_child(const std::function<int()>& call) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(call());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("a new file has the mode that the umask allows, and nothing is left beside it") {
  const test::TempFolder folder;
  const auto path = folder.path() / "f";
  const auto before = umask(027);
  replace_file(path, "new");
  umask(before);
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK(read(path) == "new");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a file that is replaced keeps its mode and owner") {
  const test::TempFolder folder;
  const auto path = folder.write("f", "old");
  REQUIRE(chmod(path.c_str(), 0604) == 0);
  const bool root = geteuid() == 0;
  if (root) REQUIRE(chown(path.c_str(), 4711, 4712) == 0);
  replace_file(path, "new");
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0604);
  if (root) CHECK((status.st_uid == 4711 && status.st_gid == 4712));
  CHECK(read(path) == "new");
}

TEST_CASE("a link stays, and the file that it means is replaced") {
  const test::TempFolder folder;
  const auto file = folder.write("real/f", "old");
  const auto link = folder.path() / "link", second = folder.path() / "second";
  std::filesystem::create_symlink("real/f", link);
  std::filesystem::create_symlink(link, second);
  replace_file(second, "new");
  CHECK(std::filesystem::is_symlink(link));
  CHECK(std::filesystem::is_symlink(second));
  CHECK(read(file) == "new");
  std::filesystem::remove(file);
  replace_file(link, "again");
  CHECK(read(file) == "again");
  const auto loop = folder.path() / "loop";
  std::filesystem::create_symlink("loop", loop);
  CHECK_FALSE(error_of(loop, "x").empty());
}

TEST_CASE("a full disk leaves the old file whole") {
  const test::TempFolder folder;
  const auto path = folder.write("f", "old");
  const int code = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100, 100};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 3;
    return error_of(path, std::string(1000, 'x')).find("not written") != std::string::npos ? 0 : 1;
  });
  CHECK(code == 0);
  CHECK(read(path) == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("what may not be written to is told, and stays") {
  const test::TempFolder folder;
  std::filesystem::create_directory(folder.path() / "folder");
  CHECK(error_of(folder.path() / "folder", "x").find("is no regular file") != std::string::npos);
  CHECK_FALSE(error_of(folder.path() / "none" / "f", "x").empty());
  if (geteuid() == 0) return;  // To root everything is open.
  const auto path = folder.write("f", "old");
  REQUIRE(chmod(path.c_str(), 0444) == 0);
  CHECK(error_of(path, "x").find("cannot be written") != std::string::npos);
  CHECK(read(path) == "old");
}

TEST_CASE("an owner that could not be kept is not lost") {
  if (geteuid() != 0) SKIP("only root can make a file that belongs to somebody else");
  const test::TempFolder folder;
  const auto path = folder.write("f", "old");
  REQUIRE(chmod(folder.path().c_str(), 0777) == 0);
  REQUIRE(chmod(path.c_str(), 0666) == 0);
  const int code = in_child([&] {
    if (setgid(4712) != 0 || setuid(4711) != 0) return 3;
    return error_of(path, "x").find("owner") != std::string::npos ? 0 : 1;
  });
  CHECK(code == 0);
  CHECK(read(path) == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a signal waits until the file is in its place") {
  const test::TempFolder folder;
  const auto path = folder.path() / "f";
  // The text is large enough for the signal to come while it is written.
  const std::string text(8 << 20, 'x');
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGTERM, SIG_DFL);  // Catch2 has a handler of its own.
    while (true) replace_file(path, text);
  }
  while (!std::filesystem::exists(path)) usleep(1000);
  REQUIRE(kill(child, SIGTERM) == 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(read(path).size() == text.size());
  CHECK(files_in(folder.path()) == 1);
}

}  // namespace muster

#include "checkpoint/atomic_file.hpp"

#include <muster/error.hpp>

#include "temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <csignal>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;

void write(AtomicFile& file, std::string_view text) { file.write(std::as_bytes(std::span(text))); }

/// Stands for a full disk: files of this process cannot grow past `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST_CASE("a file appears when it is committed") {
  const TemporaryFolder folder;
  write_bytes(folder / "a", "old");
  {
    AtomicFile file(folder / "a");
    write(file, "new ");
    write(file, "text");
    CHECK(bytes_of(folder / "a") == "old");
    CHECK(folder.files() == 2);
    file.commit();
    CHECK(bytes_of(folder / "a") == "new text");
  }
  CHECK(folder.files() == 1);
}

TEST_CASE("a file that is not committed leaves nothing") {
  const TemporaryFolder folder;
  {
    AtomicFile file(folder / "a");
    write(file, "text");
  }
  CHECK(folder.files() == 0);
}

TEST_CASE("a full disk leaves the old file whole and no other") {
  const TemporaryFolder folder;
  write_bytes(folder / "a", "old");
  const auto save = [&] {
    const FileSizeLimit limit(10'000);
    AtomicFile file(folder / "a");
    write(file, std::string(8'000, 'x'));
    write(file, std::string(8'000, 'y'));
    file.commit();
  };
  CHECK_THROWS_AS(save(), CheckpointError);
  CHECK_THROWS_WITH(
      save(), ContainsSubstring("File too large") && ContainsSubstring((folder / "a").string()));
  CHECK(bytes_of(folder / "a") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("places that cannot be written are named") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(AtomicFile(folder / "none/a"),
                    ContainsSubstring("none/a") && ContainsSubstring("No such file or directory"));
  CHECK_THROWS_WITH(AtomicFile(folder.path()), ContainsSubstring("it is a folder"));
  CHECK_THROWS_WITH(AtomicFile("/dev/full"), ContainsSubstring("it is no regular file"));
}

TEST_CASE("a left-over of a killed process is no obstacle") {
  const TemporaryFolder folder;
  std::vector<std::filesystem::path> names;
  {
    const AtomicFile file(folder / "a");
    names.push_back(*std::filesystem::directory_iterator(folder.path()));
  }
  const std::string name = names.front().string();
  const std::size_t dash = name.rfind('-');
  const int number = std::stoi(name.substr(dash + 1));
  write_bytes(name.substr(0, dash + 1) + std::to_string(number + 1) + ".part", "left");
  AtomicFile file(folder / "a");
  write(file, "new");
  file.commit();
  CHECK(bytes_of(folder / "a") == "new");
}

TEST_CASE("left-overs of killed processes are removed, and what is being written is not") {
  const TemporaryFolder folder;
  write_bytes(folder / ".muster-999999999-0.part", "left");
  write_bytes(folder / "mine.part", "mine");
  AtomicFile first(folder / "a");
  write(first, "first");
  CHECK_FALSE(std::filesystem::exists(folder / ".muster-999999999-0.part"));
  AtomicFile second(folder / "b");
  write(second, "second");
  first.commit();
  second.commit();
  CHECK(bytes_of(folder / "a") == "first");
  CHECK(bytes_of(folder / "b") == "second");
  CHECK(folder.files() == 3);
}

TEST_CASE("a folder that may be written and not read is no obstacle") {
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0333));
  const bool root = geteuid() == 0;  // Whom permissions do not stop.
  REQUIRE((!root || seteuid(65534) == 0));
  std::string failure;
  try {
    AtomicFile file(folder / "a");
    write(file, "new");
    file.commit();
  } catch (const CheckpointError& error) {
    failure = error.what();
  }
  if (root) REQUIRE(seteuid(0) == 0);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0700));
  CHECK(failure.empty());
  CHECK(bytes_of(folder / "a") == "new");
}

}  // namespace muster::test

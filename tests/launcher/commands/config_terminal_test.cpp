#include "launcher/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <support/paths.hpp>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

using muster::test::TemporaryFolder;

namespace {

std::string read_file(const TemporaryFolder& folder) {
  std::ifstream file(folder.path() + "/muster.toml");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// `muster config` on a terminal of its own.
class Terminal {
 public:
  explicit Terminal(const TemporaryFolder& folder, unsigned short columns) {
    winsize size{};
    size.ws_col = columns;
    size.ws_row = 24;
    child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    REQUIRE(child_ >= 0);
    if (child_ != 0) return;
    const auto program = std::string(muster::test::bin_dir) + "/muster";
    ::unsetenv("NO_COLOR");
    ::setenv("TERM", "xterm", 1);
    ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
    ::setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1);
    std::signal(SIGINT, SIG_DFL);
    if (::chdir(folder.path().c_str()) == 0) {
      ::execl(program.c_str(), "muster", "config", nullptr);
    }
    ::_exit(99);
  }
  ~Terminal() {
    ::close(terminal_);
    if (child_ > 0) ::kill(child_, SIGKILL);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& text) const {
    REQUIRE(::write(terminal_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }

  /// Reads until `text` is there, behind what was waited for before; false if the program is gone
  /// before it comes.
  bool wait_for(const std::string& text) {
    constexpr int patience = 60000;
    auto found = std::string::npos;
    while ((found = seen_.find(text, waited_)) == std::string::npos) {
      pollfd ready{terminal_, POLLIN, 0};
      if (::poll(&ready, 1, patience) <= 0) return false;
      char bytes[1024];
      const auto count = ::read(terminal_, bytes, sizeof bytes);
      if (count <= 0) return false;
      seen_.append(bytes, static_cast<std::size_t>(count));
    }
    waited_ = found + text.size();
    return true;
  }
  const std::string& seen() const { return seen_; }

  /// How it ended.
  int end() {
    wait_for("\x01 never comes");
    int status = 0;
    REQUIRE(::waitpid(child_, &status, 0) == child_);
    child_ = -1;
    return status;
  }

 private:
  int terminal_ = -1;
  pid_t child_ = -1;
  std::string seen_;
  std::size_t waited_ = 0;
};

}  // namespace

TEST_CASE("On a terminal a wrong answer is asked for again, and the file is shown at the end") {
  const TemporaryFolder folder;
  Terminal terminal(folder, 80);
  REQUIRE(terminal.wait_for("Ranks?"));
  CHECK(terminal.seen().find("(Ctrl-C leaves it as it is)") != std::string::npos);
  REQUIRE(terminal.wait_for("[1] "));
  terminal.type("two\n");
  REQUIRE(terminal.wait_for("expected a whole number"));
  REQUIRE(terminal.wait_for("[1] "));
  terminal.type("2\n");
  for (int i = 0; i < 20; ++i) terminal.type("\n");
  const int status = terminal.end();
  CAPTURE(terminal.seen());
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  CHECK(terminal.seen().find("\x1b[1mRanks?\x1b[0m") != std::string::npos);
  CHECK(terminal.seen().find("  [launch]\r\n  num_processes = 2\r\n") != std::string::npos);
  CHECK(read_file(folder) == "[launch]\nnum_processes = 2\n");
}

TEST_CASE("Ctrl-C and the end of the input say that nothing was written, and leave the old file") {
  const TemporaryFolder folder;
  folder.write("muster.toml", "[launch]\nnum_processes = 3\n");
  for (const char* key : {"\x03", "\x04"}) {
    Terminal terminal(folder, 40);
    REQUIRE(terminal.wait_for("[3] "));
    terminal.type("5\n");
    REQUIRE(terminal.wait_for("] "));
    terminal.type(key);
    const int status = terminal.end();
    CAPTURE(terminal.seen());
    CHECK(terminal.seen().find("nothing was written") != std::string::npos);
    if (key[0] == '\x03') CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGINT));
    if (key[0] == '\x04') CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 2));
    CHECK(read_file(folder) == "[launch]\nnum_processes = 3\n");
  }
}

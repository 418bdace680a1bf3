#include "muster_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <support/paths.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

using muster::test::run_muster;
using muster::test::TemporaryFolder;

namespace {

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  REQUIRE(pipe);
  std::string text;
  std::array<char, 4096> bytes;
  while (const auto count = std::fread(bytes.data(), 1, bytes.size(), pipe.get())) {
    text.append(bytes.data(), count);
  }
  return text;
}

bool has_shell(const std::string& shell) {
  return std::system(("command -v " + shell + " >/dev/null").c_str()) == 0;
}

/// What bash would put there, or offer, for the words, the last being the one at the cursor; given
/// as bash itself breaks them.
std::string bash_reply(const TemporaryFolder& folder, const std::string& words) {
  folder.write("try.sh", "cd '" + folder.path() + "'\nPATH='" + std::string(muster::test::bin_dir) +
                             "':$PATH\nsource <(muster completion bash)\nCOMP_WORDS=(muster " +
                             words +
                             ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_muster\n"
                             "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
  return output_of("bash --norc '" + folder.path() + "/try.sh'");
}

}  // namespace

TEST_CASE("The scripts of shells, and a word for others") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto end = run_muster({"completion", shell});
    CHECK(end.code == 0);
    CHECK(end.out.find("completion --words --") != std::string::npos);
    if (!has_shell(shell)) continue;
    const TemporaryFolder folder;
    folder.write("script", end.out);
    CHECK(std::system((std::string(shell) + " -n '" + folder.path() + "/script'").c_str()) == 0);
  }
  const auto other = run_muster({"completion", "tcsh"});
  CHECK(other.code == 2);
  CHECK(other.err.find("bash, zsh and fish") != std::string::npos);
  CHECK(run_muster({"completion"}).code == 2);
}

TEST_CASE("Candidates are lines, with a tab before the explanation") {
  CHECK(run_muster({"completion", "--words", "--", "vers"}).out == "version\tPrint the version.\n");
  CHECK(run_muster({"completion", "--words", "--", "launch", ""}).out == ":programs\n:files\n");
  const auto config = run_muster({"completion", "--words", "--", "config", "-y", "--config", ""});
  CHECK(config.out == ":files\n");
}

TEST_CASE("bash completes commands, options, values and files") {
  if (!has_shell("bash")) SKIP("there is no bash");
  const TemporaryFolder folder;
  folder.write("job one.toml", "");
  CHECK(bash_reply(folder, "vers") == "version\n");
  CHECK(bash_reply(folder, "config get train.see") == "train.seed\n");
  CHECK(bash_reply(folder, "launch --log-lev") == "--log-level\n");
  CHECK(bash_reply(folder, "launch --log-level = de") == "debug\n");
  CHECK(bash_reply(folder, "launch --log-level = ''") == "debug\ninfo\nwarning\nerror\noff\n");
  CHECK(bash_reply(folder, "config --set log.level = w") == "warning\n");
  CHECK(bash_reply(folder, "config check job") == "job one.toml\n");
  CHECK(bash_reply(folder, "launch --config job") == "job one.toml\n");
}

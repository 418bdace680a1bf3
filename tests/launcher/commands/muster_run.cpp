#include "muster_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <support/paths.hpp>

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::test {
namespace {

std::string take_file(const std::string& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  ::unlink(path.c_str());
  return text;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

void send_to_file(int fd, const std::string& path) {
  ::dup2(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), fd);
}

}  // namespace

MusterEnd run_muster(const std::vector<std::string>& words, const TemporaryFolder& folder,
                     std::map<std::string, std::string> environment, const std::string& input) {
  const TemporaryFolder streams;
  streams.write("in", input);
  environment.try_emplace("PATH", std::getenv("PATH"));
  environment.try_emplace("XDG_CONFIG_HOME", streams.path());
  std::vector<std::string> argv{std::string(bin_dir) + "/muster"}, variables;
  argv.insert(argv.end(), words.begin(), words.end());
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  auto argv_pointers = pointers_to(argv);
  auto variable_pointers = pointers_to(variables);
  const auto in = streams.path() + "/in", out = streams.path() + "/out",
             err = streams.path() + "/err";
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    send_to_file(STDOUT_FILENO, out);
    send_to_file(STDERR_FILENO, err);
    ::dup2(::open(in.c_str(), O_RDONLY), STDIN_FILENO);
    if (::chdir(folder.path().c_str()) == 0) {
      ::execve(argv_pointers[0], argv_pointers.data(), variable_pointers.data());
    }
    ::_exit(99);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  MusterEnd end;
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  end.out = take_file(out);
  end.err = take_file(err);
  return end;
}

MusterEnd run_muster(const std::vector<std::string>& words,
                     std::map<std::string, std::string> environment) {
  return run_muster(words, TemporaryFolder(), std::move(environment));
}

}  // namespace muster::test

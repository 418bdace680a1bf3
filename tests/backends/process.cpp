#include "backends/process.hpp"

#include "backends/ranks.hpp"

#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::test {

Process::Process(const std::string& tag, const std::map<std::string, std::string>& variables,
                 const std::vector<int>& descriptors) {
  int ends[2];
  expect(::pipe2(ends, O_CLOEXEC) == 0, "no pipe");
  std::vector<std::string> texts;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    texts.emplace_back(*entry);
  }
  for (const auto& [name, value] : variables) {
    texts.push_back(name + "=" + value);
  }
  std::vector<char*> environment;
  for (auto& text : texts) {
    environment.push_back(text.data());
  }
  environment.push_back(nullptr);
  std::string program = "/proc/self/exe";
  std::string filter = tag;
  char* const arguments[] = {program.data(), filter.data(), nullptr};
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(ends[1], 1);
    ::dup2(ends[1], 2);
    for (const int descriptor : descriptors) {
      ::fcntl(descriptor, F_SETFD, 0);
    }
    ::execve(program.c_str(), arguments, environment.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  read_end_ = ends[0];
  expect(pid_ > 0, "no process");
}

Process::~Process() {
  if (status_ < 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(read_end_);
}

void Process::signal(int number) const { ::kill(pid_, number); }

int Process::wait() {
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(read_end_, buffer, sizeof(buffer))) > 0;) {
    output_.append(buffer, static_cast<std::size_t>(count));
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return status_;
}

std::string Process::output() {
  pollfd waiting{read_end_, POLLIN, 0};
  char buffer[4096];
  while (status_ < 0 && ::poll(&waiting, 1, 0) > 0 && (waiting.revents & POLLIN) != 0) {
    const auto count = ::read(read_end_, buffer, sizeof(buffer));
    output_.append(buffer, count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  return output_;
}

}  // namespace muster::test

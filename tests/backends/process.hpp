#pragma once

#include <chrono>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace muster::test {

/// Another process that runs one hidden test case of this program. Killed with the object.
class Process {
 public:
  /// `tag`: of the test case. `variables` come on top of this process's. `descriptors` are
  /// inherited.
  Process(const std::string& tag, const std::map<std::string, std::string>& variables,
          const std::vector<int>& descriptors = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const;
  /// Waits for its end. Its exit code, or 128 + the signal that ended it.
  int wait();
  /// What it has printed so far; after wait(), all.
  std::string output();

 private:
  pid_t pid_ = -1;
  int status_ = -1;
  int read_end_ = -1;
  std::string output_;
};

}  // namespace muster::test

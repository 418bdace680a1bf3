#pragma once

#include "launcher/temporary_folder.hpp"

#include <chrono>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace muster::test {

/// Programs of the tree that is tested.
std::string muster_program();
std::string probe_program();

/// How a launcher ended.
struct LaunchEnd {
  int code = -1;    ///< Its exit code, or 128 + signal.
  int signal = 0;   ///< What it died of itself.
  std::string out;  ///< Its stdout; on a terminal all that was shown.
  std::string err;
};

/// `muster launch` as another program would run it, in a folder of its own for what the probes
/// write. Ends it, if it still runs, when destroyed.
class LaunchRun {
 public:
  struct Options {
    std::map<std::string, std::string> environment{};
    std::string input{};           ///< What stdin has; empty: /dev/null.
    bool terminal = false;         ///< stdin, stdout and stderr are a terminal of 100 columns.
    std::vector<int> ignored{};    ///< Signals that it finds ignored.
    std::vector<int> blocked{};    ///< Signals that it finds blocked.
    std::vector<int> closed{};     ///< Of 0, 1 and 2.
    long open_files = 0;           ///< RLIMIT_NOFILE, if not 0.
    bool reads_output = true;      ///< Whether stdout is read before wait().
    bool error_to_output = false;  ///< 2>&1
    std::vector<std::string> wrapper{};  ///< Words before the launcher's name.
  };

  /// `arguments` are those of `muster launch`.
  explicit LaunchRun(std::vector<std::string> arguments);
  LaunchRun(std::vector<std::string> arguments, Options options);
  LaunchRun(const LaunchRun&) = delete;
  LaunchRun& operator=(const LaunchRun&) = delete;
  ~LaunchRun();

  pid_t pid() const noexcept { return pid_; }
  void send(int signal) const;
  /// Types on the terminal, or appends to nothing else.
  void type(const std::string& text) const;
  void close_output();
  /// The terminal gets another width.
  void resize(int columns) const;

  /// A file in the folder of this run.
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  void touch(const std::string& name) const;
  /// Fails the test if it does not come within `patience`.
  void wait_for_file(const std::string& name) const;
  void wait_for_output(const std::string& text);
  LaunchEnd wait();

  /// Processes that have this run's mark in their environment: whatever the job started.
  std::vector<pid_t> survivors() const;
  /// The survivors after a second, if there are any at first.
  std::vector<pid_t> survivors_after_a_second() const;

  /// Long, for slow machines: no test passes by waiting that long.
  static constexpr std::chrono::seconds patience{40};

 private:
  void become(const std::vector<std::string>& words, const Options& options);
  void pump(std::chrono::milliseconds limit);

  TemporaryFolder folder_;
  std::string mark_;
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
  int in_ = -1, out_ = -1, err_ = -1;  ///< Our ends; on a terminal out_ is both.
  LaunchEnd end_;
};

/// Runs to the end.
LaunchEnd launch(std::vector<std::string> arguments, LaunchRun::Options options = {});

/// The whole of a file; empty if there is none.
std::string file_text(const std::string& path);

}  // namespace muster::test

#pragma once

#include "supervise/kill_tree.hpp"
#include "supervise/rank_processes.hpp"
#include "supervise/start_stacks.hpp"
#include "unique_fd.hpp"

#include <set>
#include <string>
#include <vector>

namespace muster::launcher {

/// What the guardian does after it has forked the ranks: tells the launcher what happens to them,
/// does what the launcher orders, and leaves nothing behind.
class GuardianLoop {
 public:
  struct Ends {
    UniqueFd socket, records;
    StartStacks stacks;  ///< Of ranks that run no program yet; kept until `records` ends.
  };

  /// `run_directory` is removed if the launcher is gone at the end; empty: there is none.
  GuardianLoop(Ends ends, RankProcesses ranks, JobTree tree, std::string run_directory);

  /// Never returns. `refused` is the errno of a fork that failed, or 0.
  [[noreturn]] void run(int refused);

 private:
  void watch(int fd, std::uint64_t key);
  void wait();
  void on_order();
  void on_records();
  void on_child();
  void on_rank(RankProcesses::Process& process);
  void obey(const Order& order);
  void pass_on(int signal);
  void collect();
  std::vector<pid_t> kill_all();
  /// False if the launcher is gone.
  bool tell(const Event& event);
  [[noreturn]] void end_all();

  UniqueFd socket_, records_, children_, epoll_;
  StartStacks stacks_;
  RankProcesses ranks_;
  JobTree tree_;
  std::string run_directory_;
  std::set<StartStage> warned_;
  bool start_failed_ = false;
  bool launcher_gone_ = false;
};

}  // namespace muster::launcher

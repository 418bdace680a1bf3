#pragma once

#include "supervise/rank_processes.hpp"
#include "unique_fd.hpp"

#include <string>

namespace muster::launcher {

/// What the guardian does after it has forked the ranks: tells the launcher what happens to them,
/// does what the launcher orders, and leaves nothing behind.
class GuardianLoop {
 public:
  /// `run_directory` is removed if the launcher is gone at the end; empty: there is none.
  GuardianLoop(UniqueFd socket, UniqueFd records, RankProcesses ranks, std::string run_directory);

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
  /// False if the launcher is gone.
  bool tell(const Event& event);
  [[noreturn]] void end_all();

  UniqueFd socket_, records_, children_, epoll_;
  RankProcesses ranks_;
  std::string run_directory_;
  bool start_failed_ = false;
  bool launcher_gone_ = false;
};

}  // namespace muster::launcher

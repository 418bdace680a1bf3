#pragma once

#include "supervise/rank_processes.hpp"
#include "unique_fd.hpp"

namespace muster::launcher {

/// What the guardian does after it has forked the ranks: tells the launcher what happens to them,
/// does what the launcher orders, and leaves nothing behind.
class GuardianLoop {
 public:
  GuardianLoop(UniqueFd socket, UniqueFd records, RankProcesses ranks);

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
  void tell(const Event& event);
  [[noreturn]] void end_all();

  UniqueFd socket_, records_, children_, epoll_;
  RankProcesses ranks_;
  bool start_failed_ = false;
  bool launcher_gone_ = false;
};

}  // namespace muster::launcher

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::check {

/// A difference between what had to be and what was.
struct Fault {
  std::string where;  ///< "sum of Float [7]"
  std::string expected;
  std::string found;
};

/// What one check found on this rank.
struct Findings {
  std::string looked_at;                 ///< For people: "sum, min, max; 8 dtypes".
  std::vector<Fault> faults;             ///< The first few.
  std::size_t fault_count = 0;           ///< All of them.
  std::vector<std::string> not_checked;  ///< What cannot be checked here, and why.
};

/// What the launcher compares with its plan.
struct RankFacts {
  std::vector<int> cpus;  ///< On which this rank may run.
  int threads = 0;        ///< That LibTorch uses.
  std::string device;     ///< "cpu"
  std::string libtorch;   ///< "2.11.0"
};

/// Where a rank says what it checks: JSON, one object a line, each written at once, so that what
/// was said before a crash is there to be read. `muster test` reads it (launcher/check/).
class Report {
 public:
  /// Into the file check-RANK.jsonl in `folder`; on stdout without a folder. Throws Error if the
  /// file cannot be made.
  Report(const std::string& folder, int rank);
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  ~Report();

  /// All checks to come, in their order.
  void announce(const std::vector<std::string_view>& checks);
  void facts(const RankFacts& facts);
  void begin(std::string_view check);
  void end(std::string_view check, const Findings& findings, double seconds);
  /// The last word: the ranks, of all hosts, that found faults.
  void finish(const std::vector<int>& faulty);

 private:
  void write(std::string line) const;

  int fd_;
  bool owned_;
};

}  // namespace muster::check

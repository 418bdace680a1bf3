#pragma once

#include <muster/ranks.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace muster {

/// Which steps are recorded: `wait` are let pass, `warmup` run with the recorder made ready,
/// `active` are recorded; and so `repeat` times.
struct ProfileOptions {
  int wait = 0, warmup = 0;
  int active = 0;  ///< 0: all steps until finish(), without a schedule.
  int repeat = 1;  ///< 0: until finish().
  bool shapes = false, memory = false, flops = false;  ///< Of operators.
  std::filesystem::path folder = "profile";
};

/// Records what LibTorch does, and writes for each rank a trace that chrome://tracing and Perfetto
/// open: profile_RANK.json, or with several repeats profile_RANK_1.json and so on.
///
///   Profile profile(accelerator, {.wait = 1, .warmup = 1, .active = 3});
///   for (auto& batch : loader) { ...; profile.step(); }
///   profile.finish();
///
/// One a process at a time, in the thread that trains. No communication; any ranks may make one.
/// Throws ConfigError for a schedule that cannot be or a second one, Error for a file that cannot
/// be written.
class Profile {
 public:
  explicit Profile(const Ranks& ranks, ProfileOptions options = {});
  /// Drops what was recorded and not written.
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  void step();    ///< A step has ended.
  void finish();  ///< Writes what is being recorded. Later calls do nothing.
  const std::vector<std::filesystem::path>& files() const noexcept { return files_; }

 private:
  void enter(int step);
  void write();
  void drop() noexcept;

  int rank_;
  ProfileOptions options_;
  int step_ = 0, cycle_ = 0;
  bool recording_ = false, finished_ = false;
  std::vector<std::filesystem::path> files_;
};

}  // namespace muster

#include "log_folder.hpp"

#include <muster/error.hpp>

#include "text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace muster::launcher {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view of_a_rank = "rank-", of_a_restart = "restart-";
constexpr std::array<std::string_view, 2> of_a_stream{".stdout", ".stderr"};

[[noreturn]] void refuse(const std::string& folder, const std::string& what, int error) {
  throw ConfigError("--log-dir " + folder + ": " + what + ": " + std::strerror(error));
}

std::string name_of(int rank, std::size_t stream) {
  return std::string(of_a_rank) + std::to_string(rank) + std::string(of_a_stream[stream]);
}

/// The number between a prefix and a suffix.
std::optional<int> number_in(std::string_view name, std::string_view prefix,
                             std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  if (name.size() < prefix.size() + suffix.size()) return std::nullopt;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  return to_number<int>(name);
}

/// The ranks whose files are ours to move: where hosts share a folder, those of this host only.
class OwnRanks {
 public:
  explicit OwnRanks(const Plan& plan) {
    if (plan.ranks.empty() || plan.ranks.front().world.node_count <= 1) return;
    for (const ProcessSpec& spec : plan.ranks) ranks_.insert(spec.world.rank);
  }
  bool contains(int rank) const { return ranks_.empty() || ranks_.contains(rank); }

 private:
  std::set<int> ranks_;  ///< Empty: all.
};

/// Names in a folder; none if it cannot be read.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  return names;
}

/// Files of an earlier job in `folder`, as paths below it.
std::vector<fs::path> earlier_files(const fs::path& folder, const OwnRanks& own, bool restarts) {
  std::vector<fs::path> found;
  for (const std::string& name : names_in(folder)) {
    for (const std::string_view suffix : of_a_stream) {
      const auto rank = number_in(name, of_a_rank, suffix);
      if (rank && own.contains(*rank)) found.emplace_back(name);
    }
    if (!restarts || !number_in(name, of_a_restart, "")) continue;
    for (const fs::path& file : earlier_files(folder / name, own, false))
      found.push_back(fs::path(name) / file);
  }
  return found;
}

/// A new folder "earlier-N" with the smallest N that is free, whoever else makes one.
fs::path make_place(const fs::path& folder) {
  for (int number = 1;; ++number) {
    fs::path place = folder / ("earlier-" + std::to_string(number));
    if (::mkdir(place.c_str(), 0777) == 0) return place;
    if (errno != EEXIST) refuse(folder.string(), "cannot be written to", errno);
  }
}

void move_earlier(const fs::path& folder, const Plan& plan) {
  const auto files = earlier_files(folder, OwnRanks(plan), true);
  if (files.empty()) return;
  const fs::path place = make_place(folder);
  for (const fs::path& file : files) {
    std::error_code error;
    fs::create_directories((place / file).parent_path(), error);
    fs::rename(folder / file, place / file, error);
    if (error) {
      refuse(folder.string(),
             "cannot move " + file.string() + " of an earlier job to " + place.filename().string(),
             error.value());
    }
    if (file.has_parent_path()) ::rmdir((folder / file.parent_path()).c_str());
  }
}

LogFile make_file(const std::string& folder, const fs::path& path) {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd file(::open(path.c_str(), flags, 0666));
  if (!file) refuse(folder, "cannot make " + path.filename().string(), errno);
  return {std::move(file), path.string()};
}

/// Before anything of an earlier job is moved.
void check_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder)) refuse(folder, "cannot be made", error ? error.value() : ENOTDIR);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) refuse(folder, "cannot be written to", errno);
}

}  // namespace

LogFolder::LogFolder(const std::string& folder, const Plan& plan) {
  if (folder.empty() || plan.ranks.empty()) return;
  if (plan.ranks.front().world.restart_count == 0) {
    check_folder(folder);
    move_earlier(folder, plan);
    make(folder, plan);
    return;
  }
  try {
    const auto number = std::to_string(plan.ranks.front().world.restart_count);
    const std::string inner = (fs::path(folder) / (std::string(of_a_restart) + number)).string();
    check_folder(inner);
    make(inner, plan);
  } catch (const ConfigError& error) {
    files_.clear();
    paths_.clear();
    fault_ = error.what();
  }
}

void LogFolder::make(const std::string& folder, const Plan& plan) {
  for (const ProcessSpec& spec : plan.ranks) {
    auto& files = files_.emplace_back();
    auto& paths = paths_.emplace_back();
    for (const std::size_t stream : {0U, 1U}) {
      files[stream] = make_file(folder, fs::path(folder) / name_of(spec.world.rank, stream));
      paths[stream] = files[stream].path();
    }
  }
}

LogFile LogFolder::take(std::size_t rank, int target) {
  if (!exists()) return {};
  return std::move(files_.at(rank).at(target == STDOUT_FILENO ? 0 : 1));
}

std::string LogFolder::path_of(std::size_t rank, int target) const {
  return exists() ? paths_.at(rank).at(target == STDOUT_FILENO ? 0 : 1) : std::string();
}

}  // namespace muster::launcher

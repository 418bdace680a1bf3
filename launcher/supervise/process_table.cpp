#include "process_table.hpp"

#include "unique_fd.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>

namespace muster::launcher {
namespace {

/// Nothing if it cannot be opened.
std::optional<std::string> read_whole(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string text;
  char buffer[4096];
  ssize_t bytes = 0;
  while ((bytes = ::read(file.get(), buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(bytes));
  return text;
}

/// The numbers that are names in a folder of /proc.
std::vector<pid_t> numbers_in(const std::string& path) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  if (!folder) return numbers;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    pid_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

/// For kernels without /proc/<pid>/task/<tid>/children.
std::vector<pid_t> children_by_scan(pid_t pid) {
  std::vector<pid_t> children;
  for (const pid_t other : numbers_in("/proc")) {
    const auto state = process_state(other);
    if (state && state->parent == pid) children.push_back(other);
  }
  return children;
}

void append_numbers(std::string_view text, std::vector<pid_t>& numbers) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    pid_t number = 0;
    const auto parsed = std::from_chars(at, end, number);
    if (parsed.ec == std::errc()) numbers.push_back(number);
    at = parsed.ptr + 1;
  }
}

}  // namespace

std::optional<ProcessState> process_state(pid_t pid) {
  const auto text = read_whole("/proc/" + std::to_string(pid) + "/stat");
  // The name, in parentheses, may hold anything, parentheses too.
  const auto name_end = text ? text->rfind(") ") : std::string::npos;
  if (name_end == std::string::npos) return std::nullopt;
  char letter = 0;
  int parent = 0, group = 0;
  unsigned flags = 0;
  long threads = 0;
  const int found =
      std::sscanf(text->c_str() + name_end + 2,
                  "%c %d %d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld", &letter,
                  &parent, &group, &flags, &threads);
  if (found != 5) return std::nullopt;
  constexpr unsigned exiting = 0x4, dumping_core = 0x200, killed = 0x400;  // PF_*
  ProcessState state{.pid = pid, .parent = parent, .group = group};
  // A first thread that is gone leaves a Z even if others run on.
  state.dead = (letter == 'Z' && threads <= 1) || letter == 'X';
  state.dying = letter == 'Z' || letter == 'X' || (flags & (exiting | dumping_core | killed)) != 0;
  return state;
}

std::vector<pid_t> children_of(pid_t pid) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  std::vector<pid_t> children;
  bool known = false;
  for (const pid_t thread : numbers_in(tasks)) {
    const auto text = read_whole(tasks + "/" + std::to_string(thread) + "/children");
    if (!text) continue;
    known = true;
    append_numbers(*text, children);
  }
  if (!known && process_state(pid)) return children_by_scan(pid);
  return children;
}

std::vector<ProcessState> descendants_of(pid_t pid) {
  std::vector<ProcessState> living;
  std::vector<pid_t> parents{pid};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    for (const pid_t child : children_of(parent)) {
      const auto state = process_state(child);
      if (!state || state->dead) continue;
      living.push_back(*state);
      parents.push_back(child);
    }
  }
  return living;
}

bool environment_has(pid_t pid, const std::string& text) {
  const auto variables = read_whole("/proc/" + std::to_string(pid) + "/environ");
  return variables && variables->find(text) != std::string::npos;
}

std::vector<ProcessState> processes_with(const std::string& text) {
  std::vector<ProcessState> living;
  for (const pid_t pid : numbers_in("/proc")) {
    if (pid == ::getpid() || !environment_has(pid, text)) continue;
    const auto state = process_state(pid);
    if (state && !state->dead) living.push_back(*state);
  }
  return living;
}

}  // namespace muster::launcher

#pragma once

#include <muster/error.hpp>
#include <muster/schedule.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace muster {

/// Throws ConfigError unless `fine`: "StepLR: step_size is 0; it has to be at least 1".
inline void require_option(bool fine, const std::string& option, double found,
                           const std::string& needed) {
  if (fine) return;
  auto text = std::to_string(found);
  if (std::isfinite(found) && text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  throw ConfigError(option + " is " + text + "; it has to be " + needed);
}

inline void require_at_least(std::int64_t least, const std::string& option, std::int64_t found) {
  require_option(found >= least, option, static_cast<double>(found),
                 "at least " + std::to_string(least));
}

inline void require_not_negative(const std::string& option, double found) {
  require_option(std::isfinite(found) && found >= 0, option, found, "a number of at least 0");
}

/// Throws ConfigError if `count` values are neither one nor one a group.
inline void require_one_each(const std::string& option, std::size_t count, std::size_t groups) {
  if (count <= 1 || count == groups) return;
  throw ConfigError(option + " has " + std::to_string(count) + " values for an optimizer of " +
                    std::to_string(groups) + (groups == 1 ? " group" : " groups") +
                    ": give one for all, or one each");
}

/// The one for all groups, or the group's own; `otherwise` if there are none.
template <class T>
T value_for(const std::vector<T>& values, std::size_t group, const T& otherwise) {
  if (values.empty()) return otherwise;
  return values.size() == 1 ? values.front() : values.at(group);
}

/// The list `name` of the state. Throws CheckpointError if it is missing, or of another length.
inline const std::vector<double>& state_values(const SchedulerState& state, const std::string& name,
                                               std::size_t count) {
  const auto found = state.find(name);
  if (found != state.end() && found->second.size() == count) return found->second;
  throw CheckpointError(
      "the scheduler's state has " +
      (found == state.end() ? "no '" + name + "'"
                            : std::to_string(found->second.size()) + " values of '" + name + "'") +
      "; needed " + (count == 1 ? "is 1 value" : "are " + std::to_string(count) + " values") +
      ": it was saved by another schedule or optimizer");
}

}  // namespace muster

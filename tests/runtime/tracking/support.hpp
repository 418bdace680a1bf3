#pragma once

#include <muster/tracker.hpp>

#include "runtime/checkpoint/temporary_folder.hpp"
#include "runtime/command.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

namespace muster::test {

inline TrackedRecord record(std::int64_t step, TrackedItems items) {
  return {step, 1000.5 + static_cast<double>(step), std::move(items)};
}

/// A tracker of `Kind`, started in `folder`.
template <class Kind>
Kind started(const std::filesystem::path& folder, TrackedItems config = {}) {
  Kind tracker;
  tracker.start({"digits", std::move(config), folder});
  return tracker;
}

/// Files must not grow beyond `bytes` while it lives, as on a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(std::uint64_t bytes);
  ~FullDisk();
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  std::uint64_t limit_;
  void (*handler_)(int);
};

/// What is written to stderr while `work` runs.
std::string said(const std::function<void()>& work);

}  // namespace muster::test

#pragma once

#include <muster/world.hpp>

#include <memory>
#include <string>

namespace muster::launcher {

/// The variables that are set for a rank. Ranks have most of them in common, and there may be ten
/// thousand of them: what they share is kept once.
class Variables {
 public:
  Variables() = default;
  explicit Variables(std::shared_ptr<const Environment> common) : common_(std::move(common)) {}

  /// Its own value, which hides a common one.
  void set(const std::string& name, std::string value) { own_[name] = std::move(value); }

  /// Null if there is none.
  const std::string* find(const std::string& name) const;
  bool contains(const std::string& name) const { return find(name) != nullptr; }
  /// Throws std::out_of_range if there is none.
  const std::string& at(const std::string& name) const;

  /// All of them, as one.
  Environment whole() const;
  const Environment& own() const noexcept { return own_; }
  bool shares_with(const Variables& other) const noexcept { return common_ == other.common_; }

 private:
  std::shared_ptr<const Environment> common_ = std::make_shared<Environment>();
  Environment own_;
};

}  // namespace muster::launcher

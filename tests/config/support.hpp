#pragma once

#include <muster/error.hpp>
#include <muster/resolve.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace muster::test {

/// A fresh folder, gone with this object.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Makes the folders above it too.
  std::filesystem::path write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

/// The text of the ConfigError that the call throws, whose exit code must be 2; empty if none.
std::string fault_of(const std::function<void()>& call);

/// A value of a setting in all its forms.
struct Sample {
  std::string text;  ///< After a flag, in a variable.
  std::string toml;  ///< In a file.
  Value value;
};
/// Two different values of the setting, neither the default (booleans: the second is the default).
std::vector<Sample> samples(const Setting& setting);

/// A launcher's surroundings: an empty home and an empty working directory.
class Surroundings {
 public:
  Sources sources;

  Surroundings();
  void give(const Setting& setting, const Sample& sample, Origin::Kind level);
  void write_project_file(const std::string& text) const;
  void write_user_file(const std::string& text) const;
  const std::filesystem::path& work() const noexcept { return work_.path(); }
  Resolution resolve() const { return muster::resolve(sources); }
  std::string fault() const;

 private:
  TempFolder work_, home_;
};

/// The launcher's levels from the weakest to the strongest.
const std::vector<Origin::Kind>& levels();

/// Runs `call` in a child process and returns what it writes to stderr.
std::string stderr_of(const std::function<void()>& call);

}  // namespace muster::test

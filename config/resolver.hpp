#pragma once

#include <muster/resolve.hpp>

#include "settings_file.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// One line for each two members of a group that are given on one level.
std::vector<std::string> conflicts_of(const std::vector<Given>& all);

/// Gathers what all sources give and all that is wrong with them, then decides.
class Resolver {
 public:
  void read_flags(const std::vector<GivenFlag>& flags);
  /// A launcher takes no variables that another launcher wrote; a rank takes all.
  void read_variables(const Environment& environment, bool in_rank);
  void read_files(const Sources& sources);
  void take(const std::vector<GivenValue>& values, Origin::Kind kind);

  /// Throws ConfigError with all faults.
  Resolution decide();

 private:
  void read_flag(const GivenFlag& flag);
  void read_variable(const std::string& name, const std::string& text);
  void read_unknown_variable(const std::string& name, bool is_fault);
  /// True if the file is there and sets something.
  bool read_file(const std::filesystem::path& path, const std::string& name, Origin::Kind kind);
  /// True for a user's file that would be inside no folder, or inside one that may not be entered,
  /// which a note says: root's home, of somebody who became another user.
  bool is_out_of_reach(const std::filesystem::path& path);
  void add(Given given);

  Entry make_entry(const Setting& setting) const;
  void merge_maps(Entry& entry, const std::vector<const Given*>& levels) const;
  /// Every given value of a setting, the strongest first.
  std::vector<const Given*> levels_of(const Setting& setting) const;
  void decide_group(std::string_view group);

  Resolution result_;
  std::vector<Given> given_;
  std::vector<std::string> faults_;
};

}  // namespace muster

#pragma once

#include <muster/setting.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// What of a foreign file became settings, and a line for each part that did not, with the reason.
struct Import {
  std::map<const Setting*, Value> settings;
  std::vector<std::string> notes;  ///< "job.yaml:7: debug = true: not carried over: ..."
};

/// Takes over one part of a foreign file after the other. Other launchers' flags, of which their
/// files are made, have a table of their own: what it refuses is refused here, for the same reason.
class Carrier {
 public:
  explicit Carrier(std::string file) : file_(std::move(file)) {}

  /// `what` is the part as it stands there ("debug = true"); `flag` is the flag that says the same.
  void carry(int line, const std::string& what, const std::string& flag,
             std::optional<std::string> value);
  /// Whether that flag with this value means anything here.
  static bool can_carry(const std::string& flag, const std::string& value);
  /// The same for one of our own settings.
  void give(int line, const std::string& what, std::string_view id, Value value);
  void refuse(int line, const std::string& what, std::string_view reason);

  Import finish();

 private:
  std::string file_;
  Import import_;
  std::vector<std::pair<int, std::string>> lines_;
};

}  // namespace muster::launcher

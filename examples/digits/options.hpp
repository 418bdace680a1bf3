#pragma once

#include <cstdint>
#include <filesystem>

namespace digits {

struct Options {
  int epochs = 8;
  std::int64_t batch_size = 32;  ///< Images a rank.
  double learning_rate = 5e-3;
  std::filesystem::path data;  ///< digits.csv
  std::filesystem::path out = "digits.safetensors";
  std::filesystem::path steps_log;  ///< Every loss, exactly; empty: none.
  bool help = false;
};

extern const char* const usage;

/// Throws std::invalid_argument for an option that there is not, or a value that cannot be.
Options parse_options(int argc, const char* const* argv);

}  // namespace digits

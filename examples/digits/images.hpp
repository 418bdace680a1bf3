#pragma once

#include <muster/dataset.hpp>

#include <filesystem>

namespace digits {

/// Images [n, 1, 8, 8] float32 in [0, 1] and their digits [n] int64.
struct Images {
  muster::TensorDataset train, test;
};

/// Reads the CSV file and deals its rows out, 1,440 to train and 357 to test, always the same.
/// Throws std::runtime_error that names the line, or where it looked for the file.
Images read_images(const std::filesystem::path& file);

/// Where the build puts digits.csv, seen from this program.
std::filesystem::path default_file();

}  // namespace digits

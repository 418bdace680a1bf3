#include "images.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randperm.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace digits {
namespace {

constexpr std::int64_t side = 8, pixels = side * side, darkest = 16, held_out = 357;

[[noreturn]] void refuse(const std::filesystem::path& file, std::size_t line,
                         const std::string& why) {
  throw std::runtime_error(file.string() + ":" + std::to_string(line) + ": " + why);
}

/// 64 pixels of 0 to 16, then the digit.
std::vector<std::int64_t> parse_row(const std::string& text) {
  std::vector<std::int64_t> values;
  const char* next = text.data();
  const char* const end = next + text.size();
  while (next < end) {
    std::int64_t value = -1;
    const auto parsed = std::from_chars(next, end, value);
    if (parsed.ec != std::errc() || (parsed.ptr != end && *parsed.ptr != ',')) return {};
    values.push_back(value);
    next = parsed.ptr == end ? end : parsed.ptr + 1;
  }
  return values;
}

}  // namespace

Images read_images(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in)
    throw std::runtime_error("cannot read " + file.string() + "; name digits.csv with --data");
  std::vector<float> data;
  std::vector<std::int64_t> targets;
  for (std::string line; std::getline(in, line);) {
    const auto row = parse_row(line);
    if (std::ssize(row) != pixels + 1) {
      refuse(file, targets.size() + 1, "expected 64 pixels and a digit, with commas between");
    }
    if (row.back() < 0 || row.back() > 9) {
      refuse(file, targets.size() + 1,
             "label " + std::to_string(row.back()) + " is not in [0, 10)");
    }
    for (std::int64_t i = 0; i < pixels; ++i) {
      data.push_back(static_cast<float>(row[static_cast<std::size_t>(i)]) / darkest);
    }
    targets.push_back(row.back());
  }
  const auto count = std::ssize(targets);
  if (count <= held_out) refuse(file, targets.size() + 1, "the file is too short");
  auto images = at::empty({count, 1, side, side}, at::kFloat);
  auto labels = at::empty({count}, at::kLong);
  std::copy(data.begin(), data.end(), images.mutable_data_ptr<float>());
  std::copy(targets.begin(), targets.end(), labels.mutable_data_ptr<std::int64_t>());
  // The file is ordered by writer; both parts shall have all of them.
  const auto order = at::randperm(count, at::make_generator<at::CPUGeneratorImpl>(0), at::kLong);
  const auto part = [&](std::int64_t begin, std::int64_t length) {
    const auto rows = order.narrow(0, begin, length);
    return muster::TensorDataset(images.index_select(0, rows), labels.index_select(0, rows));
  };
  return {part(0, count - held_out), part(count - held_out, held_out)};
}

std::filesystem::path default_file() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  return program.parent_path().parent_path() / "share" / "muster" / "digits.csv";
}

}  // namespace digits

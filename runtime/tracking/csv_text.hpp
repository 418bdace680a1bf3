#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Comma-separated values as RFC 4180 has them, with bare line ends.
namespace muster::tracking {

std::string csv_field(std::string_view text);
/// A row, with its line end.
std::string csv_row(const std::vector<std::string>& fields);

/// Bytes of `text` up to the end of its last whole row; line ends within quotes end none.
std::size_t whole_rows(std::string_view text);
/// The fields of the first row of `text`, unquoted.
std::vector<std::string> first_row(std::string_view text);
/// The rows of `text` after the first, each with `more` empty fields behind.
std::string widened_rows(std::string_view text, std::size_t more);

}  // namespace muster::tracking

#include "tracking/csv_text.hpp"

namespace muster::tracking {
namespace {

/// Calls `found` with the end, line end included, of each whole row.
template <class Found>
void each_row_end(std::string_view text, Found found) {
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    // A quote inside quotes is doubled, and so leaves them and enters them again.
    if (text[at] == '"') quoted = !quoted;
    if (text[at] == '\n' && !quoted) found(at + 1);
  }
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char letter : text) {
    if (letter == '"') field += '"';
    field += letter;
  }
  return field + '"';
}

std::string csv_row(const std::vector<std::string>& fields) {
  std::string row;
  for (const auto& field : fields) row.append(field) += ',';
  if (!row.empty()) row.pop_back();
  return row + '\n';
}

std::size_t whole_rows(std::string_view text) {
  std::size_t end = 0;
  each_row_end(text, [&](std::size_t found) { end = found; });
  return end;
}

std::vector<std::string> first_row(std::string_view text) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '"') {
      const bool doubled = quoted && at + 1 < text.size() && text[at + 1] == '"';
      if (doubled) fields.back() += text[at++];
      if (!doubled) quoted = !quoted;
    } else if (quoted || (letter != ',' && letter != '\n' && letter != '\r')) {
      fields.back() += letter;
    } else if (letter == ',') {
      fields.emplace_back();
    } else if (letter == '\n') {
      break;
    }
  }
  return fields;
}

std::string widened_rows(std::string_view text, std::size_t more) {
  std::string rows;
  std::size_t begin = 0;
  bool header = true;
  each_row_end(text, [&](std::size_t end) {
    if (!header) rows.append(text, begin, end - 1 - begin).append(more, ',') += '\n';
    header = false;
    begin = end;
  });
  return rows;
}

}  // namespace muster::tracking

#include "tracking/report.hpp"

#include <algorithm>

namespace muster::tracking {

void Report::add(const TrackedRecord& record) {
  ++records;
  last_step = record.step;
  for (const auto& [name, value] : record.items) {
    if (const auto* text = value.text()) {
      texts.push_back({record.step, name, text->substr(0, longest_text)});
      if (texts.size() > most_texts) texts.pop_front();
      continue;
    }
    auto found = std::ranges::find(series, name, &Series::name);
    if (found == series.end()) found = series.insert(found, Series(name));
    found->add(record.step, value.number());
  }
}

void Report::cut(std::int64_t step) {
  for (auto& curve : series) curve.cut(step);
  std::erase_if(series, [](const Series& curve) { return curve.buckets().empty(); });
  std::erase_if(texts, [&](const Text& text) { return text.step >= step; });
}

}  // namespace muster::tracking

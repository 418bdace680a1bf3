#include "tracking/chart.hpp"

#include "tracking/axis.hpp"
#include "tracking/number_text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace muster::tracking {
namespace {

constexpr std::size_t most_points = 256;
constexpr double width = 440, height = 250, left = 68, right = 428, top = 10, bottom = 210;

std::string px(double place) { return short_number(std::round(place * 10) / 10, 5); }

struct Scales {
  Axis steps, values;
  std::string x(double step) const { return px(left + steps.place(step) * (right - left)); }
  std::string y(double value) const { return px(bottom - values.place(value) * (bottom - top)); }
};

double middle(const Bucket& bucket) {
  return (static_cast<double>(bucket.first) + static_cast<double>(bucket.last)) / 2;
}

Scales scales_of(const std::vector<Bucket>& buckets) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const auto& bucket : buckets) {
    if (bucket.count == 0) continue;
    least = std::min(least, bucket.least);
    most = std::max(most, bucket.most);
  }
  if (least > most) least = most = 0;
  return {step_axis(static_cast<double>(buckets.front().first),
                    static_cast<double>(buckets.back().last)),
          value_axis(least, most)};
}

std::string line(const char* kind, const std::string& x1, const std::string& y1,
                 const std::string& x2, const std::string& y2) {
  return std::string("<line class=\"") + kind + "\" x1=\"" + x1 + "\" y1=\"" + y1 + "\" x2=\"" +
         x2 + "\" y2=\"" + y2 + "\"/>\n";
}

std::string label(const std::string& x, const std::string& y, const char* anchor,
                  const std::string& text) {
  return "<text x=\"" + x + "\" y=\"" + y + "\" text-anchor=\"" + anchor + "\">" + text +
         "</text>\n";
}

std::string grid(const Scales& scales) {
  std::string text;
  for (const auto& mark : scales.values.marks) {
    const auto y = scales.y(mark.at);
    text += line("grid", px(left), y, px(right), y);
    text += label(px(left - 6), px(bottom - scales.values.place(mark.at) * (bottom - top) + 4),
                  "end", mark.text);
  }
  for (const auto& mark : scales.steps.marks) {
    const auto x = scales.x(mark.at);
    text += line("grid", x, px(bottom), x, px(bottom + 4));
    text +=
        label(x, px(bottom + 19), scales.steps.place(mark.at) > 0.95 ? "end" : "middle", mark.text);
  }
  return text + line("axis", px(left), px(bottom), px(right), px(bottom));
}

/// The area and the line of neighbouring buckets that have values.
std::string stretch(const Scales& scales, const std::vector<Bucket>& buckets) {
  std::string there, back, means;
  bool reaches = false;
  for (const auto& bucket : buckets) {
    const auto x = scales.x(middle(bucket));
    there += (there.empty() ? "M" : "L") + x + ' ' + scales.y(bucket.most);
    back = 'L' + x + ' ' + scales.y(bucket.least) + back;
    means += (means.empty() ? "M" : "L") + x + ' ' + scales.y(bucket.mean);
    reaches = reaches || bucket.least < bucket.most;
  }
  if (buckets.size() == 1) {
    return "<circle class=\"point\" cx=\"" + scales.x(middle(buckets[0])) + "\" cy=\"" +
           scales.y(buckets[0].mean) + "\" r=\"3\"/>\n";
  }
  const auto area = reaches ? "<path class=\"area\" d=\"" + there + back + "Z\"/>\n" : "";
  return area + "<path class=\"mean\" d=\"" + means + "\"/>\n";
}

std::string curve(const Scales& scales, const std::vector<Bucket>& buckets) {
  std::string text, gaps;
  std::vector<Bucket> open;
  for (const auto& bucket : buckets) {
    if (bucket.not_finite > 0) {
      const auto x = scales.x(middle(bucket));
      gaps += line("gap", x, px(bottom - 8), x, px(bottom));
    }
    if (bucket.count > 0) {
      open.push_back(bucket);
    } else if (!open.empty()) {
      text += stretch(scales, open);
      open.clear();
    }
  }
  if (!open.empty()) text += stretch(scales, open);
  return text + gaps;
}

}  // namespace

std::string chart(const Series& series) {
  const auto buckets = series.coarse(most_points);
  const auto begin = "<svg viewBox=\"0 0 " + px(width) + ' ' + px(height) + "\" data-left=\"" +
                     px(left) + "\" data-right=\"" + px(right) + "\" data-bottom=\"" + px(bottom) +
                     "\" role=\"img\" aria-label=\"" + html(series.name()) + "\">\n";
  if (buckets.empty()) return begin + "</svg>\n";
  const auto scales = scales_of(buckets);
  return begin + grid(scales) + curve(scales, buckets) +
         label(px(right), px(bottom + 35), "end", "step") + "</svg>\n";
}

std::string html(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '&') {
      result += "&amp;";
    } else if (letter == '<') {
      result += "&lt;";
    } else if (letter == '>') {
      result += "&gt;";
    } else if (letter == '"') {
      result += "&quot;";
    } else if (code < 0x20 && letter != '\n' && letter != '\t') {
      result += "\xef\xbf\xbd";
    } else {
      result += letter;
    }
  }
  return result;
}

}  // namespace muster::tracking

#pragma once

#include "tracking/series.hpp"

#include <string>
#include <string_view>

namespace muster::tracking {

/// An SVG picture of a curve: a line of means, in an area from the least to the most. Colours come
/// from the page's style.
std::string chart(const Series& series);

/// The text with what has a meaning in HTML written out; control characters, which it must not
/// have, as U+FFFD.
std::string html(std::string_view text);

}  // namespace muster::tracking

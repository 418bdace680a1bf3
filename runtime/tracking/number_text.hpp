#pragma once

#include <muster/tracked_value.hpp>

#include <string>

namespace muster::tracking {

/// The shortest decimal that reads back as the same double, in any locale; nan, inf, -inf.
std::string exact(double value);
/// true or false, a whole number, exact(), or the text.
std::string value_text(const TrackedValue& value);
/// For a person: a few digits, large numbers in k, M, G or T: 0.4123, 31.2 k, 1e-05.
std::string short_number(double value, int digits = 4);

}  // namespace muster::tracking

#pragma once

#include <muster/tracker.hpp>

#include <string>
#include <string_view>

/// JSON that any reader takes: bytes that are no UTF-8 become U+FFFD, and numbers that JSON does
/// not have become the texts "NaN", "Infinity" and "-Infinity".
namespace muster::tracking {

std::string json(std::string_view text);
std::string json(double value);
std::string json(const TrackedValue& value);
/// `"name":value`s with commas between, of a name only the last value. Without braces.
std::string json_members(const TrackedItems& items);

}  // namespace muster::tracking

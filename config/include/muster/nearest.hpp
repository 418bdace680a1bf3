#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace muster {

/// How many letters must be put in, taken out, replaced or swapped with their neighbour to make
/// one text the other.
std::size_t edit_distance(std::string_view one, std::string_view other);

/// The known word that was probably meant, or nothing if none is near.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known);

/// "; did you mean X?" or an empty text.
std::string did_you_mean(std::string_view word, std::span<const std::string> known,
                         std::string_view before = "", std::string_view after = "");

}  // namespace muster

#pragma once

#include <muster/value.hpp>

/// The rules of single rows of the settings table; each gets a value of its row's kind.
namespace muster::rules {

/// One of auto, cpu and cuda, or different indices and UUIDs.
bool devices(const Value& value);
/// Empty, or a host or the address of one, without a port; IPv6 also in brackets.
bool address(const Value& value);
/// Empty, or a short word that can be printed.
bool run_id(const Value& value);
/// A rank, all or none.
bool input_rank(const Value& value);
/// Ranks and ranges (0,3-5), all or none.
bool ranks(const Value& value);
/// Exit codes and ranges of them (1,134-139), or any; none of them alone a code of wrong usage.
bool exit_codes(const Value& value);
/// Different names, or all or none alone.
bool trackers(const Value& value);
/// Empty, or one line.
bool folder(const Value& value);
/// One line whose braces hold names that the launcher fills in.
bool prefix(const Value& value);
/// Names, in a list or of a map, that an environment can hold.
bool variable_names(const Value& value);

}  // namespace muster::rules

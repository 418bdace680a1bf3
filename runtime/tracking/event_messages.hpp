#pragma once

#include <muster/tracker.hpp>

#include <string>
#include <string_view>

/// What TensorBoard reads: TFRecords, each an Event message.
namespace muster::tracking {

/// The message with its length and checksums around it.
std::string framed(std::string_view message);

/// The first event of a file.
std::string version_event(double time);
/// A run begins at `step`: what an earlier one logged from there on counts no more.
std::string start_event(double time, std::int64_t step);
/// Hyper-parameters, for the tabs HParams and Text.
std::string config_event(const TrackedRun& run, double time);
/// Numbers as scalars (of 32 bits, as TensorBoard's are), texts as texts.
std::string record_event(const TrackedRecord& record);
/// The run's end, for the tab HParams.
std::string end_event(double time, std::int64_t step);

}  // namespace muster::tracking

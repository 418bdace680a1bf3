#pragma once

namespace muster {

/// From now on this process tells its launcher where its first thread is, when the launcher asks by
/// SIGURG because it may not look itself. A program that handles SIGURG, and one without a launcher
/// of ours, is left alone.
void report_stacks();

}  // namespace muster

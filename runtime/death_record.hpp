#pragma once

namespace muster {

/// From now on the launcher learns why this process died: the text of an exception that nobody
/// caught, or the name of a fatal signal. What follows is unchanged: the previous terminate
/// handler, the signal's default action. Signals that the program handles itself are left alone.
/// Does nothing without a launcher of ours, or the second time.
void record_death();

}  // namespace muster

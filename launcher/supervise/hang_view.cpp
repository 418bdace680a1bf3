#include "supervise/hang_view.hpp"

#include "diagnose/process_files.hpp"
#include "supervise/kernel.hpp"

#include <algorithm>
#include <utility>

namespace muster::launcher {
namespace {

/// A rank may have written anything.
void correct_times(ControlNote& note, std::int64_t now_ns) {
  for (auto* const time : {&note.since_ns, &note.active_ns, &note.busy_ns})
    *time = std::clamp<std::int64_t>(*time, 0, now_ns);
}

}  // namespace

HangFacts hang_view(const JobFacts& facts, const ControlServer& control, int world_size) {
  HangFacts hang;
  hang.world_size = world_size;
  for (std::size_t i = 0; i < facts.ranks.size(); ++i) {
    const RankFacts& known = facts.ranks[i];
    const RankRecord& record = control.record_of(i);
    RankState rank;
    rank.rank = facts.first_rank + static_cast<int>(i);
    rank.pid = known.pid;
    rank.ended = known.ended;
    rank.exit_code = known.end.code;
    rank.signal = known.end.signal;
    rank.ready = record.ready;
    rank.tells_stack = record.tells_stack;
    rank.step_ns = record.step_ns;
    rank.note = control.note_of(i);
    if (!rank.note && record.ready) rank.note = ControlNote{};
    if (rank.note) rank.note->step = std::max(rank.note->step, record.step);
    if (!known.ended && known.pid > 0) {
      auto view = view_of(known.pid);
      rank.state = view.state;
      rank.tracer = view.tracer;
      rank.tracer_name = std::move(view.tracer_name);
      rank.waits_in = std::move(view.waits_in);
    }
    hang.ranks.push_back(std::move(rank));
  }
  hang.now_ns = monotonic_ns();
  for (RankState& rank : hang.ranks)
    if (rank.note) correct_times(*rank.note, hang.now_ns);
  return hang;
}

}  // namespace muster::launcher

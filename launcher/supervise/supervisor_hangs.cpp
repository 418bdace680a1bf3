// What the supervisor tells of ranks that do not go on.

#include <muster/world.hpp>

#include "diagnose/hang_text.hpp"
#include "screen/screen.hpp"
#include "supervise/hang_view.hpp"
#include "supervise/supervisor.hpp"
#include "text.hpp"

#include <csignal>
#include <memory>
#include <string>
#include <unistd.h>

namespace muster::launcher {
namespace {

/// That are kept for the report: somebody may ask all day long.
constexpr std::size_t most_hangs = 10;

}  // namespace

void Supervisor::start_diagnosis() {
  const int world_size = plan_.ranks.front().world.size;
  diagnosis_ = std::make_unique<Diagnosis>(
      loop_,
      Diagnosis::Job{
          .facts = [this, world_size] { return hang_view(facts_, control_, world_size); },
          .tell = [this](const HangFacts& hang) { tell_hang(hang); },
          .answer = [this](std::size_t rank) { control_.answer(rank); },
          .ask_for_stacks =
              [this](std::size_t rank) {
                order(Order::Kind::notify, SIGURG, static_cast<int>(rank));
              },
          .stalled =
              [this](const HangCause& cause) {
                facts_.stalled = cause;
                end_job(Cause::stalled, SIGTERM);
              }},
      options_.hang_timeout);
  control_.start(loop_, [this](std::size_t rank, const ControlMessage& message) {
    diagnosis_->heard(rank, message);
  });
}

void Supervisor::tell_stopped(int rank, int pid) {
  const auto number = std::to_string(pid);
  output_->notice("muster: rank " + std::to_string(rank) + " is stopped at its start, pid " +
                  number + ": gdb -p " + number + ", or kill -CONT " + number);
}

void Supervisor::tell_hang(const HangFacts& hang) {
  const auto text = hang_text(hang, Screen::of(STDERR_FILENO, current_environment()));
  for (const auto line : split(text, '\n')) {
    output_->notice(line);
    if (options_.quiet) break;
  }
  // The first one tells how it began, the newest how it ended.
  if (facts_.hangs.size() == most_hangs) facts_.hangs.erase(facts_.hangs.begin() + 1);
  facts_.hangs.push_back(hang);
}

}  // namespace muster::launcher

#include "output.hpp"

#include "supervise/kernel.hpp"
#include "supervise/prefix.hpp"
#include "supervise/terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace muster::launcher {

Output::Output(EventLoop& loop, Channels& channels, LogFolder& logs, const JobOptions& options,
               std::function<void()> changed)
    : loop_(loop), changed_(std::move(changed)), prefixed_(options.prefixed()) {
  for (int fd = STDOUT_FILENO; fd <= (channels.merged() ? STDOUT_FILENO : STDERR_FILENO); ++fd) {
    outlets_.push_back(
        std::make_unique<Outlet>(loop, fd, ::isatty(fd) == 1, [this] { on_outlet_changed(); }));
  }
  if (!logs.fault().empty()) notice("muster: " + logs.fault());
  for (Channel& channel : channels.all()) {
    auto place = place_of(channel, logs, options);
    place.raw = !prefixed_ && channels.ranks() == 1;
    streams_.push_back(std::make_unique<RankStream>(std::move(channel), std::move(place)));
    RankStream& stream = *streams_.back();
    stream.start(loop, [this, &stream] { on_readable(stream); });
  }
}

RankStream::Place Output::place_of(const Channel& channel, LogFolder& logs,
                                   const JobOptions& options) {
  const auto rank = static_cast<std::size_t>(channel.rank);
  std::string prefix = prefixed_ ? options.prefixes[rank] : "";
  prefix_columns_.push_back(columns_of(prefix));
  if (channel.terminal && options.colour) prefix = coloured(prefix, channel.rank);
  return {.outlet = options.shown.contains(channel.rank) ? outlet_for(channel.target) : nullptr,
          .prefix = std::move(prefix),
          .owner = static_cast<int>(streams_.size()),
          .log = logs.take(rank, channel.target),
          .log_failed = [this](const LogFile& log) { on_log_failed(log); }};
}

void Output::on_log_failed(const LogFile& log) {
  if (told_of_logs_) return;
  told_of_logs_ = true;
  notice("muster: cannot write to " + log.path() + ": " + std::strerror(log.error()) +
         "; the ranks run on, but this file and others of --log-dir may lack what follows");
}

bool Output::ended() const noexcept {
  return std::ranges::all_of(streams_, [](const auto& stream) { return stream->ended(); });
}

bool Output::flushed() const noexcept {
  return std::ranges::all_of(outlets_, [](const auto& outlet) { return outlet->sink.empty(); });
}

void Output::on_readable(RankStream& stream) {
  if (stream.blocked()) {
    stream.pause();
    return;
  }
  stream.read(monotonic_ns());
  if (Outlet* outlet = stream.outlet()) {
    outlet->sink.flush();
    if (!stream.ended() && stream.blocked()) stream.pause();
    resume_all();
  }
  if (stream.partial_due_ns() != 0) plan_partials();
  if (stream.ended()) changed_();
}

void Output::resume_all() {
  for (const auto& stream : streams_) stream->resume();
}

void Output::on_outlet_changed() {
  resume_all();
  changed_();
}

void Output::plan_partials() {
  if (partial_timer_ && partial_timer_->pending()) return;
  std::int64_t first = 0;
  for (const auto& stream : streams_) {
    const std::int64_t due = stream->partial_due_ns();
    if (due != 0 && (first == 0 || due < first)) first = due;
  }
  if (first == 0) return;
  if (!partial_timer_) partial_timer_ = loop_.timer();
  const auto wait = std::max<std::int64_t>(first - monotonic_ns(), 0);
  partial_timer_->set(std::chrono::nanoseconds(wait), [this] { on_partial_due(); });
}

void Output::on_partial_due() {
  const std::int64_t now = monotonic_ns();
  for (const auto& stream : streams_) {
    Outlet* outlet = stream->outlet();
    if (outlet == nullptr || stream->partial_due_ns() == 0) continue;
    stream->show_partial(now);
    outlet->sink.flush();
  }
  resume_all();
  plan_partials();
}

void Output::catch_up(std::int64_t now_ns) {
  for (const auto& stream : streams_) {
    if (stream->ended() || stream->blocked()) continue;
    stream->read(now_ns);
    if (Outlet* outlet = stream->outlet()) outlet->sink.flush();
  }
  plan_partials();
}

void Output::notice(std::string_view line) {
  Outlet& outlet = *outlets_.back();
  outlet.console.close_line(outlet.sink.buffer());
  outlet.sink.buffer().append(line).append("\n");
  outlet.sink.flush();
}

void Output::resize() {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Channel& channel = streams_[i]->channel();
    if (channel.terminal && !streams_[i]->ended())
      resize_pty(channel.ours.get(), channel.target, prefix_columns_[i]);
  }
}

void Output::stop_reading() {
  for (const auto& stream : streams_) stream->end();
}

void Output::close_lines(bool failed) {
  for (const auto& outlet : outlets_) {
    if (prefixed_) outlet->console.close_line(outlet->sink.buffer());
    // A report follows: it starts a line of its own.
    if (failed && outlet == outlets_.back() && outlet->last_byte != '\n')
      outlet->sink.buffer() += '\n';
    outlet->sink.flush();
  }
}

const Tail* Output::error_tail_of(int rank) const noexcept {
  for (const auto& stream : streams_)
    if (stream->channel().rank == rank && stream->channel().has_error) return &stream->tail();
  return nullptr;
}

const Tail* Output::tail_of(int rank) const noexcept {
  const Tail* const error = error_tail_of(rank);
  if (error != nullptr && !error->empty()) return error;
  for (const auto& stream : streams_)
    if (stream->channel().rank == rank && !stream->channel().has_error) return &stream->tail();
  return error;
}

}  // namespace muster::launcher

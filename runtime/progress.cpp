#include <muster/progress.hpp>

#include "progress_line.hpp"

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace muster {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds redraw_interval{100};
constexpr milliseconds log_interval{10'000};

/// A variable's value; empty if it is unset.
std::string_view variable(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Whether the environment asks for UTF-8. The locale of the C library is "C" in programs that do
/// not set it.
bool utf8_locale() noexcept {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = variable(name);
    if (value.empty()) continue;
    for (const std::string_view spelling : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
      if (value.find(spelling) != std::string_view::npos) return true;
    }
    return false;
  }
  return false;
}

int terminal_columns(int descriptor) noexcept {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const int columns = std::atoi(variable("COLUMNS").data());
  return columns > 0 ? columns : 80;
}

}  // namespace

struct Progress::State {
  std::string title;
  std::int64_t total;
  ProgressOptions options;
  bool terminal, colour, utf8;
  Clock::time_point start = Clock::now();
  std::optional<Clock::time_point> written;
  std::int64_t done = 0, samples = 0;
  std::string note;

  State(std::string given_title, std::int64_t given_total, ProgressOptions given)
      : title(std::move(given_title)),
        total(given_total),
        options(std::move(given)),
        terminal(isatty(options.descriptor) == 1 && variable("TERM") != "dumb"),
        colour(terminal && variable("NO_COLOR").empty()),
        utf8(utf8_locale()) {}

  void draw(bool last) {
    const auto now = Clock::now();
    // A log gets no line of an epoch that takes less than the interval, but for the last.
    if (!last && terminal && written && now - *written < redraw_interval) return;
    if (!last && !terminal && now - written.value_or(start) < log_interval) return;
    written = now;
    const double seconds = std::chrono::duration<double>(now - start).count();
    const ProgressView view{title, done, total, samples, seconds, options.unit, note, last};
    // The last column stays free: some terminals wrap when it is filled.
    const int width = terminal ? terminal_columns(options.descriptor) - 1 : 0;
    const std::string line = progress_line(view, {terminal, utf8, colour, width});
    write(terminal ? "\r" + line + "\x1b[K" + (last ? "\n" : "") : line + "\n");
  }

  void write(std::string_view text) const noexcept {
    while (!text.empty()) {
      const ssize_t count = ::write(options.descriptor, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }
};

Progress::Progress(std::string title, std::int64_t total, ProgressOptions options) {
  if (!options.enabled) return;
  state_ = std::make_unique<State>(std::move(title), total, std::move(options));
  if (state_->terminal) state_->draw(false);
}

Progress::Progress(Progress&& other) noexcept = default;

Progress& Progress::operator=(Progress&& other) noexcept {
  const Progress left(std::move(*this));
  state_ = std::move(other.state_);
  return *this;
}

Progress::~Progress() {
  if (state_ && state_->terminal) state_->write("\n");
}

void Progress::update(std::int64_t done, std::int64_t samples, std::string_view note) {
  if (!state_) return;
  state_->done = done;
  state_->samples = samples;
  state_->note = note;
  state_->draw(false);
}

void Progress::finish(std::string_view note) {
  if (!state_) return;
  const std::unique_ptr<State> state = std::move(state_);
  if (!note.empty()) state->note = note;
  state->draw(true);
}

}  // namespace muster

#include "blame.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <tuple>

namespace muster::launcher {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

constexpr std::array error_words{std::string_view{"error"},
                                 std::string_view{"exception"},
                                 std::string_view{"fatal"},
                                 std::string_view{"abort"},
                                 std::string_view{"assert"},
                                 std::string_view{"panic"},
                                 std::string_view{"fail"},
                                 std::string_view{"traceback"},
                                 std::string_view{"terminate called"},
                                 std::string_view{"what():"},
                                 std::string_view{"out of memory"},
                                 std::string_view{"segmentation"},
                                 std::string_view{"cannot"},
                                 std::string_view{"killed"}};

constexpr std::array lost_peer_words{
    std::string_view{"connection reset"},   std::string_view{"connection closed"},
    std::string_view{"closed by peer"},     std::string_view{"broken pipe"},
    std::string_view{"peer closed"},        std::string_view{"remote error"},
    std::string_view{"connection refused"}, std::string_view{"socket closed"},
    std::string_view{"lost connection"},    std::string_view{"remote process exited"},
    std::string_view{"timed out waiting"},  std::string_view{"wait timeout"},
    std::string_view{"operation timeout"}};

bool equal_but_for_case(char one, char lower) {
  return (one >= 'A' && one <= 'Z' ? static_cast<char>(one - 'A' + 'a') : one) == lower;
}

bool contains_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [text](std::string_view word) {
    return std::search(text.begin(), text.end(), word.begin(), word.end(), equal_but_for_case) !=
           text.end();
  });
}

/// From when on its lines count. The end of a large process may be announced long after it began to
/// die, but whoever was dying already when we stopped the others had spoken before that.
std::int64_t last_second(const Evidence& rank, std::int64_t stopped_ns) {
  return std::min(rank.end_ns, stopped_ns) - second_ns;
}

/// When this rank failed, as far as one can tell.
std::int64_t failure_ns(const Evidence& rank, std::int64_t stopped_ns) {
  if (rank.death_record_ns) return *rank.death_record_ns;
  const std::int64_t from = last_second(rank, stopped_ns);
  for (const Tail::Line& line : rank.stderr_lines) {
    if (line.monotonic_ns >= from && line.monotonic_ns <= rank.end_ns &&
        looks_like_error(line.text))
      return line.monotonic_ns;
  }
  return rank.end_ns;
}

bool speaks_of_lost_peer(const Evidence& rank, std::int64_t stopped_ns) {
  if (looks_like_lost_peer(rank.text)) return true;
  if (rank.death_record_ns) return rank.reason == "communication";
  const std::int64_t from = last_second(rank, stopped_ns);
  return std::ranges::any_of(rank.stderr_lines, [from](const Tail::Line& line) {
    return line.monotonic_ns >= from && looks_like_lost_peer(line.text);
  });
}

/// Whether it ended by what we sent it, whatever it had said before.
bool obeyed(const Evidence& rank) {
  return !rank.death_record_ns &&
         (rank.exit_code == 128 + SIGTERM || rank.exit_code == 128 + SIGKILL);
}

/// 0: failed by itself; 1: because another one did; 2: because we stopped it.
int degree(const Evidence& rank, std::int64_t failure, std::int64_t stopped_ns) {
  if (rank.stopped_by_us && (failure >= stopped_ns || obeyed(rank))) return 2;
  if (rank.signal == SIGPIPE) return 1;
  // A crash is no answer to a lost peer; an exception that nobody caught may be.
  if (rank.signal != 0 && rank.signal != SIGABRT) return 0;
  return speaks_of_lost_peer(rank, stopped_ns) ? 1 : 0;
}

}  // namespace

bool is_for_want_of_a_peer(const Evidence& rank, std::int64_t stopped_ns) {
  const bool crashed = rank.signal != 0 && rank.signal != SIGABRT;
  return !crashed && speaks_of_lost_peer(rank, stopped_ns);
}

bool looks_like_error(std::string_view line) { return contains_any(line, error_words); }

bool looks_like_lost_peer(std::string_view text) { return contains_any(text, lost_peer_words); }

FailureTime failure_time(const Evidence& rank, std::int64_t stopped_ns) {
  const std::int64_t failure = failure_ns(rank, stopped_ns);
  return {failure, degree(rank, failure, stopped_ns) != 0};
}

std::optional<std::size_t> first_failure(std::span<const Evidence> ranks, std::int64_t stopped_ns) {
  std::int64_t first_end = stopped_ns;
  for (const Evidence& rank : ranks)
    if (rank.exit_code != 0) first_end = std::min(first_end, rank.end_ns);
  std::optional<std::size_t> first;
  std::tuple<int, std::int64_t, std::int64_t> best;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].exit_code == 0) continue;
    const std::int64_t failure = failure_ns(ranks[i], stopped_ns);
    // What a rank said is read late, an end is seen at once: words from before we stopped anybody
    // may be older than the first end, and are trusted more.
    const bool spoke = failure < stopped_ns && failure != ranks[i].end_ns;
    // A rank that was dumping core when we stopped the others was dead long before it ended.
    const bool was_dead = ranks[i].core_dumped && !ranks[i].stopped_by_us;
    const std::int64_t latest = spoke || was_dead ? std::min(failure, first_end - 1) : failure;
    const std::tuple rank{degree(ranks[i], failure, stopped_ns), latest, failure};
    if (!first || rank < best) {
      first = i;
      best = rank;
    }
  }
  return first;
}

}  // namespace muster::launcher

#include "job_options.hpp"

#include "screen/screen.hpp"
#include "supervise/prefix.hpp"

#include <algorithm>
#include <unistd.h>

namespace muster::launcher {
namespace {

std::chrono::nanoseconds nanoseconds(Seconds seconds) {
  constexpr Seconds longest{1e9};  // 30 years; what is counted in nanoseconds ends at 290.
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::min(seconds, longest));
}

std::chrono::nanoseconds rest_of(Seconds whole, std::chrono::nanoseconds elapsed) {
  return std::max(nanoseconds(whole) - elapsed, std::chrono::nanoseconds(0));
}

}  // namespace

JobOptions job_options(const Plan& plan, const LaunchSettings& settings,
                       const JobContext& context) {
  const int here = static_cast<int>(plan.ranks.size());
  const World& first = plan.ranks.front().world;
  const int size = first.size;
  const auto ranks = [&](const std::string& text, const char* id) {
    return RankSet::parse(text, size, context.names.of(id)).from(first.rank);
  };
  JobOptions options{.prefixes = {},
                     .shown = ranks(settings.console_ranks, "launch.console_ranks"),
                     .reading = ranks(settings.standard_input, "launch.stdin"),
                     .copy_input = settings.standard_input == "all" && here > 1,
                     .log_dir = settings.log_dir,
                     .colour = Screen::may_colour(current_environment()),
                     .grace = nanoseconds(settings.grace),
                     .timeout = std::nullopt,
                     .hang_timeout = std::nullopt,
                     .quiet = context.quiet};
  if (settings.timeout) options.timeout = rest_of(*settings.timeout, context.elapsed);
  options.stop_on_exec = plan.stop_on_exec;
  if (plan.wrapped_alone >= 0) {
    if (!plan.input_chosen)
      options.reading = RankSet::parse(std::to_string(plan.wrapped_alone), size, "--wrap-ranks");
    const bool terminals = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
    if (terminals && options.reading.contains(plan.wrapped_alone))
      options.terminal = plan.wrapped_alone;
  }
  if (settings.hang_timeout) options.hang_timeout = nanoseconds(*settings.hang_timeout);
  // One rank looks as it does without a launcher, unless a prefix was asked for.
  if (!settings.no_prefix && (size > 1 || plan.prefix_asked)) {
    for (const ProcessSpec& spec : plan.ranks)
      options.prefixes.push_back(expand_prefix(settings.prefix, spec));
  }
  return options;
}

}  // namespace muster::launcher

#include "job_options.hpp"

#include <muster/error.hpp>

#include "supervise/prefix.hpp"
#include "text.hpp"

#include <algorithm>

namespace muster::launcher {
namespace {

std::chrono::nanoseconds nanoseconds(Seconds seconds) {
  constexpr Seconds longest{1e9};  // 30 years; what is counted in nanoseconds ends at 290.
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::min(seconds, longest));
}

RankSet reading_ranks(const std::string& text, int size) {
  if (text != "all" && text != "none" && !to_number<int>(text))
    throw ConfigError("--stdin '" + text + "': expected a rank, all or none");
  return RankSet::parse(text, size, "--stdin");
}

}  // namespace

JobOptions job_options(const Plan& plan, const LaunchSettings& settings) {
  const int size = static_cast<int>(plan.ranks.size());
  JobOptions options{.prefixes = {},
                     .shown = RankSet::parse(settings.console_ranks, size, "--console-ranks"),
                     .reading = reading_ranks(settings.standard_input, size),
                     .copy_input = settings.standard_input == "all" && size > 1,
                     .grace = nanoseconds(settings.grace),
                     .timeout = std::nullopt};
  if (settings.timeout) options.timeout = nanoseconds(*settings.timeout);
  // One rank looks as it does without a launcher, unless a prefix was asked for.
  if (!settings.no_prefix && (size > 1 || plan.prefix_asked)) {
    for (const ProcessSpec& spec : plan.ranks)
      options.prefixes.push_back(expand_prefix(settings.prefix, spec));
  }
  return options;
}

}  // namespace muster::launcher

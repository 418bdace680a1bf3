#include <muster/logger.hpp>
#include <muster/named_log.hpp>

namespace muster {

void Logger::log(LogLevel level, std::string_view message, LoggedBy by) const {
  if (by == LoggedBy::in_order) {
    // Ranks' own lines would be ordered by whoever reads them, not by when they were written.
    const auto messages = ranks_.gather_object(message);
    for (std::size_t rank = 0; ranks_.is_main_process() && rank < messages.size(); ++rank) {
      log_as(name_, level, "rank " + std::to_string(rank) + ": " + messages[rank]);
    }
    return;
  }
  const bool writes = by == LoggedBy::all || (by == LoggedBy::main && ranks_.is_main_process()) ||
                      (by == LoggedBy::local_main && ranks_.is_local_main_process());
  if (writes) log_as(name_, level, message);
}

void Logger::warning_once(std::string_view message, LoggedBy by) {
  if (told_.emplace(message).second) warning(message, by);
}

}  // namespace muster

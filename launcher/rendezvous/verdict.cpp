#include "verdict.hpp"

#include <muster/error.hpp>

#include <tuple>

namespace muster::launcher {
namespace {

bool counts(const Testimony& one) {
  return one.report.kind != OutcomeKind::ok && !one.report.by_others;
}

bool is_earlier(const Testimony& one, const Testimony& other) {
  return std::tuple(one.report.consequence, one.began_ns) <
         std::tuple(other.report.consequence, other.began_ns);
}

}  // namespace

Verdict decide(std::span<const Testimony> hosts) {
  const Testimony* first = nullptr;
  for (const Testimony& host : hosts) {
    if (counts(host) && (first == nullptr || is_earlier(host, *first))) first = &host;
  }
  if (first != nullptr) return {first->node, first->report};
  // Nobody says why, and yet somebody was told to end: whoever it was is not among these.
  for (const Testimony& host : hosts)
    if (host.report.kind != OutcomeKind::ok) return {host.node, host.report};
  return {};
}

Testimony lost_host(std::int32_t node, const std::string& message, std::int64_t noticed_ns,
                    std::int64_t silent_ns) {
  constexpr std::int64_t settle_ns = 1'000'000'000;
  Testimony lost;
  lost.node = node;
  lost.report.kind = OutcomeKind::lost;
  lost.report.exit_code = static_cast<int>(ExitCode::internal);
  lost.report.message = message;
  lost.began_ns = noticed_ns - silent_ns - settle_ns;
  return lost;
}

Outcome as_decided(Outcome own, const Verdict& verdict, const std::string& name) {
  const NodeReport& report = verdict.report;
  own.kind = report.kind;
  own.exit_code = report.exit_code;
  own.signal = report.signal;
  own.from_terminal = false;
  own.first = report.first;
  own.memory.reset();  // What is known of this host explains nothing of another one's rank.
  own.left_early.clear();
  own.where = report.kind == OutcomeKind::ok ? "" : name;
  const bool names_it = report.message.empty() || report.message.starts_with(name);
  own.message = names_it ? report.message : name + ": " + report.message;
  return own;
}

NodeReport report_of(const Outcome& outcome, std::int64_t now_ns) {
  NodeReport report;
  report.kind = outcome.kind;
  report.exit_code = outcome.exit_code;
  report.signal = outcome.signal;
  report.by_others = outcome.by_others;
  report.consequence = outcome.consequence;
  report.age_ns = outcome.began_ns == 0 ? 0 : now_ns - outcome.began_ns;
  report.first = outcome.first;
  report.message = outcome.message;
  return report;
}

}  // namespace muster::launcher

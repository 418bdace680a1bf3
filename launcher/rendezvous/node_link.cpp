#include "node_link.hpp"

#include "supervise/kernel.hpp"

#include <algorithm>
#include <csignal>

namespace muster::launcher {
namespace {

using std::chrono::seconds;

/// After the grace period: for ranks that take their time to die of SIGKILL, and for what they
/// printed last.
constexpr seconds link_patience{20};
/// What is counted in nanoseconds ends at 290 years.
constexpr Seconds longest_time{1e9};
/// In which the others have read the last word.
constexpr seconds farewell{3};

}  // namespace

NodeLink::NodeLink(Meeting meeting, Seconds grace)
    : meeting_(std::move(meeting)),
      grace_(std::chrono::duration_cast<std::chrono::nanoseconds>(std::min(grace, longest_time))) {}

void NodeLink::start(EventLoop& loop, Actions actions) {
  loop_ = &loop;
  actions_ = std::move(actions);
  patience_ = loop.timer();
  std::int32_t node = is_middle() ? 1 : 0;
  hosts_.reserve(meeting_.peers.size());
  for (OpenConnection& open : meeting_.peers) {
    Host& host = hosts_.emplace_back();
    host.node = node++;
    host.connection =
        std::make_unique<Connection>(loop, std::move(open), Connection::most_of_members);
    host.connection->start([this, &host](const Frame& frame) { on_frame(host, frame); },
                           [this, &host](const std::string& why, std::int64_t silent_ns) {
                             on_closed(host, why, silent_ns);
                           });
  }
  if (meeting_.door) answer_the_door(loop);
}

void NodeLink::answer_the_door(EventLoop& loop) {
  meeting_.door->open(loop, [this](std::int32_t node_rank) {
    const auto standing = ending_ || verdict_ ? Standing::ends : Standing::runs;
    return Doorkeeper::Words{
        standing, meeting_.full_text(node_rank, std::chrono::steady_clock::now() - met_)};
  });
}

void NodeLink::send(MessageKind kind, const std::string& payload, const Host* but) {
  for (Host& host : hosts_)
    if (host.connection && &host != but) host.connection->send(kind, payload);
}

void NodeLink::tell_end(int signal) {
  ending_ = true;
  send(MessageKind::ending, encode(Ending{signal}));
}

void NodeLink::tell_kill() { send(MessageKind::kill, ""); }

void NodeLink::report(Outcome own) {
  if (complete_) complete_(own);
  const auto now = monotonic_ns();
  own_ = Testimony{meeting_.node_rank, report_of(own, now), own.began_ns};
  if (is_middle()) {
    decide_if_all_are_done();
  } else if (!hosts_.front().connection) {
    finish();
  } else {
    send(MessageKind::report, encode(own_->report));
  }
  wait_for_the_rest();
}

void NodeLink::wait_for_the_rest() {
  // Where all is well so far, other hosts may compute on for as long as they like.
  if (!ending_ || !own_ || verdict_ || patience_->pending()) return;
  patience_->set(grace_ + link_patience, [this] {
    for (Host& host : hosts_)
      if (!host.testimony) lose(host, "it does not say how its ranks ended", 0);
  });
}

void NodeLink::on_frame(Host& host, const Frame& frame) {
  bool understood = true;
  if (frame.kind == MessageKind::ending) {
    const auto ending = decode<Ending>(frame.payload);
    understood = ending && ending->signal > 0 && ending->signal < SIGRTMIN;
    if (understood) obey_end(&host, ending->signal);
  } else if (frame.kind == MessageKind::kill) {
    if (is_middle()) send(MessageKind::kill, "", &host);
    actions_.kill();
  } else if (frame.kind == MessageKind::report && is_middle()) {
    auto report = decode<NodeReport>(frame.payload);
    understood = report.has_value();
    if (report) on_report(host, std::move(*report));
  } else if (frame.kind == MessageKind::verdict && !is_middle()) {
    const auto verdict = decode<Verdict>(frame.payload);
    understood = verdict.has_value();
    if (verdict) on_verdict(*verdict);
  } else {
    understood = frame.kind == MessageKind::progress;
  }
  if (!understood) lose(host, "what it sends is not as agreed", 0);
}

void NodeLink::obey_end(const Host* from, int signal) {
  ending_ = true;
  if (is_middle()) send(MessageKind::ending, encode(Ending{signal}), from);
  actions_.end(signal);
  wait_for_the_rest();
}

void NodeLink::on_report(Host& host, NodeReport report) {
  const auto began_ns = monotonic_ns() - report.age_ns;
  const bool is_well = report.kind == OutcomeKind::ok;
  host.testimony = Testimony{host.node, std::move(report), began_ns};
  if (!is_well && !ending_) obey_end(&host, SIGTERM);
  decide_if_all_are_done();
}

void NodeLink::on_verdict(const Verdict& verdict) {
  const bool known =
      verdict.node >= 0 && static_cast<std::size_t>(verdict.node) < meeting_.nodes.size();
  verdict_ = verdict;
  if (!known) verdict_->node = 0;
  // A host that could not start its ranks is not waited for, so ours may still run.
  if (!own_ && verdict.report.kind != OutcomeKind::ok) actions_.end(SIGTERM);
  if (own_) finish();
}

void NodeLink::on_closed(Host& host, const std::string& why, std::int64_t silent_ns) {
  lose(host, why, silent_ns);
}

void NodeLink::lose(Host& host, const std::string& why, std::int64_t silent_ns) {
  host.connection.reset();
  if (verdict_) {
    finish_if_all_know();
    return;
  }
  if (host.testimony) return;  // It had said all that there was to say.
  host.testimony = lost_host(
      host.node, meeting_.name_of(host.node) + " is lost: " + why + "; all ranks were ended",
      monotonic_ns(), silent_ns);
  if (!ending_) obey_end(&host, SIGTERM);
  decide_if_all_are_done();
}

void NodeLink::decide_if_all_are_done() {
  const bool all =
      std::ranges::all_of(hosts_, [](const Host& host) { return host.testimony.has_value(); });
  if (!own_ || !all || verdict_) return;
  std::vector<Testimony> testimonies{*own_};
  for (const Host& host : hosts_) testimonies.push_back(*host.testimony);
  verdict_ = decide(testimonies);
  patience_->cancel();
  if (!is_middle()) {
    finish();
    return;
  }
  send(MessageKind::verdict, encode(*verdict_));
  for (Host& host : hosts_)
    if (host.connection) host.connection->finish();
  patience_->set(farewell, [this] { finish(); });
  finish_if_all_know();
}

void NodeLink::finish_if_all_know() {
  const bool all =
      std::ranges::all_of(hosts_, [](const Host& host) { return host.connection == nullptr; });
  if (all && own_ && !done_) finish();
}

void NodeLink::finish() {
  if (!verdict_) {
    decide_if_all_are_done();
    return;
  }
  patience_->cancel();
  for (Host& host : hosts_) host.connection.reset();
  done_ = true;
  actions_.decided();
}

Outcome NodeLink::settle(Outcome own) const {
  if (complete_) complete_(own);
  if (!verdict_ || (verdict_->node == meeting_.node_rank && own.kind == verdict_->report.kind))
    return own;
  return as_decided(std::move(own), *verdict_, meeting_.name_of(verdict_->node));
}

void NodeLink::stop() noexcept {
  if (meeting_.door) meeting_.door->close();
  for (Host& host : hosts_) host.connection.reset();
  patience_.reset();
}

void NodeLink::abandon(int exit_code, const std::string& message) noexcept {
  try {
    NodeReport report;
    report.kind = OutcomeKind::not_started;
    report.exit_code = exit_code;
    report.message = message;
    for (const OpenConnection& peer : meeting_.peers) {
      if (!peer.socket) continue;
      if (is_middle()) {
        send_frame(peer.socket.get(), MessageKind::verdict, encode(Verdict{0, report}));
      } else {
        send_frame(peer.socket.get(), MessageKind::report, encode(report));
      }
    }
  } catch (const std::exception&) {
    // They will notice that the connection ends.
  }
}

}  // namespace muster::launcher

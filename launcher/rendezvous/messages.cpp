#include "messages.hpp"

#include "rendezvous/wire.hpp"

#include <algorithm>
#include <cmath>

namespace muster::launcher {
namespace {

/// Longest texts, in bytes.
constexpr std::size_t name_size = 256, line_size = 4096, text_size = 32768;
/// So that an answer is shorter than its question (Doorkeeper).
constexpr std::size_t datagram_text_size = 800;
constexpr std::size_t most_lines = 64, most_nodes = 20000;

// The fields of each message, once for writing and reading.

template <class Wire>
void fields(Wire& wire, Hello& message) {
  wire(message.nonce);
}

template <class Wire>
void fields(Wire& wire, Challenge& message) {
  wire(message.token);
  wire(message.nonce);
  wire(message.proof);
}

template <class Wire>
void fields(Wire& wire, Join& message) {
  wire(message.version, name_size);
  wire(message.host, name_size);
  wire(message.nodes);
  wire(message.node_rank);
  wire(message.total);
  wire(message.ranks);
  wire(message.run_id, name_size);
  wire(message.program);
  wire(message.settings);
  wire(message.fault_code);
  wire(message.fault, line_size);
}

template <class Wire>
void fields(Wire& wire, Notice& message) {
  wire(message.exit_code);
  wire(message.text, line_size);
}

template <class Wire>
void fields(Wire& wire, Node& node) {
  wire(node.host, name_size);
  wire(node.address, name_size);
  wire(node.ranks);
}

template <class Wire>
void fields(Wire& wire, Welcome& message) {
  wire(message.run_id, name_size);
  wire(message.node_rank);
  wire.list(message.nodes, most_nodes, [](Wire& inner, Node& node) { fields(inner, node); });
}

template <class Wire>
void fields(Wire& wire, Ending& message) {
  wire(message.signal);
}

/// Seconds, as whole microseconds: as many as a double counts exactly, which is 35 years.
template <class Wire>
void microseconds_of(Wire& wire, double& value) {
  constexpr std::int64_t most = std::int64_t{1} << 50U;
  auto micros = std::clamp<std::int64_t>(std::llround(value * 1e6), 0, most);
  wire(micros);
  if constexpr (Wire::reads) {
    if (micros < 0 || micros > most) wire.fail();
    value = static_cast<double>(micros) / 1e6;
  }
}

template <class Wire, class Enum>
void choice(Wire& wire, Enum& value, Enum last) {
  auto number = static_cast<std::int32_t>(value);
  wire(number);
  if constexpr (Wire::reads) {
    if (number < 0 || number > static_cast<std::int32_t>(last)) {
      wire.fail();
      number = 0;
    }
    value = static_cast<Enum>(number);
  }
}

template <class Wire>
void fields(Wire& wire, RankEnd& end) {
  wire(end.rank);
  wire(end.pid);
  wire(end.exit_code);
  wire(end.signal);
  wire(end.core_dumped);
  wire(end.core, line_size);
  wire(end.stopped_by_us);
  wire(end.out_of_memory);
  microseconds_of(wire, end.started);
  microseconds_of(wire, end.seconds);
  wire(end.reason, line_size);
  wire(end.text, text_size);
  wire(end.call_stack, text_size);
  wire.list(end.last_lines, most_lines,
            [](Wire& inner, std::string& line) { inner(line, line_size); });
  wire(end.stdout_log, line_size);
  wire(end.stderr_log, line_size);
  wire(end.host, name_size);
  wire(end.local_rank);
}

template <class Wire>
void fields(Wire& wire, NodeReport& message) {
  choice(wire, message.kind, OutcomeKind::lost);
  wire(message.exit_code);
  wire(message.signal);
  wire(message.by_others);
  wire(message.consequence);
  wire(message.age_ns);
  bool has_first = message.first.has_value();
  wire(has_first);
  if (has_first && !message.first) message.first.emplace();
  if (has_first) fields(wire, *message.first);
  wire(message.message, line_size);
}

template <class Wire>
void fields(Wire& wire, Verdict& message) {
  wire(message.node);
  fields(wire, message.report);
}

template <class Wire>
void fields(Wire& wire, Inquiry& message) {
  wire(message.nonce);
  wire(message.node_rank);
  wire(message.proof);
}

template <class Wire>
void fields(Wire& wire, Answer& message) {
  wire(message.nonce);
  wire(message.token);
  choice(wire, message.standing, Standing::ends);
  wire(message.text, datagram_text_size);
  wire(message.proof);
}

template <class Message>
std::string bytes_from(Message& message) {
  WireWriter writer;
  fields(writer, message);
  return writer.take();
}

}  // namespace

std::string encode(Hello message) { return bytes_from(message); }
std::string encode(Challenge message) { return bytes_from(message); }
std::string encode(Join message) { return bytes_from(message); }
std::string encode(Notice message) { return bytes_from(message); }
std::string encode(Welcome message) { return bytes_from(message); }
std::string encode(Ending message) { return bytes_from(message); }
std::string encode(NodeReport message) { return bytes_from(message); }
std::string encode(Verdict message) { return bytes_from(message); }
std::string encode(Inquiry message) { return bytes_from(message); }
std::string encode(Answer message) { return bytes_from(message); }

template <class Message>
std::optional<Message> decode(std::string_view bytes) {
  Message message;
  WireReader reader(bytes);
  fields(reader, message);
  if (!reader.done()) return std::nullopt;
  return message;
}

template std::optional<Hello> decode(std::string_view);
template std::optional<Challenge> decode(std::string_view);
template std::optional<Join> decode(std::string_view);
template std::optional<Notice> decode(std::string_view);
template std::optional<Welcome> decode(std::string_view);
template std::optional<Ending> decode(std::string_view);
template std::optional<NodeReport> decode(std::string_view);
template std::optional<Verdict> decode(std::string_view);
template std::optional<Inquiry> decode(std::string_view);
template std::optional<Answer> decode(std::string_view);

}  // namespace muster::launcher

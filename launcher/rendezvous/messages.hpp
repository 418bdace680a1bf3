#pragma once

#include "rendezvous/hmac_sha256.hpp"
#include "supervise.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// The messages between the launchers of one job. `encode` makes the bytes of one; `decode` reads
/// them, and gives nothing for bytes that are no such message: whoever reaches the port can send
/// any.

/// Of all frames; launchers whose numbers differ do not understand each other.
inline constexpr std::uint8_t rendezvous_protocol = 1;

enum class MessageKind : std::uint8_t {
  hello = 1,  ///< To node 0, the first: Hello.
  challenge,  ///< From node 0: Challenge.
  join,       ///< To node 0: a Digest that proves who it is from, and Join.
  progress,   ///< From node 0, while it waits for others: Notice.
  welcome,    ///< From node 0, when all are there: Welcome.
  refusal,    ///< From node 0, and the last: Notice.
  ending,     ///< The job is being ended: Ending. Node 0 passes it on.
  kill,       ///< Nothing is to be waited for any more. Node 0 passes it on.
  report,     ///< To node 0, when a host is done: NodeReport.
  verdict,    ///< From node 0, when all are: Verdict.
  inquiry,    ///< To node 0, by a datagram: Inquiry.
  answer,     ///< From node 0, by a datagram: Answer.
};
inline constexpr auto last_message = MessageKind::answer;

/// Random, so that a proof is good for one connection only.
struct Hello {
  Digest nonce{};
};

struct Challenge {
  bool token = false;  ///< Who joins must have it.
  Digest nonce{};
  Digest proof{};  ///< That node 0 has it.
};

/// What one launcher brings to the job.
struct Join {
  std::string version;  ///< muster's.
  std::string host;
  std::int32_t nodes = 1;
  std::int32_t node_rank = -1;  ///< -1: any.
  std::int32_t total = 0;       ///< Ranks in all; 0: each host says how many it has.
  std::int32_t ranks = 0;       ///< On this host; 0 if `total` decides.
  std::string run_id;           ///< Empty: node 0's.
  Digest program{};             ///< Of the program and its arguments.
  Digest settings{};            ///< Of the settings that ranks must share.
  std::int32_t fault_code = 0;  ///< Not 0: it cannot start its ranks, and would exit with this.
  std::string fault;            ///< Why.
};

/// A line for people.
struct Notice {
  std::int32_t exit_code = 0;
  std::string text;
};

/// A host of the job.
struct Node {
  std::string host;     ///< As it calls itself.
  std::string address;  ///< From where it joined, or where it listens: literal.
  std::int32_t ranks = 0;
};

struct Welcome {
  std::string run_id;
  std::int32_t node_rank = 0;  ///< Of whoever gets it.
  std::vector<Node> nodes;     ///< In the order of their ranks.
};

struct Ending {
  std::int32_t signal = 0;  ///< For the ranks.
};

/// How a host's part of the job ended.
struct NodeReport {
  OutcomeKind kind = OutcomeKind::ok;
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  bool by_others = false;    ///< It ended its ranks because another host said so.
  bool consequence = false;  ///< A rank failed, by its own words because another one had.
  std::int64_t age_ns = 0;   ///< How long ago that was which ended it, when this was sent.
  std::optional<RankEnd> first;
  std::string message;
};

/// The report that says how the job ended.
struct Verdict {
  std::int32_t node = 0;  ///< Whose it is, or who is lost.
  NodeReport report;
};

/// What becomes of a launcher that wants to join?
struct Inquiry {
  Digest nonce{};
  std::int32_t node_rank = -1;  ///< -1: any.
  Digest proof{};               ///< That it has the token; it covers the rest.
};

/// What node 0's launcher is at.
enum class Standing : std::uint8_t { waits, runs, ends };

struct Answer {
  Digest nonce{};      ///< The inquiry's.
  bool token = false;  ///< The job has one.
  Standing standing = Standing::waits;
  std::string text;  ///< For people; empty where the inquiry lacked the token.
  Digest proof{};    ///< That node 0 has the token; it covers the rest.
};

std::string encode(Hello message);
std::string encode(Challenge message);
std::string encode(Join message);
std::string encode(Notice message);
std::string encode(Welcome message);
std::string encode(Ending message);
std::string encode(NodeReport message);
std::string encode(Verdict message);
std::string encode(Inquiry message);
std::string encode(Answer message);

template <class Message>
std::optional<Message> decode(std::string_view bytes);

}  // namespace muster::launcher

#include "rendezvous/messages.hpp"

#include <catch2/catch_test_macros.hpp>

#include <random>
#include <string>

namespace muster::launcher {
namespace {

Join whole_join() {
  Join join;
  join.version = "1.2.3";
  join.host = "node-b";
  join.nodes = 3;
  join.node_rank = 2;
  join.total = 7;
  join.ranks = 4;
  join.run_id = "run";
  join.program = sha256("a");
  join.settings = sha256("b");
  join.fault_code = 127;
  join.fault = "no such program";
  return join;
}

NodeReport whole_report() {
  NodeReport report;
  report.kind = OutcomeKind::rank_failed;
  report.exit_code = 139;
  report.signal = 11;
  report.by_others = true;
  report.consequence = true;
  report.age_ns = 5'000'000'000;
  report.message = "message";
  auto& end = report.first.emplace();
  end.rank = 3;
  end.pid = 77;
  end.exit_code = 139;
  end.signal = 11;
  end.core_dumped = true;
  end.seconds = 1.5;
  end.reason = "exception";
  end.text = "two\nlines";
  end.last_lines = {"one", std::string("z\0ro", 4), ""};
  end.host = "node-b";
  end.local_rank = 1;
  return report;
}

/// Each kind of message, as bytes.
std::vector<std::string> all_messages() {
  return {encode(Hello{sha256("n")}),
          encode(Challenge{true, sha256("n"), sha256("p")}),
          encode(whole_join()),
          encode(Notice{2, "text"}),
          encode(Welcome{"run", 1, {{"a", "10.0.0.1", 3}, {"b", "10.0.0.2", 1}}}),
          encode(Ending{15}),
          encode(whole_report()),
          encode(Verdict{1, whole_report()}),
          encode(Inquiry{sha256("n"), 1, sha256("p")}),
          encode(Answer{sha256("n"), true, Standing::runs, "text", sha256("p")})};
}

/// Whatever the bytes are, all that may happen is that they mean nothing. What they mean, if they
/// do, must be what is sent again for it.
template <class Message>
void read_any(const std::string& bytes) {
  const auto message = decode<Message>(bytes);
  if (message) CHECK(encode(*message) == bytes);
}

void read_as_all(const std::string& bytes) {
  read_any<Hello>(bytes);
  read_any<Challenge>(bytes);
  read_any<Join>(bytes);
  read_any<Notice>(bytes);
  read_any<Welcome>(bytes);
  read_any<Ending>(bytes);
  read_any<NodeReport>(bytes);
  read_any<Verdict>(bytes);
  read_any<Inquiry>(bytes);
  read_any<Answer>(bytes);
}

}  // namespace

TEST_CASE("what launchers tell each other arrives as it was sent") {
  const auto join = decode<Join>(encode(whole_join()));
  REQUIRE(join);
  CHECK(join->host == "node-b");
  CHECK(join->node_rank == 2);
  CHECK(join->total == 7);
  CHECK(join->settings == sha256("b"));
  CHECK(join->fault == "no such program");

  const auto welcome =
      decode<Welcome>(encode(Welcome{"run", 1, {{"a", "::1", 3}, {"b", "10.0.0.2", 1}}}));
  REQUIRE(welcome);
  REQUIRE(welcome->nodes.size() == 2);
  CHECK(welcome->nodes[0].address == "::1");
  CHECK(welcome->nodes[1].ranks == 1);

  const auto verdict = decode<Verdict>(encode(Verdict{4, whole_report()}));
  REQUIRE(verdict);
  CHECK(verdict->node == 4);
  CHECK(verdict->report.kind == OutcomeKind::rank_failed);
  CHECK(verdict->report.age_ns == 5'000'000'000);
  REQUIRE(verdict->report.first);
  CHECK(verdict->report.first->last_lines == whole_report().first->last_lines);
  CHECK(verdict->report.first->seconds == 1.5);
  CHECK(verdict->report.first->core_dumped);

  CHECK_FALSE(decode<NodeReport>(encode(NodeReport{}))->first);
}

TEST_CASE("texts that are too long are cut, not refused") {
  auto report = whole_report();
  report.first->text = std::string(1'000'000, 'x');
  report.first->last_lines.assign(500, "line");
  const auto read = decode<NodeReport>(encode(report));
  REQUIRE(read);
  CHECK(read->first->text.size() == 32768);
  CHECK(read->first->last_lines.size() == 64);
}

TEST_CASE("a message with a part missing, or with more behind it, means nothing") {
  for (const auto& bytes : all_messages()) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      read_as_all(bytes.substr(0, size));
    }
    read_as_all(bytes + "x");
  }
  CHECK_FALSE(decode<Join>(encode(whole_join()).substr(1)));
  CHECK_FALSE(decode<Join>(encode(whole_join()) + "x"));
  CHECK_FALSE(decode<Notice>(""));
}

TEST_CASE("lengths that lie cost nothing") {
  const std::string most(4, '\xff');
  CHECK_FALSE(decode<Notice>(std::string(4, '\0') + most));
  CHECK_FALSE(decode<Notice>(std::string(4, '\0') + "\x7f\xff\xff\xff" + "text"));
  CHECK_FALSE(decode<Welcome>(std::string(8, '\0') + most));
  CHECK_FALSE(decode<Welcome>(std::string(8, '\0') + std::string("\0\0\x4e\x20", 4)));
}

TEST_CASE("random bytes, and messages with bytes changed, harm nothing") {
  std::mt19937 random(20240607);
  std::uniform_int_distribution<int> byte(0, 255);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes(static_cast<std::size_t>(byte(random)), '\0');
    for (char& one : bytes) one = static_cast<char>(byte(random));
    read_as_all(bytes);
  }
  for (const auto& good : all_messages()) {
    for (int round = 0; round < 2000; ++round) {
      auto bytes = good;
      std::uniform_int_distribution<std::size_t> place(0, bytes.size() - 1);
      for (int changes = byte(random) % 4; changes >= 0; --changes)
        bytes[place(random)] = static_cast<char>(byte(random));
      read_as_all(bytes);
    }
  }
}

}  // namespace muster::launcher

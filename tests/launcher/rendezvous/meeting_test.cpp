#include "rendezvous/meeting.hpp"

#include <catch2/catch_test_macros.hpp>

namespace muster::launcher {
namespace {

std::string difference_of(const Join& one, const Join& other) {
  return difference(one, "a", other, "b");
}

}  // namespace

TEST_CASE("ranks in all are shared out evenly, the rest to the first hosts") {
  CHECK(share_of(7, 2, 0) == 4);
  CHECK(share_of(7, 2, 1) == 3);
  CHECK(share_of(8, 3, 0) == 3);
  CHECK(share_of(8, 3, 1) == 3);
  CHECK(share_of(8, 3, 2) == 2);
}

TEST_CASE("a meeting knows which ranks are here") {
  Meeting meeting;
  meeting.nodes = {{"a", "10.0.0.1", 3}, {"b", "10.0.0.2", 1}, {"c", "10.0.0.3", 2}};
  meeting.node_rank = 2;
  CHECK(meeting.first_rank() == 4);
  CHECK(meeting.world_size() == 6);
  CHECK(meeting.name_of(1) == "node 1 (b, 10.0.0.2)");
}

TEST_CASE("what hosts do not agree on is said with both sides") {
  Join own;
  own.version = "1";
  own.nodes = 2;
  own.ranks = 3;
  Join other = own;
  other.ranks = 1;  // Hosts may differ in that.
  other.host = "other";
  other.node_rank = 1;
  CHECK(difference_of(own, other).empty());

  other.version = "2";
  CHECK(difference_of(own, other) ==
        "the hosts do not agree on muster's version: a has 1, b has 2");
  other = own;
  other.nodes = 3;
  CHECK(difference_of(own, other) == "the hosts do not agree on --nnodes: a has 2, b has 3");
  other = own;
  other.total = 4;
  CHECK(difference_of(own, other) ==
        "the hosts do not agree on the number of ranks: a has one for each host "
        "(--nproc-per-node), b has 4 in all (-n)");
  other = own;
  other.program = sha256("x");
  CHECK(difference_of(own, other) ==
        "the hosts do not agree on what to start: the program or its arguments are others on a "
        "than on b");
  other = own;
  other.settings = sha256("x");
  CHECK(difference_of(own, other).find("[train]") != std::string::npos);
}

TEST_CASE("a run id that only one host was given is the job's") {
  Join own, other;
  own.run_id = "x";
  CHECK(difference_of(own, other).empty());
  other.run_id = "y";
  CHECK(difference_of(own, other) == "the hosts do not agree on --run-id: a has x, b has y");
}

}  // namespace muster::launcher

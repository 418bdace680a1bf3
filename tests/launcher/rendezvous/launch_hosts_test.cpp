#include "launcher/rendezvous/two_launchers.hpp"
#include "port.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <fstream>
#include <sys/socket.h>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

}  // namespace

TEST_CASE("two hosts with different numbers of ranks are one world") {
  MUSTER_NEEDS_TWO_NETWORKS();
  const auto address = TwoNetworks::address(0);
  Job job(two(address, {"--nproc-per-node", "3"}), two(address, {"--nproc-per-node", "1"}), {},
          &networks);
  CHECK(job.wait(0).code == 0);
  CHECK(job.wait(1).code == 0);
  for (int rank = 0; rank < 4; ++rank) {
    const std::size_t host = rank < 3 ? 0 : 1;
    const auto env = job.rank(host, rank)["env"];
    CHECK(env["WORLD_SIZE"] == "4");
    CHECK(env["LOCAL_RANK"] == std::to_string(rank % 3));
    CHECK(env["LOCAL_WORLD_SIZE"] == (host == 0 ? "3" : "1"));
    CHECK(env["GROUP_RANK"] == std::to_string(host));
    CHECK(env["NODE_RANK"] == std::to_string(host));
    CHECK(env["GROUP_WORLD_SIZE"] == "2");
    CHECK(env["MASTER_ADDR"] == address);
    CHECK(env["MASTER_PORT"] == "29500");
    CHECK(env["TORCHELASTIC_RUN_ID"] == job.rank(0, 0)["env"]["TORCHELASTIC_RUN_ID"]);
    CHECK(env.contains("MUSTER_MASTER_FD") == (rank == 0));
  }
}

TEST_CASE("ranks in all are shared out, over IPv6 too") {
  MUSTER_NEEDS_TWO_NETWORKS();
  const auto address = "[" + TwoNetworks::address6(0) + "]";
  Job job(two(address, {"-n", "5", "--node-rank", "0"}), two(address, {"-n", "5"}), {}, &networks);
  const auto first = job.wait(0);
  if (first.err.find("has not that address") != std::string::npos) SKIP("there is no IPv6");
  CHECK(first.code == 0);
  CHECK(job.wait(1).code == 0);
  CHECK(job.rank(0, 2)["env"]["LOCAL_WORLD_SIZE"] == "3");
  CHECK(job.rank(1, 4)["env"]["LOCAL_WORLD_SIZE"] == "2");
  CHECK(job.rank(1, 4)["env"]["MASTER_ADDR"] == TwoNetworks::address6(0));
}

TEST_CASE("the first rank that fails is named on both hosts, and its code is both launchers'") {
  MUSTER_NEEDS_TWO_NETWORKS();
  const auto address = TwoNetworks::address(0);
  Job job(two(address, {"-n", "4", "--report", "/dev/stdout"}), two(address, {"-n", "4"}),
          {"--on", "3", "--print-error", "it is my error\\n", "--exit", "7", "--on", "all",
           "--sleep", "600"},
          &networks);
  for (const std::size_t host : {0U, 1U}) {
    const auto end = job.wait(host);
    CHECK(end.code == 7);
    CHECK_THAT(end.err, ContainsSubstring("rank 3 failed first: exit 7 on "));
    CHECK_THAT(end.err, ContainsSubstring("local rank 1"));
    CHECK_THAT(end.err, ContainsSubstring("it is my error"));
    if (host == 1) continue;
    CHECK_THAT(end.err, ContainsSubstring("ranks 0-1 stopped by muster"));
    const auto report = json::parse(end.out);
    CHECK(report["outcome"] == "rank_failed");
    CHECK(report["node_rank"] == 0);
    CHECK(report["nodes"].size() == 2);
    CHECK(report["nodes"][1]["address"] == TwoNetworks::address(1));
    CHECK(report["nodes"][1]["first_rank"] == 2);
    CHECK(report["first_failure"]["rank"] == 3);
    CHECK_THAT(report["began_on"].get<std::string>(), ContainsSubstring("node 1 ("));
  }
}

TEST_CASE("a launcher that is killed ends the others' ranks, and is named") {
  MUSTER_NEEDS_TWO_NETWORKS();
  const auto address = TwoNetworks::address(0);
  Job job(two(address), two(address, {"--node-rank", "1"}), until_told, &networks);
  job[0].wait_for_file("up");
  job[1].wait_for_file("up");
  SECTION("of node 1") {
    job[1].send(SIGKILL);
    const auto end = job.wait(0);
    CHECK(end.code == 125);
    CHECK_THAT(end.err, ContainsSubstring("node 1 ("));
    CHECK_THAT(end.err, ContainsSubstring(TwoNetworks::address(1) + ") is lost"));
    job.wait(1);
  }
  SECTION("of node 0") {
    job[0].send(SIGKILL);
    const auto end = job.wait(1);
    CHECK(end.code == 125);
    CHECK_THAT(end.err, ContainsSubstring("node 0 ("));
    CHECK_THAT(end.err, ContainsSubstring("is lost"));
    job.wait(0);
  }
}

TEST_CASE("a host whose cable is pulled is noticed on both sides") {
  MUSTER_NEEDS_TWO_NETWORKS();
  const auto address = TwoNetworks::address(0);
  Job job(two(address), two(address), until_told, &networks);
  job[0].wait_for_file("up");
  job[1].wait_for_file("up");
  networks.cut();
  for (const std::size_t host : {0U, 1U}) {
    const auto end = job.wait(host);
    CHECK(end.code == 125);
    CHECK_THAT(end.err, ContainsSubstring("node " + std::to_string(1 - host) + " ("));
    CHECK_THAT(end.err, ContainsSubstring("is lost"));
  }
}

TEST_CASE("a host's own name that is loopback there is listened for where others reach it") {
  MUSTER_NEEDS_TWO_NETWORKS();
  networks.name(0, "node-zero", "127.0.1.1");
  networks.name(1, "node-zero", TwoNetworks::address(0));
  Job job(two("node-zero"), two("node-zero"), {}, &networks);
  const auto first = job.wait(0), second = job.wait(1);
  CHECK(first.code == 0);
  CHECK(second.code == 0);
  CHECK_THAT(first.err, ContainsSubstring("is 127.0.1.1 on this host"));
  CHECK_THAT(first.err, ContainsSubstring("listening on 10.77.0.1 (cable)"));
  CHECK(job.rank(0, 0)["env"]["MASTER_ADDR"] == TwoNetworks::address(0));
  CHECK(job.rank(1, 1)["env"]["MASTER_ADDR"] == TwoNetworks::address(0));
}

TEST_CASE("two launchers of one host meet as they come") {
  const auto port = free_port();
  Job job(on_loopback(port), on_loopback(port), {});
  const auto first = job.wait(0), second = job.wait(1);
  INFO(first.err << second.err);
  CHECK(first.code == 0);
  CHECK(second.code == 0);
  const auto told =
      (first.err + second.err).find("whoever reaches 127.0.0.1:" + port + " can join this job");
  CHECK(told != std::string::npos);
}

TEST_CASE("ranks get the address that was given, whatever hosts are called") {
  if (!works("unshare --uts true")) SKIP("needs root, for a host name of its own");
  const Words nameless{"unshare", "--uts", "sh", "-c", "hostname no-such-host; exec \"$@\"", "sh"};
  const auto port = free_port();
  Job job(on_loopback(port, {"--node-rank", "0"}), on_loopback(port, {"--node-rank", "1"}), {},
          {nameless, nameless});
  for (const std::size_t host : {0U, 1U}) {
    CHECK(job.wait(host).code == 0);
    CHECK(job.rank(host, static_cast<int>(host))["env"]["MASTER_ADDR"] == "127.0.0.1");
  }
}

TEST_CASE("hosts whose clocks disagree are one job, and know how it ended") {
  // A quarter of an hour ahead of the other.
  const Words ahead{"unshare", "--time", "--monotonic", "900", "--boottime", "900"};
  if (!works("unshare --time --monotonic 900 true")) SKIP("needs root, for a clock of its own");
  const auto port = free_port();
  for (const bool first_is_ahead : {true, false}) {
    Job job(on_loopback(port, {"--node-rank", "0"}), on_loopback(port, {"--node-rank", "1"}),
            {"--touch", "OUT/up", "--on", "1", "--wait-for", "OUT/go", "--exit", "7", "--on", "0",
             "--sleep", "600"},
            first_is_ahead ? Wrappers{ahead, {}} : Wrappers{{}, ahead});
    job[0].wait_for_file("up");
    job[1].wait_for_file("up");
    job[1].touch("go");
    for (const std::size_t host : {0U, 1U}) {
      const auto end = job.wait(host);
      CHECK(end.code == 7);
      CHECK_THAT(end.err, ContainsSubstring("rank 1 failed first: exit 7"));
    }
  }
}

TEST_CASE("a signal to one launcher ends the ranks of all") {
  const int signal = GENERATE(SIGTERM, SIGINT);
  const std::size_t told = GENERATE(0U, 1U);
  const auto port = free_port();
  Job job(on_loopback(port, {"--node-rank", "0"}), on_loopback(port, {"--node-rank", "1"}),
          until_told);
  job[0].wait_for_file("up");
  job[1].wait_for_file("up");
  job[told].send(signal);
  for (const std::size_t host : {0U, 1U}) {
    const auto end = job.wait(host);
    CHECK(end.code == 128 + signal);
    CHECK_THAT(end.err, ContainsSubstring(signal == SIGTERM ? "ended by SIGTERM" : "by SIGINT"));
    const bool elsewhere = end.err.find(" on node " + std::to_string(told)) != std::string::npos;
    CHECK(elsewhere == (host != told));
  }
}

TEST_CASE("ranks that do not obey are killed on all hosts after the grace period") {
  const auto port = free_port();
  const Words grace{"--grace", "0.3"};
  Job job(on_loopback(port, Words{"--node-rank", "0"} + grace),
          on_loopback(port, Words{"--node-rank", "1"} + grace),
          {"--ignore-term", "--touch", "OUT/up", "--on", "0", "--wait-for", "OUT/go", "--exit", "5",
           "--on", "all", "--sleep", "600"});
  job[0].wait_for_file("up");
  job[1].wait_for_file("up");
  std::ofstream(job[0].path("go")).close();
  const auto other = job.wait(1);
  CHECK(other.code == 5);
  CHECK_THAT(other.err, ContainsSubstring("rank 0 failed first: exit 5"));
  CHECK_THAT(other.err, ContainsSubstring("rank 1 stopped by muster (SIGKILL)"));
  CHECK(job.wait(0).code == 5);
}

TEST_CASE("a host whose ranks are done waits for how the job ends") {
  const auto port = free_port();
  Job job(on_loopback(port, {"--node-rank", "0"}), on_loopback(port, {"--node-rank", "1"}),
          {"--on", "1", "--wait-for", "OUT/go", "--exit", "9"});
  job[0].wait_for_file("rank_0.json");
  job[1].wait_for_file("rank_1.json");
  std::ofstream(job[1].path("go")).close();
  for (const std::size_t host : {0U, 1U}) {
    const auto end = job.wait(host);
    CHECK(end.code == 9);
    CHECK_THAT(end.err, ContainsSubstring("rank 1 failed first: exit 9"));
  }
}

TEST_CASE("the token opens the door, and ranks never see it") {
  const auto port = free_port();
  TemporaryFolder folder;
  folder.write("token", "0123456789abcdef\n");
  const Words token{"--token-file", folder.path() + "/token"};
  Job job(on_loopback(port, Words{"--node-rank", "0", "-q"} + token),
          on_loopback(port, Words{"--node-rank", "1", "-q"} + token), {});
  CHECK(job.wait(0).code == 0);
  CHECK(job.wait(1).code == 0);
  LaunchRun::Options options;
  options.environment = {{"MUSTER_TOKEN", "0123456789abcdef"}};
  LaunchRun alone({"-n", "1", "--", probe_program()}, options);
  CHECK(alone.wait().code == 0);
  const auto rank = json::parse(file_text(alone.path("rank_0.json")));
  CHECK_FALSE(rank["env"].contains("MUSTER_TOKEN"));
}

TEST_CASE("what hosts do not agree on is told on both, and nothing is started") {
  const auto port = free_port();
  Words first = on_loopback(port, {"--node-rank", "0"});
  Words second = on_loopback(port, {"--node-rank", "1"});
  std::string fault;
  SECTION("programs") {
    Job job(first, second, {"same"});
    fault = "";
    CHECK(job.wait(0).code == 0);
    CHECK(job.wait(1).code == 0);
    return;
  }
  SECTION("settings of ranks") {
    second = second + Words{"--seed", "7"};
    fault = "[train] and the like";
  }
  SECTION("run ids") {
    first = first + Words{"--run-id", "x"};
    second = second + Words{"--run-id", "y"};
    fault = "--run-id";
  }
  SECTION("ranks") {
    second = second + Words{"-n", "4"};
    fault = "the number of ranks";
  }
  Job job(first, second, {});
  for (const std::size_t host : {0U, 1U}) {
    const auto end = job.wait(host);
    CHECK(end.code == 2);
    CHECK_THAT(end.err, ContainsSubstring("the hosts do not agree on "));
    CHECK_THAT(end.err, ContainsSubstring(fault));
    CHECK(file_text(job[host].path("rank_" + std::to_string(host) + ".json")).empty());
  }
}

TEST_CASE("what can be told before hosts meet is") {
  const auto refused = [](const Words& words, int code, const std::string& text) {
    const auto end = launch(words + Words{"--", "true"});
    CHECK(end.code == code);
    CHECK_THAT(end.err, ContainsSubstring(text));
  };
  refused({"--nnodes", "2"}, 2, "--nnodes 2 needs --master-addr");
  refused(two("203.0.113.1", {"--node-rank", "0"}), 2, "--bind-addr");
  refused(two("127.0.0.1", {"--master-port", "0"}), 2, "--master-port 0 with --nnodes 2");
  refused(two("::1", {"--node-rank", "2"}), 2, "--node-rank 2 of 2 hosts: expected 0 to 1");
  refused({"--node-rank", "1"}, 2, "--nnodes says how many hosts there are");
  refused(two("::1", {"-n", "1"}), 2, "each host needs at least one rank");
  refused(two("::1", {"--max-restarts", "1"}), 2, "are not restarted");
  refused(two("::1", {"--bind-addr", "::1", "--node-rank", "1"}), 2, "--bind-addr is where node 0");
  refused(two("no-such-host.invalid", {"--node-rank", "0"}), 2, "no-such-host.invalid");
  const auto port = free_port();
  refused(on_loopback(port, {"--rdzv-timeout", "0.5", "--node-rank", "0"}), 124,
          "1 of 2 hosts has joined, node rank 1 is missing");
  refused(on_loopback(port, {"--rdzv-timeout", "0.5", "--node-rank", "1"}), 124,
          "Connection refused");
}

TEST_CASE("a port that another program has is told at once") {
  const auto reserved = launcher::reserve_port("127.0.0.1", 0);
  ::listen(reserved.socket.get(), 8);
  const auto port = std::to_string(reserved.port);
  const auto end = launch(on_loopback(port, {"--node-rank", "0", "--", "true"}));
  CHECK(end.code == 2);
  CHECK_THAT(end.err, ContainsSubstring("port " + port + " on 127.0.0.1 is taken"));
  CHECK_THAT(end.err, ContainsSubstring("--master-port"));
}

TEST_CASE("Ctrl-C ends a launcher that waits for hosts") {
  LaunchRun run(on_loopback(free_port(), {"--node-rank", "0", "--", "true"}));
  run.wait_for_output("can join this job");
  run.send(SIGINT);
  const auto end = run.wait();
  CHECK(end.code == 130);
  CHECK_THAT(end.err, ContainsSubstring("ended by SIGINT"));
}

TEST_CASE("a dry run plans without the other hosts, and says what it cannot know") {
  const auto known =
      launch(two("10.0.0.1", {"-n", "5", "--node-rank", "1", "--dry-run", "--", "./x"}));
  CHECK(known.code == 0);
  CHECK_THAT(known.out, ContainsSubstring("5 ranks on 2 hosts, here node 1 with ranks 3-4"));
  CHECK_THAT(known.out, ContainsSubstring("MASTER_ADDR=10.0.0.1"));
  CHECK_THAT(known.out, !ContainsSubstring("unknown"));
  const auto unknown =
      launch(two("node-zero", {"--nproc-per-node", "2", "--dry-run", "--", "./x"}));
  CHECK(unknown.code == 0);
  CHECK_THAT(unknown.out, ContainsSubstring("which node this is (--node-rank), shown as 0"));
  CHECK_THAT(unknown.out, ContainsSubstring("how many ranks other hosts have, shown as 2 each"));
  CHECK_THAT(unknown.out, ContainsSubstring("the address that node-zero has"));
}

}  // namespace muster::test

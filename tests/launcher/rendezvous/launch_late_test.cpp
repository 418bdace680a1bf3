// Launchers that come when a job needs no more: what they are told, by whom, and that it is at
// once.

#include "launcher/rendezvous/two_launchers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// One more launcher of the job, and what it says.
void refused(const Words& words, const std::string& text, const LaunchRun::Options& options = {}) {
  LaunchRun late(words + Words{"--", probe_program()}, options);
  const auto end = late.wait();
  INFO(end.err);
  CHECK(end.code == 2);
  CHECK_THAT(end.err, ContainsSubstring(text));
  CHECK(std::ranges::count(end.err, '\n') == 1);
  CHECK_FALSE(std::filesystem::exists(late.path("rank_0.json")));
  CHECK_FALSE(std::filesystem::exists(late.path("rank_1.json")));
}

/// Both launchers, whose ranks run, and where rank 0 listens or does not.
struct RunningJob {
  Job job;

  RunningJob(const Words& first, const Words& second, bool stores,
             const TwoNetworks* networks = nullptr)
      : job(first, second,
            (stores ? Words{"--on", "0", "--store", "--on", "all"} : Words{}) + until_told,
            networks) {
    job[0].wait_for_file("up");
    job[1].wait_for_file("up");
  }

  void end() {
    job[0].send(SIGTERM);
    CHECK(job.wait(0).code == 143);
    CHECK(job.wait(1).code == 143);
  }
};

}  // namespace

TEST_CASE("a host that comes when the job runs is refused by name, and so is a second one") {
  const bool stores = GENERATE(false, true);
  CAPTURE(stores);
  const auto port = free_port();
  const auto words = [&](const Words& more) { return on_loopback(port, more); };
  RunningJob running(words({"--node-rank", "0"}), words({"--node-rank", "1"}), stores);
  const std::string at = "node 0 at 127.0.0.1:" + port + ": ";
  refused(words({}), at + "all 2 hosts of the job have joined already, ");
  refused(words({}), "node 1 (");
  refused(words({"--node-rank", "1"}), at + "--node-rank 1 is taken by ");
  refused(words({"--node-rank", "0"}), at + "--node-rank 0 is taken by ");
  refused(words({"--node-rank", "0"}), "; another job needs another --master-port");
  running.end();
}

TEST_CASE("a host of another network that comes when the job runs is refused by name") {
  MUSTER_NEEDS_TWO_NETWORKS();
  const bool stores = GENERATE(false, true);
  CAPTURE(stores);
  const auto address = TwoNetworks::address(0);
  RunningJob running(two(address), two(address, {"--node-rank", "1"}), stores, &networks);
  const std::string at = "node 0 at " + address + ":29500: ";
  const LaunchRun::Options there{.wrapper = networks.on(1)};
  refused(two(address), at + "all 2 hosts of the job have joined already, ", there);
  refused(two(address, {"--node-rank", "1"}), at + "--node-rank 1 is taken by ", there);
  refused(two(address), "node 1 (", there);
  running.end();
}

TEST_CASE("who runs is told to those who have the job's token") {
  const auto port = free_port();
  const auto words = [&](const Words& more) { return on_loopback(port, Words{"-q"} + more); };
  TemporaryFolder folder;
  folder.write("token", "0123456789abcdef\n");
  folder.write("other", "fedcba9876543210\n");
  for (const auto* name : {"token", "other"})
    std::filesystem::permissions(folder.path() + "/" + name, std::filesystem::perms(0600));
  const Words token{"--token-file", folder.path() + "/token"};
  RunningJob running(words(Words{"--node-rank", "0"} + token),
                     words(Words{"--node-rank", "1"} + token), false);
  refused(words(Words{"--node-rank", "1"} + token), "--node-rank 1 is taken by ");
  refused(words({"--token-file", folder.path() + "/other"}), "has another token");
  refused(words({}), "has all its hosts, and tells more to who has its token");
  running.end();
}

TEST_CASE("a second node 0 is told who waits there") {
  const auto port = free_port();
  LaunchRun first(on_loopback(port, {"--node-rank", "0", "--", "true"}));
  first.wait_for_output("can join this job");
  refused(on_loopback(port, {"--node-rank", "0"}), "--node-rank 0 is taken by ");
  refused(on_loopback(port, {"--node-rank", "0"}), "1 of 2 hosts has joined");
  first.send(SIGTERM);
  CHECK(first.wait().code == 143);
}

TEST_CASE("a host of the next job waits while the one before it ends") {
  const auto port = free_port();
  Job job(on_loopback(port, {"--node-rank", "0"}), on_loopback(port, {"--node-rank", "1"}),
          Words{"--count-signals"} + until_told);
  job[0].wait_for_file("up");
  job[1].wait_for_file("up");
  job[0].send(SIGTERM);
  job[1].wait_for_file("signals_1");
  const Words next = on_loopback(port, {"--node-rank", "1", "--rdzv-timeout", "0.5"});
  const auto end = launch(next + Words{"--", "true"});
  CHECK(end.code == 124);
  CHECK_THAT(end.err, ContainsSubstring("a job that is ending"));
  job[0].send(SIGINT);
  job.wait(0);
  job.wait(1);
}

}  // namespace muster::test

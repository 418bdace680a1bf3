#include "tracking/trackers.hpp"

#include <muster/resolve.hpp>

#include "support.hpp"
#include "tracking/kinds.hpp"
#include "tracking/meter.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <stdexcept>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using tracking::LateRecord;
using tracking::Trackers;
using tracking::TrackersRequest;

/// Keeps what it gets, and throws where it is told to.
class Recorder : public Tracker {
 public:
  std::string_view name() const override { return "recorder"; }
  bool main_process_only() const override { return main_only; }
  void start(const TrackedRun& given) override {
    run = given;
    if (fails_to_start) throw std::runtime_error("no key");
  }
  void log(const TrackedRecord& record) override {
    ++calls;
    if (fails) throw std::runtime_error("no network");
    steps.push_back(record.step);
    newest = record.items;
  }
  void finish() override { ++finished; }

  bool main_only = true, fails_to_start = false, fails = false;
  int calls = 0, finished = 0;
  TrackedRun run;
  std::vector<std::int64_t> steps;
  TrackedItems newest;
};

class Later : public tracking::LateNumber {
 public:
  bool ready() override { return is_ready; }
  TrackedValue value() override {
    ++waits;
    return 7;
  }
  bool is_ready = false;
  int waits = 0;
};

TrackersRequest request(const TemporaryFolder& folder, std::shared_ptr<Recorder> own,
                        TrackerTrouble trouble = TrackerTrouble::at_start) {
  TrackersRequest result{"digits/a", {{"lr", 0.5}}, folder.path(), {"none"}, {}, 0};
  if (own) result.options.trackers.push_back(std::move(own));
  result.options.trouble = trouble;
  return result;
}

LateRecord at_step(std::int64_t step) { return {step, 1, {{"loss", TrackedValue(1)}}}; }

}  // namespace

TEST_CASE("Several trackers write one run into one folder, with its configuration") {
  const TemporaryFolder folder;
  const auto own = std::make_shared<Recorder>();
  auto wanted = request(folder, own);
  wanted.log_with = {"all"};
  {
    Trackers trackers(wanted);
    CHECK(own->run.project == "digits/a");
    CHECK(own->run.folder == folder / "digits/a");
    CHECK(own->run.config.front().name == "lr");
    trackers.log({4, 1, {{"loss", TrackedValue(1)}, {"step", TrackedValue(9)}}});
    CHECK(trackers.last_step() == 4);
    CHECK(own->newest[1].name == "logged_step");
    CHECK(&trackers.find("recorder") == own.get());
    CHECK(trackers.find("csv").name() == "csv");
    CHECK_THROWS_MATCHES(trackers.find("wandb"), ConfigError,
                         MessageMatches(ContainsSubstring("chosen were jsonl, csv, tensorboard")));
  }
  CHECK(own->finished == 1);
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder / "digits/a")) {
    names.push_back(file.path().filename().string().substr(0, 19));
  }
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{"config.json", "events.out.tfevents", "metrics.csv",
                                          "metrics.jsonl", "report.html"});
  CHECK(bytes_of(folder / "digits/a/config.json") ==
        "{\"project\":\"digits/a\",\"config\":{\"lr\":0.5}}\n");
}

TEST_CASE("Only rank 0 tracks, but for a tracker that wants every rank") {
  const TemporaryFolder folder;
  for (const bool main_only : {true, false}) {
    const auto own = std::make_shared<Recorder>();
    own->main_only = main_only;
    auto wanted = request(folder, own);
    wanted.log_with = {"csv"};
    wanted.rank = 1;
    Trackers trackers(wanted);
    CHECK(trackers.empty() == main_only);
    trackers.log(at_step(1));
    CHECK(own->calls == (main_only ? 0 : 1));
    trackers.find("csv").log({});
    CHECK(trackers.find("csv").name() == "blank");
  }
  CHECK(folder.files() == 0);
}

TEST_CASE("Trouble in training is said once, and the other trackers go on") {
  const TemporaryFolder folder;
  const auto own = std::make_shared<Recorder>();
  auto wanted = request(folder, own);
  wanted.log_with = {"jsonl"};
  const auto text = said([&] {
    Trackers trackers(wanted);
    own->fails = true;
    for (std::int64_t step = 1; step <= 20; ++step) trackers.log(at_step(step));
    // Asked more and more rarely, but asked.
    CHECK(own->calls == 4);
    own->fails = false;
    for (std::int64_t step = 21; step <= 40; ++step) trackers.log(at_step(step));
    CHECK(own->steps.size() > 10);
    CHECK(own->steps.back() == 40);
  });
  CHECK(text ==
        "muster: tracker recorder: no network; training goes on, and what this tracker cannot "
        "take is lost\n");
  const auto lines = bytes_of(folder / "digits/a/metrics.jsonl");
  CHECK(std::ranges::count(lines, '\n') == 40);
}

TEST_CASE("A full disk is said once for each tracker, and files stay whole") {
  const TemporaryFolder folder;
  auto wanted = request(folder, nullptr);
  wanted.log_with = {"jsonl", "csv"};
  const auto text = said([&] {
    Trackers trackers(wanted);
    trackers.log(at_step(1));
    const FullDisk full(std::filesystem::file_size(folder / "digits/a/metrics.csv"));
    for (std::int64_t step = 2; step <= 10; ++step) trackers.log(at_step(step));
  });
  CHECK(std::ranges::count(text, '\n') == 2);
  CHECK_THAT(text, ContainsSubstring("jsonl: cannot write '") && ContainsSubstring("csv: cannot"));
  CHECK(bytes_of(folder / "digits/a/metrics.csv") == "step,time,loss\n1,1,1\n");
}

TEST_CASE("Training ends for a tracker where that was asked for") {
  const TemporaryFolder folder;
  const auto own = std::make_shared<Recorder>();
  Trackers trackers(request(folder, own, TrackerTrouble::always));
  trackers.log(at_step(1));
  own->fails = true;
  CHECK_THROWS_MATCHES(trackers.log(at_step(2)), TrackerError,
                       MessageMatches(ContainsSubstring("recorder: no network")));
}

TEST_CASE("A tracker that cannot start is an error, before anything is trained, or is said") {
  const TemporaryFolder folder;
  const auto own = std::make_shared<Recorder>();
  own->fails_to_start = true;
  CHECK_THROWS_MATCHES(Trackers(request(folder, own)), TrackerError,
                       MessageMatches(ContainsSubstring("tracker recorder: no key")));
  const auto text = said([&] {
    Trackers trackers(request(folder, own, TrackerTrouble::never));
    trackers.log(at_step(1));
    CHECK(trackers.find("recorder").name() == "blank");
  });
  CHECK(own->calls == 0);
  CHECK(own->finished == 0);
  CHECK(std::ranges::count(text, '\n') == 1);
}

TEST_CASE("A folder that cannot be made is told by its name") {
  const TemporaryFolder folder;
  write_bytes(folder / "digits", "a file");
  const auto own = std::make_shared<Recorder>();
  CHECK_THROWS_MATCHES(Trackers(request(folder, own)), TrackerError,
                       MessageMatches(ContainsSubstring("cannot make the folder '") &&
                                      ContainsSubstring("digits/a': Not a directory")));
  const auto text = said([&] {
    Trackers trackers(request(folder, own, TrackerTrouble::never));
    CHECK(trackers.empty());
    trackers.log(at_step(1));
  });
  CHECK(std::ranges::count(text, '\n') == 1);
  CHECK_THAT(text, ContainsSubstring("training goes on untracked"));
}

TEST_CASE("Two programs do not write the same run") {
  const TemporaryFolder folder;
  auto wanted = request(folder, nullptr);
  wanted.log_with = {"csv"};
  {
    const Trackers first(wanted);
    CHECK_THROWS_MATCHES(Trackers(wanted), TrackerError,
                         MessageMatches(ContainsSubstring("digits/a' is in use")));
  }
  const Trackers next(wanted);
}

TEST_CASE("Requests that cannot be") {
  const TemporaryFolder folder;
  auto wanted = request(folder, nullptr);
  for (const auto* project : {"", "/tmp", "..", "a/../../b", "."}) {
    wanted.project = project;
    CHECK_THROWS_AS(Trackers(wanted), ConfigError);
  }
  wanted = request(folder, nullptr);
  wanted.log_with = {"wandb"};
  CHECK_THROWS_MATCHES(Trackers(wanted), ConfigError, MessageMatches(ContainsSubstring("'wandb'")));
  wanted = request(folder, std::make_shared<Recorder>());
  wanted.options.trackers.push_back(std::make_shared<Recorder>());
  CHECK_THROWS_AS(Trackers(wanted), ConfigError);
  wanted.options.trackers = {nullptr};
  CHECK_THROWS_AS(Trackers(wanted), ConfigError);
  CHECK(folder.files() == 0);
}

TEST_CASE("The setting knows the same trackers as the runtime") {
  for (const std::string name : {"jsonl", "csv", "tensorboard", "html", "all", "none", "wandb"}) {
    CAPTURE(name);
    const std::vector<GivenValue> given{{"train.log_with", std::vector<std::string>{name}, ""}};
    if (name == "wandb") {
      CHECK_THROWS_AS(resolve_in_rank({}, given), ConfigError);
      CHECK_THROWS_AS(tracking::make_trackers({name}), ConfigError);
    } else {
      const auto names = resolve_in_rank({}, given).settings().train.log_with;
      CHECK(tracking::make_trackers(names).size() == (name == "all" ? 4 : name == "none" ? 0 : 1));
    }
  }
}

TEST_CASE("Records wait for late numbers, in order, and are not waited for") {
  const TemporaryFolder folder;
  const auto own = std::make_shared<Recorder>();
  Trackers trackers(request(folder, own));
  const auto late = std::make_shared<Later>();
  trackers.log({1, 1, {{"loss", late}}});
  trackers.log(at_step(2));
  CHECK(own->steps.empty());
  CHECK(late->waits == 0);
  late->is_ready = true;
  trackers.log(at_step(3));
  CHECK(own->steps == std::vector<std::int64_t>{1, 2, 3});

  const auto never = std::make_shared<Later>();
  trackers.log({4, 1, {{"loss", never}}});
  for (std::int64_t step = 5; step < 1000; ++step) trackers.log(at_step(step));
  CHECK(never->waits == 1);
  CHECK(own->steps.size() == 999);
  trackers.log({1000, 1, {{"loss", never}}});
  trackers.finish();
  CHECK(own->steps.size() == 1000);
  CHECK(own->newest.front().value == TrackedValue(7));
  CHECK(own->finished == 1);
}

TEST_CASE("The meter tells speed and memory once a step") {
  tracking::Meter meter;
  CHECK(meter.is_new(10));
  auto items = meter.measure(10, 100);
  REQUIRE(items.size() == 1);
  CHECK(items[0].name == "system/memory_mib");
  CHECK(items[0].value.number() > 1);
  CHECK_FALSE(meter.is_new(10));
  CHECK(meter.is_new(11));
  items = meter.measure(30, 110);
  REQUIRE(items.size() == 2);
  CHECK(items[0].value == TrackedValue(2.0));
}

}  // namespace muster::test

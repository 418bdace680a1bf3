#include "tracking/tensorboard_tracker.hpp"

#include "support.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <support/paths.hpp>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using tracking::TensorboardTracker;

const std::string here = std::string(source_dir) + "/tests/runtime/tracking/";

/// By a reader of our own, which checks the sums.
std::string events(const TemporaryFolder& folder) {
  return output_of("python3 '" + here + "read_events.py' '" + folder.path().string() + "' 2>&1");
}

void need_python() {
  if (std::system("command -v python3 >/dev/null") != 0) SKIP("there is no python3");
}

/// As two starts of a program write: steps 1 to 4, then on from 3.
void two_starts(const TemporaryFolder& folder) {
  const TrackedItems config{{"lr", 1e-3}, {"model", "conv|net"}, {"ema", true}, {"epochs", 8}};
  auto first = started<TensorboardTracker>(folder.path(), config);
  for (std::int64_t step = 1; step <= 4; ++step) first.log(record(step, {{"loss", step}}));
  auto second = started<TensorboardTracker>(folder.path(), config);
  second.log(record(3, {{"loss", 0.5}, {"sample", "to be\nor not"}}));
  second.log(record(4, {{"loss", -std::numeric_limits<double>::infinity()}, {"x", std::nan("")}}));
  second.finish();
}

}  // namespace

TEST_CASE("Event files have right sums, scalars, texts and a session of their own") {
  need_python();
  const TemporaryFolder folder;
  two_starts(folder);
  CHECK(folder.files() == 2);
  const std::string config =
      "version brain.Event:2\nhparams 0 _hparams_/session_start_info\n"
      "text 0 config '| name | value |\\n|---|---|\\n| lr | 0.001 |\\n"
      "| model | conv\\\\|net |\\n| ema | true |\\n| epochs | 8 |\\n'\n";
  CHECK(events(folder) == config + "session 1 1\nscalar 1 1001.5 loss 1.0\n" +
                              "scalar 2 1002.5 loss 2.0\nscalar 3 1003.5 loss 3.0\n" +
                              "scalar 4 1004.5 loss 4.0\n" + config +
                              "session 3 1\nscalar 3 1003.5 loss 0.5\n" +
                              "text 3 sample 'to be\\nor not'\nscalar 4 1004.5 loss -inf\n" +
                              "scalar 4 1004.5 x nan\nhparams 4 _hparams_/session_end_info\n");
}

TEST_CASE("A full disk leaves whole events") {
  need_python();
  const TemporaryFolder folder;
  auto tracker = started<TensorboardTracker>(folder.path());
  tracker.log(record(1, {{"loss", 2}}));
  const auto size = std::filesystem::file_size(*std::filesystem::directory_iterator(folder.path()));
  {
    const FullDisk full(size + 20);
    CHECK_THROWS_AS(tracker.log(record(2, {{"loss", 1}})), TrackerError);
  }
  tracker.log(record(3, {{"loss", 0}}));
  CHECK(events(folder) ==
        "version brain.Event:2\nsession 1 1\nscalar 1 1001.5 loss 2.0\nscalar 3 1003.5 loss 0.0\n");
}

TEST_CASE("Python's tensorboard shows what was logged, a resumed run without its dead end") {
  const auto package = python_package("tensorboard 2.21.0 protobuf numpy absl-py packaging six");
  const TemporaryFolder folder;
  two_starts(folder);
  const auto text =
      output_of("PYTHONPATH='" + package + "' python3 '" + here + "read_with_tensorboard.py' '" +
                folder.path().string() + "' 2>/dev/null");
  CHECK_THAT(text, ContainsSubstring("loss [(1, 1001.5, 1.0), (2, 1002.5, 2.0), (3, 1003.5, 0.5), "
                                     "(4, 1004.5, -inf)]\n"));
  CHECK_THAT(text, ContainsSubstring("x [(4, 1004.5, nan)]\n"));
  CHECK_THAT(text, ContainsSubstring("text sample [(3, 'to be\\nor not')]\n"));
  CHECK_THAT(text, ContainsSubstring("hparams _hparams_/session_start_info digits 0 "
                                     "{'ema': True, 'epochs': 8.0, 'lr': 0.001, "
                                     "'model': 'conv|net'}\n"));
  CHECK_THAT(text, ContainsSubstring("hparams _hparams_/session_end_info  1 {}\n"));
}

}  // namespace muster::test

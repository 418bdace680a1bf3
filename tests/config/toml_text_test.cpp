#include "toml_text.hpp"

#include <muster/error.hpp>

#include "config/support.hpp"
#include "toml.hpp"

#include <catch2/catch_test_macros.hpp>

#include <random>

namespace muster {
namespace {

std::string set(const std::string& before, const TomlPath& path, const std::string& value) {
  TomlText text(before);
  text.set(path, value);
  return text.text();
}

std::string unset(const std::string& before, const TomlPath& path) {
  TomlText text(before);
  text.unset(path);
  return text.text();
}

const TomlPath ranks{"launch", "num_processes"};
const TomlPath variable{"launch", "env", "A"};

}  // namespace

TEST_CASE("a value is replaced and everything around it stays") {
  const std::string before =
      "# job\n\n[launch]   # where\n  num_processes=4  # four\n\"odd key\" = '''\n# no "
      "comment\n'''\n"
      "[other]\nx = 1";
  const std::string after =
      "# job\n\n[launch]   # where\n  num_processes=8  # four\n\"odd key\" = '''\n# no "
      "comment\n'''\n"
      "[other]\nx = 1";
  CHECK(set(before, ranks, "8") == after);
  CHECK(set("launch = { num_processes = 4, threads = 2 } # x\n", ranks, "8") ==
        "launch = { num_processes = 8, threads = 2 } # x\n");
  CHECK(set("launch.\"num_processes\" = 4\n", ranks, "8") == "launch.\"num_processes\" = 8\n");
  CHECK(set("[launch]\nenv.A = \"=#]\" # x\n", variable, "\"1\"") ==
        "[launch]\nenv.A = \"1\" # x\n");
  CHECK(set("[launch]\ndevices = [ # some\n  0, # first\n  '}]', ]\nx = 1\n", {"launch", "devices"},
            "\"cpu\"") == "[launch]\ndevices = \"cpu\"\nx = 1\n");
}

TEST_CASE("a new value goes behind its neighbours, in their form") {
  CHECK(set("", ranks, "8") == "[launch]\nnum_processes = 8\n");
  CHECK(set("# only this", ranks, "8") == "# only this\n\n[launch]\nnum_processes = 8\n");
  CHECK(set("[train]\nseed = 1\n", ranks, "8") ==
        "[train]\nseed = 1\n\n[launch]\nnum_processes = 8\n");
  CHECK(set("[launch]", ranks, "8") == "[launch]\nnum_processes = 8\n");
  CHECK(set("[launch]\n  threads = 1 # one\n\n# of training\n[train]\nseed = 1\n", ranks, "8") ==
        "[launch]\n  threads = 1 # one\n  num_processes = 8\n\n# of training\n[train]\nseed = 1\n");
  CHECK(set("[launch]\nthreads = 1", ranks, "8") == "[launch]\nthreads = 1\nnum_processes = 8\n");
  CHECK(set("launch = {}\n", ranks, "8") == "launch = { num_processes = 8 }\n");
  CHECK(set("launch = { threads = 1 }\n", ranks, "8") ==
        "launch = { threads = 1, num_processes = 8 }\n");
  CHECK(set("launch.threads = 1\nlaunch.env.A = 'x'\n[train]\n", ranks, "8") ==
        "launch.threads = 1\nlaunch.env.A = 'x'\nlaunch.num_processes = 8\n[train]\n");
  CHECK(set("[launch.env]\nA = 'x'\n", ranks, "8") ==
        "[launch.env]\nA = 'x'\n\n[launch]\nnum_processes = 8\n");
  CHECK(set("[launch]\r\nthreads = 1\r\n", ranks, "8") ==
        "[launch]\r\nthreads = 1\r\nnum_processes = 8\r\n");
  CHECK(set("\xef\xbb\xbf[launch]\nthreads = 1\n", ranks, "8") ==
        "\xef\xbb\xbf[launch]\nthreads = 1\nnum_processes = 8\n");
}

TEST_CASE("names of a map find the form in which the map is written") {
  const std::string value = "\"1\"";
  CHECK(set("[launch]\nthreads = 1\n", variable, value) ==
        "[launch]\nthreads = 1\nenv = { A = \"1\" }\n");
  CHECK(set("[launch.env]\nB = 'b'\n", variable, value) == "[launch.env]\nB = 'b'\nA = \"1\"\n");
  CHECK(set("[launch]\nenv = { B = 'b' }\n", variable, value) ==
        "[launch]\nenv = { B = 'b', A = \"1\" }\n");
  CHECK(set("[launch]\nenv.B = 'b'\nthreads = 1\n", variable, value) ==
        "[launch]\nenv.B = 'b'\nenv.A = \"1\"\nthreads = 1\n");
  CHECK(set("launch = { env.B = 'b' }\n", variable, value) ==
        "launch = { env.B = 'b', env.A = \"1\" }\n");
  CHECK(set("", variable, value) == "[launch]\nenv = { A = \"1\" }\n");
  CHECK(set("[launch]\n", {"launch", "env", "a b.c"}, value) ==
        "[launch]\nenv = { \"a b.c\" = \"1\" }\n");
  CHECK(set("[launch.env]\n\"\\u0041\" = 'x'\n", variable, value) ==
        "[launch.env]\n\"\\u0041\" = \"1\"\n");
}

TEST_CASE("what is taken out takes its line along, or its comma") {
  CHECK(unset("[launch]\n# ranks\nnum_processes = 4 # four\nthreads = 1\n", ranks) ==
        "[launch]\n# ranks\nthreads = 1\n");
  CHECK(unset("launch = { num_processes = 4, threads = 1 }\n", ranks) ==
        "launch = { threads = 1 }\n");
  CHECK(unset("launch = { threads = 1, num_processes = 4 }\n", ranks) ==
        "launch = { threads = 1 }\n");
  CHECK(unset("launch = { num_processes = 4 }\n", ranks) == "launch = {  }\n");
  CHECK(unset("[launch]\nenv.A = '1'\nthreads = 1\n[launch.envy]\n", {"launch", "env"}) ==
        "[launch]\nthreads = 1\n[launch.envy]\n");
  CHECK(unset("[launch]\nthreads = 1\n[launch.env]\nA = '''\n1'''\n", {"launch", "env"}) ==
        "[launch]\nthreads = 1\n");
  CHECK(unset("[launch]\nthreads = 1", ranks) == "[launch]\nthreads = 1");
}

TEST_CASE("what cannot hold a value is told with its line") {
  const auto fault = [](const std::string& text) {
    return test::fault_of([&] { set(text, ranks, "8"); });
  };
  CHECK(fault("# x\nlaunch = 3\n") == ":2: 'launch' has a value and cannot have keys");
  CHECK(fault("\n\n[[launch]]\nthreads = 1\n") == ":3: 'launch' is a list of tables");
  CHECK(fault("[launch]\n").empty());
}

TEST_CASE("a table in the place of a value makes room for it") {
  CHECK(set("[launch]\nthreads = 1\n[launch.num_processes]\nx = 1\n", ranks, "8") ==
        "[launch]\nthreads = 1\nnum_processes = 8\n");
}

TEST_CASE("lists of tables elsewhere are left alone") {
  CHECK(set("[[jobs]]\nlaunch = 1\n[[jobs]]\n[jobs.launch]\nnum_processes = 3\n", ranks, "8") ==
        "[[jobs]]\nlaunch = 1\n[[jobs]]\n[jobs.launch]\nnum_processes = 3\n\n[launch]\n"
        "num_processes = 8\n");
}

TEST_CASE("any text that toml++ accepts can be changed, and only there") {
  const std::string good =
      "# a job\n[launch]\nnum_processes = 4 # x\ndevices = [\"0\", 2]\nenv = { A = \"1\", \"b.c\" "
      "= "
      "'''x''' }\n[train]\nstrategy = \"ddp\"\nt = 1979-05-27 07:32:00\n[[jobs]]\na.b = "
      "{x=[{y=1}]}\n"
      "[launch.more]\nk = '''\n#'''\n";
  const std::string letters = "[]{}=\"'\\#,.\n\r\t -+_019aeZ";
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) { return std::size_t{random()} % limit; };
  int changed = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = good;
    for (std::size_t edits = 1 + below(5); edits > 0; --edits) {
      const std::size_t at = below(text.size()), kind = below(3);
      if (kind == 0) text[at] = letters[below(letters.size())];
      if (kind == 1) text.erase(at, 1 + below(8));
      if (kind == 2) text.insert(at, text.substr(below(text.size()), below(20)));
      if (text.empty()) text = "x";
    }
    auto before = toml::parse(text);
    if (!before) continue;
    std::string now;
    if (!test::fault_of([&] { now = set(text, ranks, "77"); }).empty()) continue;
    auto after = toml::parse(now);
    CAPTURE(text, now);
    REQUIRE(after);
    REQUIRE(after.table()["launch"]["num_processes"].value<int>() == 77);
    after.table()["launch"].as_table()->erase("num_processes");
    if (auto* launch = before.table()["launch"].as_table()) {
      launch->erase("num_processes");
    } else {
      before.table().insert("launch", toml::table());
    }
    REQUIRE(after.table() == before.table());
    const auto less = toml::parse(unset(text, ranks));
    REQUIRE(less);
    REQUIRE_FALSE(less.table()["launch"]["num_processes"]);
    ++changed;
  }
  CHECK(changed > 1000);
}

}  // namespace muster

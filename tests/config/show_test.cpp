#include <muster/show.hpp>

#include "config/support.hpp"
#include "support/paths.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fstream>
#include <sstream>

namespace muster {
using Catch::Matchers::ContainsSubstring;
using test::Surroundings;

namespace {

std::string readme() {
  std::ifstream file(std::string(test::source_dir) + "/config/README.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What stands between "<!-- NAME -->" and "<!-- end -->".
std::string generated_part(const std::string& text, const std::string& name) {
  const std::string mark = "<!-- " + name + " -->\n";
  const auto begin = text.find(mark);
  REQUIRE(begin != std::string::npos);
  const auto end = text.find("<!-- end -->", begin);
  REQUIRE(end != std::string::npos);
  return text.substr(begin + mark.size(), end - begin - mark.size());
}

}  // namespace

TEST_CASE("config show names each value's origin") {
  Surroundings given;
  given.write_project_file(
      "[launch]\nnum_processes = 4\nenv = { A = \"x y\", API_TOKEN = \"s\" }\n");
  given.sources.flags = {{"--strategy", "ddp", ""}};
  given.sources.environment["MUSTER_TRAIN_BUCKET_MB"] = "2.5";
  const std::string text = show(given.resolve(), true);
  CHECK_THAT(text, ContainsSubstring("[launch]\n"));
  CHECK_THAT(text, ContainsSubstring("num_processes = 4                 muster.toml:2\n"));
  CHECK_THAT(text, ContainsSubstring("# nproc_per_node                  num_processes decides\n"));
  CHECK_THAT(text, ContainsSubstring("env.A = \"x y\"                     muster.toml:3\n"));
  CHECK_THAT(text, ContainsSubstring("env.API_TOKEN = \"(hidden)\""));
  CHECK_THAT(text, ContainsSubstring("strategy = \"ddp\"                  --strategy\n"));
  CHECK_THAT(text, ContainsSubstring("bucket_mb = 2.5                   MUSTER_TRAIN_BUCKET_MB\n"));
  CHECK_THAT(text, ContainsSubstring("timeout = \"none\"                  built-in\n"));
  CHECK_THAT(text, ContainsSubstring("devices = [\"auto\"]                built-in\n"));
}

TEST_CASE("config show tells what each value hides") {
  Surroundings given;
  given.sources.environment.erase("XDG_CONFIG_HOME");
  given.sources.scheduler = {{"launch.num_processes", std::int64_t{8}, "slurm"}};
  given.sources.discovered = {
      {"launch.threads", std::int64_t{3}, "found"},
      {"launch.env", std::map<std::string, std::string>{{"A", "z"}, {"TOKEN", "s"}}, "found"}};
  given.write_project_file(
      "[launch]\nnum_processes = 4\nthreads = 2\ngrace = 5\n[launch.env]\nA = \"x\"\n"
      "TOKEN = \"t\"\nB = \"\"\n");
  given.sources.flags = {{"--threads", "1", ""}, {"--nproc-per-node", "2", ""}};
  const std::string text = show(given.resolve(), true);
  const auto line = [&](const std::string& start) {
    const auto at = text.find("\n" + start) + 1;
    const std::string whole = text.substr(at, text.find('\n', at) - at);
    const auto gap = whole.find("   ");
    return whole.substr(0, gap) + "|" + whole.substr(whole.find_first_not_of(' ', gap));
  };
  CHECK(line("# num_processes") ==
        "# num_processes|nproc_per_node decides  (hides 4 from muster.toml:2, 8 from slurm)");
  CHECK(line("threads") == "threads = 1|--threads  (hides 2 from muster.toml:3, 3 from found)");
  CHECK(line("grace") == "grace = 5|muster.toml:4");
  CHECK(line("env.A") == "env.A = \"x\"|muster.toml:6  (hides \"z\" from found)");
  CHECK(line("env.B") == "env.B = \"\"|muster.toml:8");
  CHECK(line("env.TOKEN") ==
        "env.TOKEN = \"(hidden)\"|muster.toml:7  (hides \"(hidden)\" from found)");
  CHECK(show(given.resolve(), false).find("hides") == std::string::npos);
}

TEST_CASE("config show reads back to the same settings") {
  Surroundings first;
  first.write_project_file(
      "[launch]\nnproc_per_node = 4\nenv = { A = \"q\\\"\\\\\\n\\u0001\", \"b.c\" = \"\" }\n"
      "unset_env = [\"X\", \"Y\"]\ntimeout = 7\nprefix = \"{host}\\t\"\nmaster_addr = \"::1\"\n"
      "threads = \"auto\"\n[train]\nbucket_mb = 0.3\nseed = 9223372036854775807\n");
  const Resolution before = first.resolve();
  for (const bool empty : {false, true}) {
    Surroundings second;
    const Resolution source = empty ? Surroundings().resolve() : before;
    second.write_project_file(show(source, false));
    const Resolution after = second.resolve();
    for (const Setting& row : settings_table()) {
      INFO(row.id());
      CHECK(row.member.read(after.settings()) == row.member.read(source.settings()));
    }
  }
}

TEST_CASE("secret names") {
  for (const char* name : {"HF_TOKEN", "hf_token", "MY_SECRET_X", "PASSWORD", "API_KEY"}) {
    CHECK(is_secret_name(name));
  }
  for (const char* name : {"PATH", "KEYBOARD", "MONKEY", ""}) CHECK_FALSE(is_secret_name(name));
}

TEST_CASE("config/README.md holds the tables as they are") {
  const std::string text = readme();
  CHECK(generated_part(text, "settings") == settings_as_markdown());
  CHECK(generated_part(text, "other launchers") == foreign_flags_as_markdown());
}

}  // namespace muster

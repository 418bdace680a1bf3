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

TEST_CASE("config show reads back to the same settings") {
  Surroundings first;
  first.write_project_file(
      "[launch]\nnproc_per_node = 4\nenv = { A = \"q\\\"\\\\\\n\\u0001\", \"b c\" = \"\" }\n"
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

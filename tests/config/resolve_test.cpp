#include <muster/contract.hpp>
#include <muster/resolve.hpp>

#include "config/support.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace muster {
using Catch::Matchers::ContainsSubstring;
using test::Surroundings;
using Kind = Origin::Kind;

namespace {

bool can_give(const Setting& setting, Kind level) {
  return level != Kind::variable || setting.member.kind != ValueKind::map;
}

Value member_of(const Setting& setting, const Resolution& resolution) {
  return setting.member.read(resolution.settings());
}

}  // namespace

TEST_CASE("every setting reaches its member and the ranks from every level") {
  for (const Setting& row : settings_table()) {
    const auto samples = test::samples(row);
    REQUIRE(samples.size() >= 2);
    for (const Kind level : test::levels()) {
      if (!can_give(row, level)) continue;
      INFO(row.id() << " from level " << static_cast<int>(level));
      Surroundings given;
      given.give(row, samples[0], level);
      const Resolution resolution = given.resolve();
      CHECK(member_of(row, resolution) == samples[0].value);
      const Entry& entry = resolution.entry(row.id());
      CHECK(entry.value == samples[0].value);
      CHECK(entry.origin.kind == level);
      CHECK(entry.hidden.empty());

      const Environment exported = resolution.exported();
      if (row.variable().empty()) {
        CHECK(exported.empty());
        continue;
      }
      CHECK(exported == Environment{{row.variable(), to_text(samples[0].value)},
                                    {"MUSTER_EXPORTED", row.variable()}});
      CHECK(member_of(row, resolve_in_rank(exported)) == samples[0].value);
    }
  }
}

TEST_CASE("a stronger level wins over a weaker one, for every setting and pair of levels") {
  for (const Setting& row : settings_table()) {
    const auto samples = test::samples(row);
    for (std::size_t weak = 0; weak < test::levels().size(); ++weak) {
      for (std::size_t strong = weak + 1; strong < test::levels().size(); ++strong) {
        const Kind weaker = test::levels()[weak], stronger = test::levels()[strong];
        if (!can_give(row, weaker) || !can_give(row, stronger)) continue;
        INFO(row.id() << ": level " << static_cast<int>(stronger) << " over "
                      << static_cast<int>(weaker));
        Surroundings given;
        given.give(row, samples[0], weaker);
        given.give(row, samples[1], stronger);
        const Resolution resolution = given.resolve();
        CHECK(member_of(row, resolution) == samples[1].value);
        const Entry& entry = resolution.entry(row.id());
        CHECK(entry.origin.kind == stronger);
        // --config replaces the project's file, which is not even read.
        if (weaker == Kind::project_file && stronger == Kind::config_file) {
          CHECK(entry.hidden.empty());
          continue;
        }
        REQUIRE(entry.hidden.size() == 1);
        CHECK(entry.hidden[0].first == samples[0].value);
        CHECK(entry.hidden[0].second.kind == weaker);
      }
    }
  }
}

TEST_CASE("with nothing given everything is built-in, and nothing is said or exported") {
  const Resolution resolution = Surroundings().resolve();
  CHECK(resolution.exported().empty());
  CHECK(resolution.notes().empty());
  CHECK(resolution.entries().size() == settings_table().size());
  for (const Entry& entry : resolution.entries()) {
    CHECK(entry.origin == Origin{});
    CHECK(to_text(entry.origin) == "built-in");
    CHECK(entry.value == entry.setting->default_value());
  }
  CHECK_THROWS_AS(resolution.entry("launch.nothing"), std::out_of_range);
}

TEST_CASE("origins name the file and line, the variable, or the flag as typed") {
  Surroundings given;
  given.write_project_file("# a job\n\n[launch]\nnum_processes = 4\n[train]\nseed = 1\n");
  given.sources.environment["MUSTER_TRAIN_STRATEGY"] = "ddp";
  given.sources.flags = {{"--bucket_mb", "3", ""}, {"--devices", "cpu", "--cpu"}};
  const Resolution resolution = given.resolve();
  const auto origin = [&](const char* id) { return to_text(resolution.entry(id).origin); };
  CHECK(origin("launch.num_processes") == "muster.toml:4");
  CHECK(origin("train.seed") == "muster.toml:6");
  CHECK(origin("train.strategy") == "MUSTER_TRAIN_STRATEGY");
  CHECK(origin("train.bucket_mb") == "--bucket_mb");
  CHECK(origin("launch.devices") == "--cpu");
  CHECK(resolution.settings().launch.devices == std::vector<std::string>{"cpu"});
  CHECK(resolution.notes() == std::vector<std::string>{"settings from ./muster.toml"});
}

TEST_CASE("the last of several flags wins, lists that collect and maps grow") {
  Surroundings given;
  given.sources.flags = {{"-n", "2", ""},
                         {"--num-processes", "3", ""},
                         {"--devices", "cpu", ""},
                         {"--devices", "0,1", ""},
                         {"--unset-env", "A", ""},
                         {"--unset-env", "B,C", ""},
                         {"--env", "X=1", ""},
                         {"--env", "Y=2", ""},
                         {"--env", "X=3", ""},
                         {"--pin-devices", std::nullopt, ""},
                         {"--pin-devices", "no", ""}};
  const Settings settings = given.resolve().settings();
  CHECK(settings.launch.num_processes.value == 3);
  CHECK(settings.launch.devices == std::vector<std::string>{"0", "1"});
  CHECK(settings.launch.unset_env == std::vector<std::string>{"A", "B", "C"});
  CHECK(settings.launch.env == std::map<std::string, std::string>{{"X", "3"}, {"Y", "2"}});
  CHECK_FALSE(settings.launch.pin_devices);
}

TEST_CASE("lists replace those of weaker levels; maps merge by name") {
  Surroundings given;
  given.write_user_file(
      "[launch]\nunset_env = [\"A\"]\nenv = { ONE = \"user\", TWO = \"user\" }\n");
  given.write_project_file("[launch]\nunset_env = [\"B\"]\n[launch.env]\nTWO = \"project\"\n");
  given.sources.flags = {{"--env", "THREE=flag", ""}};
  const Resolution resolution = given.resolve();
  CHECK(resolution.settings().launch.unset_env == std::vector<std::string>{"B"});
  CHECK(resolution.settings().launch.env ==
        std::map<std::string, std::string>{{"ONE", "user"}, {"TWO", "project"}, {"THREE", "flag"}});
  const Entry& env = resolution.entry("launch.env");
  CHECK(env.items.at("ONE").kind == Kind::user_file);
  CHECK(to_text(env.items.at("TWO")) == "muster.toml:4");
  CHECK(to_text(env.items.at("THREE")) == "--env");
  REQUIRE(env.hidden.size() == 1);
  CHECK(env.hidden[0].first == Value(std::map<std::string, std::string>{{"TWO", "user"}}));
}

TEST_CASE("auto is a value that hides what is weaker") {
  Surroundings given;
  given.write_project_file("[launch]\nnum_processes = 4\nthreads = 2\n");
  given.sources.flags = {{"-n", "auto", ""}};
  given.sources.environment["MUSTER_LAUNCH_THREADS"] = "auto";
  const Resolution resolution = given.resolve();
  CHECK(resolution.settings().launch.num_processes.is_auto());
  CHECK(resolution.settings().launch.threads.is_auto());
  CHECK(resolution.exported().at("MUSTER_LAUNCH_NUM_PROCESSES") == "auto");
}

TEST_CASE("none undoes a limit of a weaker level") {
  Surroundings given;
  given.write_project_file("[launch]\ntimeout = 60\n");
  CHECK(given.resolve().settings().launch.timeout == Seconds(60));
  given.sources.flags = {{"--timeout", "none", ""}};
  CHECK_FALSE(given.resolve().settings().launch.timeout);
  CHECK(given.resolve().exported().at("MUSTER_LAUNCH_TIMEOUT") == "none");
}

TEST_CASE("of a group the strongest level that names a member decides and clears the others") {
  Surroundings given;
  given.write_project_file("[launch]\nnum_processes = 4\n");
  given.sources.flags = {{"--nproc-per-node", "2", ""}};
  const Resolution resolution = given.resolve();
  CHECK(resolution.settings().launch.nproc_per_node == AutoOr<int>(2));
  CHECK(resolution.settings().launch.num_processes.is_auto());
  const Entry& cleared = resolution.entry("launch.num_processes");
  CHECK(cleared.origin.kind == Kind::built_in);
  CHECK(cleared.decided_by == find_setting_by_id("launch.nproc_per_node"));
  REQUIRE(cleared.hidden.size() == 1);
  CHECK(to_text(cleared.hidden[0].second) == "muster.toml:2");
  CHECK_FALSE(resolution.exported().contains("MUSTER_LAUNCH_NUM_PROCESSES"));

  given.sources.flags = {{"--num-processes", "auto", ""}};
  given.sources.environment["MUSTER_LAUNCH_NPROC_PER_NODE"] = "8";
  CHECK_FALSE(given.resolve().settings().launch.nproc_per_node);
  CHECK(given.resolve().settings().launch.num_processes.is_auto());
}

TEST_CASE("a false no_prefix clears no prefix") {
  Surroundings given;
  given.write_project_file("[launch]\nprefix = \"{host} \"\n");
  given.sources.environment["MUSTER_LAUNCH_NO_PREFIX"] = "false";
  CHECK(given.resolve().settings().launch.prefix == "{host} ");
  CHECK(given.resolve().entry("launch.prefix").decided_by == nullptr);
  given.sources.environment["MUSTER_LAUNCH_NO_PREFIX"] = "true";
  CHECK(given.resolve().settings().launch.prefix == LaunchSettings{}.prefix);
  given.sources.flags = {{"--no-prefix", "false", ""}};
  CHECK(given.resolve().settings().launch.prefix == "{host} ");
  CHECK_FALSE(given.resolve().settings().launch.no_prefix);

  Surroundings both;
  both.write_project_file("[launch]\nprefix = \"x\"\nno_prefix = false\n");
  CHECK(both.fault().empty());
  both.write_project_file("[launch]\nprefix = \"x\"\nno_prefix = true\n");
  CHECK_THAT(both.fault(), ContainsSubstring("decide the same thing"));
}

TEST_CASE("two members of a group on one level are an error") {
  Surroundings flags;
  flags.sources.flags = {{"-n", "2", ""}, {"--nproc_per_node", "2", ""}};
  CHECK(flags.fault() == "-n and --nproc_per_node decide the same thing: give one of them");
  Surroundings file;
  file.write_project_file("[launch]\nnproc_per_node = 1\nnum_processes = 4\n");
  CHECK(file.fault() ==
        "muster.toml:3: launch.nproc_per_node and launch.num_processes decide the same thing: give "
        "one of them (the other is on line 2)");
  Surroundings variables;
  variables.sources.environment["MUSTER_LAUNCH_NPROC_PER_NODE"] = "1";
  variables.sources.environment["MUSTER_LAUNCH_NUM_PROCESSES"] = "1";
  CHECK_THAT(variables.fault(), ContainsSubstring("MUSTER_LAUNCH_NPROC_PER_NODE and MUSTER_"));
}

TEST_CASE("faults of all sources are told together") {
  Surroundings given;
  given.sources.flags = {
      {"-n", "four", ""}, {"--strategy", std::nullopt, ""}, {"--num-procesess", "4", ""}};
  given.sources.environment["MUSTER_TRAIN_SEED"] = "";
  given.write_project_file("[train]\nstrateggy = \"ddp\"\n");
  CHECK(given.fault() ==
        "-n four: expected a whole number from 1 to 100000, or auto\n"
        "--strategy needs a value: auto or ddp\n"
        "unknown option '--num-procesess'; did you mean --num-processes?\n"
        "MUSTER_TRAIN_SEED = nothing: expected a whole number of at least 0\n"
        "muster.toml:2: unknown key 'strateggy' in [train]; did you mean 'strategy'?");
}

TEST_CASE("an unknown variable of a section is an error, another one is told") {
  Surroundings given;
  given.sources.environment["MUSTER_LAUNCH_NUM_PROCESES"] = "4";
  CHECK(given.fault() ==
        "unknown variable 'MUSTER_LAUNCH_NUM_PROCESES'; did you mean MUSTER_LAUNCH_NUM_PROCESSES?");
  given.sources.environment = {{"MUSTER_LANUCH_NUM_PROCESSES", "4"}};
  CHECK_THAT(given.fault(), ContainsSubstring("did you mean MUSTER_LAUNCH_NUM_PROCESSES?"));
  given.sources.environment = {{"MUSTER_LAUNCH_ENV", "A=1"}};
  CHECK(given.fault() ==
        "MUSTER_LAUNCH_ENV: launch.env has no variable; use --env or a settings file");
  given.sources.environment = {{"MUSTER_ROOT", "/opt"}};
  CHECK(given.resolve().notes() ==
        std::vector<std::string>{
            "MUSTER_ROOT has no effect: no setting of this version has this name"});
  given.sources.environment.clear();
  for (const auto name : contract::of_a_rank) {
    if (name != contract::exported) given.sources.environment[std::string(name)] = "3";
  }
  for (const auto name : contract::of_the_build) given.sources.environment[std::string(name)] = "3";
  CHECK(given.resolve().notes().empty());
}

TEST_CASE("a launcher inside a rank ignores what the outer one exported") {
  Surroundings outer;
  outer.sources.flags = {{"-n", "4", ""}, {"--seed", "7", ""}};
  Surroundings inner;
  inner.sources.environment.merge(outer.resolve().exported());
  inner.sources.environment["MUSTER_TRAIN_STRATEGY"] = "ddp";
  const Resolution resolution = inner.resolve();
  CHECK(resolution.settings().launch.num_processes.is_auto());
  CHECK(resolution.settings().train.seed == 42);
  CHECK(resolution.settings().train.strategy == "ddp");
  CHECK(resolution.inherited() ==
        std::vector<std::string>{"MUSTER_LAUNCH_NUM_PROCESSES", "MUSTER_TRAIN_SEED"});
  CHECK(resolution.exported().at("MUSTER_EXPORTED") == "MUSTER_TRAIN_STRATEGY");
}

TEST_CASE("a rank reads variables, then code, and no file") {
  const Environment environment{{"MUSTER_TRAIN_GRADIENT_ACCUMULATION_STEPS", "4"},
                                {"MUSTER_TRAIN_SEED", "7"},
                                {"MUSTER_EXPORTED", "MUSTER_TRAIN_SEED,MUSTER_TRAIN_FUTURE"},
                                {"MUSTER_TRAIN_FUTURE", "1"}};
  const Resolution resolution =
      resolve_in_rank(environment, {{"train.gradient_accumulation_steps", std::int64_t{2}, ""},
                                    {"train.seed", std::int64_t{7}, ""},
                                    {"train.strategy", std::string("ddp"), ""}});
  CHECK(resolution.settings().train.gradient_accumulation_steps == 2);
  CHECK(resolution.settings().train.seed == 7);
  CHECK(resolution.settings().train.strategy == "ddp");
  CHECK(resolution.overruled_by_code() ==
        std::vector<std::string>{"train.gradient_accumulation_steps = 2 in code is used, not 4 "
                                 "(MUSTER_TRAIN_GRADIENT_ACCUMULATION_STEPS)"});
  // What only a newer launcher knows does not stop the program.
  CHECK(resolution.notes().size() == 1);
  CHECK(test::fault_of([] {
          resolve_in_rank({}, {{"train.gradient_accumulation_steps", std::int64_t{0}, ""}});
        }) ==
        "in code: train.gradient_accumulation_steps = 0: expected a whole number of at least 1");
  CHECK_THAT(test::fault_of([] {
               resolve_in_rank({{"MUSTER_TRAIN_STRATGY", "ddp"}});
             }),
             ContainsSubstring("did you mean MUSTER_TRAIN_STRATEGY?"));
  CHECK_THAT(test::fault_of([] {
               resolve_in_rank({}, {{"train.sed", std::int64_t{0}, ""}});
             }),
             ContainsSubstring("no setting 'train.sed'"));
}

TEST_CASE("values that may be secret are not repeated in faults") {
  Surroundings given;
  given.sources.flags = {{"--env", "hunter2", ""}};
  given.write_project_file("[launch.env]\nAPI_KEY = 12345\n");
  const std::string fault = given.fault();
  CHECK_THAT(fault, ContainsSubstring("--env: expected NAME=VALUE"));
  CHECK_THAT(fault,
             ContainsSubstring("muster.toml:2: launch.env.API_KEY: expected text in quotes"));
  CHECK(fault.find("hunter2") == std::string::npos);
  CHECK(fault.find("12345") == std::string::npos);

  Surroundings no_table;
  no_table.write_project_file("[launch]\nenv = \"API_KEY=hunter2\"\n");
  CHECK(no_table.fault() ==
        "muster.toml:2: launch.env: expected a table, such as { NAME = \"value\" }");
  no_table.write_project_file("[launch]\nenv = [\"API_KEY=hunter2\"]\n");
  CHECK_THAT(no_table.fault(), !ContainsSubstring("hunter2"));
  using Map = std::map<std::string, std::string>;
  Surroundings found;
  found.sources.discovered = {{"launch.env", Map{{"A=B", "hunter2"}}, "found"}};
  CHECK_THAT(found.fault(), ContainsSubstring("found: launch.env: expected NAME=VALUE"));
  CHECK_THAT(found.fault(), !ContainsSubstring("hunter2"));
}

TEST_CASE("an empty list is refused after a flag, which would do nothing") {
  Surroundings given;
  given.sources.flags = {{"--unset-env", "", ""}};
  CHECK(given.fault() == "--unset-env nothing: expected names of variables, with commas between");
  given.sources.flags = {{"--env", "A B=c", ""}};
  CHECK(given.fault() == "--env: expected NAME=VALUE, without spaces and commas in NAME");
  given.sources.flags.clear();
  given.write_project_file("[launch]\nunset_env = []\n");
  CHECK(given.fault().empty());
}

}  // namespace muster

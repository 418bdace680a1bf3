#include "settings_file.hpp"

#include "config/support.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdio>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

namespace muster {
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using test::Surroundings;

namespace {

/// The faults of muster.toml with this text.
std::string fault_in(const std::string& text) {
  Surroundings given;
  given.write_project_file(text);
  return given.fault();
}

/// Acts as another user while it lives, where that can be done.
class AsNobody {
 public:
  AsNobody() {
    if (geteuid() == 0 && seteuid(65534) != 0) FAIL("cannot become another user");
  }
  ~AsNobody() {
    if (getuid() == 0 && seteuid(0) != 0) std::abort();
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
};

}  // namespace

TEST_CASE("all faults of a file are told in one go, in the order of its lines") {
  CHECK(fault_in("[train]\n"
                 "strategy = \"zero\"\n"
                 "mixed_precison = 1\n"
                 "[launch]\n"
                 "num_processes = \"4\"\n"
                 "grace = true\n"
                 "seed = 3\n"
                 "[lunch]\n"
                 "[cluster]\n") ==
        "muster.toml:2: train.strategy = \"zero\": expected auto or ddp\n"
        "muster.toml:3: unknown key 'mixed_precison' in [train]; did you mean 'mixed_precision'?\n"
        "muster.toml:5: launch.num_processes = \"4\": expected a whole number from 1 to 100000, or "
        "auto; leave the quotes out\n"
        "muster.toml:6: launch.grace = true: expected a number of seconds from 0 to 100000000\n"
        "muster.toml:7: unknown key 'seed' in [launch]; it belongs in [train]\n"
        "muster.toml:8: unknown section [lunch]; did you mean [launch]?\n"
        "muster.toml:9: unknown section [cluster]; expected launch, train or log");
}

TEST_CASE("keys outside sections are put right") {
  CHECK(fault_in("num_processes = 4\n") ==
        "muster.toml:1: key 'num_processes' stands before any section; it belongs in [launch]");
  CHECK(fault_in("num_proceses = 4\n") ==
        "muster.toml:1: unknown key 'num_proceses'; did you mean 'num_processes'?");
  CHECK(fault_in("launch = 4\n") == "muster.toml:1: 'launch' is a section: expected [launch]");
  CHECK(fault_in("launch.num_processes = 4\n").empty());
  CHECK(fault_in("[launch]\nnum-processes = 4\n") ==
        "muster.toml:2: unknown key 'num-processes' in [launch]; did you mean 'num_processes'?");
}

TEST_CASE("kinds of TOML count") {
  const auto fault = [](const std::string& line) { return fault_in("[launch]\n" + line + "\n"); };
  for (const char* value : {"\"four\"", "-1", "0", "1.5", "4.0", "[4]", "{ a = 1 }", "true",
                            "2020-01-01", "9999999999", "0.1e400"}) {
    INFO(value);
    CHECK_FALSE(fault("num_processes = " + std::string(value)).empty());
  }
  CHECK(fault("num_processes = 0x4").empty());
  CHECK(fault("num_processes = \"auto\"").empty());
  CHECK(fault("grace = 5").empty());
  CHECK(fault("grace = 5.5").empty());
  CHECK_FALSE(fault("grace = inf").empty());
  CHECK_FALSE(fault("grace = nan").empty());
  CHECK_FALSE(fault("pin_devices = 1").empty());
  CHECK(
      fault("pin_devices = \"true\"") ==
      "muster.toml:2: launch.pin_devices = \"true\": expected true or false; leave the quotes out");
  CHECK(fault("devices = \"0,2\"").empty());
  CHECK(fault("devices = [0, \"2\"]").empty());
  CHECK(fault("devices = 0").empty());
  CHECK_FALSE(fault("devices = [0, 2.0]").empty());
  CHECK(fault("stdin = 1").empty());
  CHECK(fault("prefix = 1") ==
        "muster.toml:2: launch.prefix = 1: expected one line, with no braces "
        "but {rank} {local_rank} {node} {host}");
  CHECK_THAT(fault("env = \"A=1\""), ContainsSubstring("expected a table"));
  CHECK_THAT(fault("[[launch.env]]"), ContainsSubstring("muster.toml:2"));
  CHECK(fault("env = { \"A=B\" = \"1\" }") ==
        "muster.toml:2: launch.env: expected names that an environment can hold");
}

TEST_CASE("malformed TOML is told with line and column") {
  CHECK_THAT(fault_in("[launch]\nnum_processes = \n"), StartsWith("muster.toml:2:"));
  CHECK_THAT(fault_in("[launch\n"), StartsWith("muster.toml:1:8: not TOML: "));
  CHECK_THAT(fault_in("[launch]\nprefix = \"open\nthreads = 2\n"),
             StartsWith("muster.toml:2:15: not TOML: a line end or control character inside"));
  CHECK_THAT(fault_in("[launch]\nthreads = 2\nthreads = 3\n"),
             StartsWith("muster.toml:3:11: not TOML: cannot redefine"));
  CHECK_THAT(fault_in("[launch]\nprefix = \"\x01\"\n"), StartsWith("muster.toml:2:11: "));
  CHECK_THAT(fault_in("[launch]\nprefix = \"\xff\"\n"), StartsWith("muster.toml:2:"));
  for (const char* letter : {"\xc3\xa9", "\xe3\x80\x82", "\xef\xba\x9d", "\xc2\xa0"}) {
    CHECK_THAT(fault_in("[launch]\ngr" + std::string(letter) + "ce = 1\n"),
               StartsWith("muster.toml:2:3: not TOML: "));
    CHECK_THAT(fault_in("[" + std::string(letter) + "]"),
               StartsWith("muster.toml:1:2: not TOML: "));
    CHECK(fault_in("[launch]  # " + std::string(letter)).empty());
    CHECK(fault_in("[launch]\nprefix = \"" + std::string(letter) + "\"").empty());
  }
  CHECK_THAT(fault_in("[launch]\na = " + std::string(100000, '[')), StartsWith("muster.toml:2:"));
}

TEST_CASE("an empty file equals no file; tabs, CRLF and a byte order mark are fine") {
  for (const char* text : {"", "\n\n", "# nothing\n", "[launch]\n", "\xef\xbb\xbf"}) {
    Surroundings given;
    given.write_project_file(text);
    CHECK(given.resolve().notes().empty());
    CHECK(given.resolve().exported().empty());
  }
  for (const char* text : {"[launch]\r\n\tthreads = 2\r\n", "\xef\xbb\xbf[launch]\nthreads = 2"}) {
    Surroundings given;
    given.write_project_file(text);
    CHECK(given.resolve().settings().launch.threads.value == 2);
    CHECK(to_text(given.resolve().entry("launch.threads").origin) == "muster.toml:2");
  }
}

TEST_CASE("what is no text file is refused at once") {
  CHECK_THAT(fault_in(std::string("\x7f"
                                  "ELF\0\0",
                                  6)),
             StartsWith("muster.toml: not text"));
  CHECK_THAT(fault_in(std::string("\xff\xfe[\0", 4)), ContainsSubstring("UTF-16"));

  Surroundings folder;
  std::filesystem::create_directory(folder.work() / "muster.toml");
  CHECK(folder.fault() == "muster.toml: is a folder; expected a TOML file");

  Surroundings fifo;
  REQUIRE(mkfifo((fifo.work() / "muster.toml").c_str(), 0600) == 0);
  CHECK(fifo.fault() == "muster.toml: is a FIFO; expected a TOML file");

  Surroundings device;
  device.sources.config_file = "/dev/zero";
  CHECK(device.fault() == "/dev/zero: is a device; expected a TOML file");

  Surroundings large;
  large.write_project_file("");
  std::filesystem::resize_file(large.work() / "muster.toml", 100'000'000);
  CHECK(large.fault() == "muster.toml: 100000000 bytes: larger than 1 MiB, not a settings file");

  Surroundings loop;
  std::filesystem::create_symlink("muster.toml", loop.work() / "muster.toml");
  CHECK_THAT(loop.fault(), StartsWith("muster.toml: cannot be opened: "));
}

TEST_CASE("an unreadable file is an error, not an absence") {
  Surroundings given;
  given.sources.environment.clear();
  given.write_project_file("");
  const auto path = given.work() / "muster.toml";
  REQUIRE(chmod(given.work().c_str(), 0755) == 0);
  REQUIRE(chmod(path.c_str(), 0) == 0);
  const AsNobody nobody;
  CHECK(given.fault() == "muster.toml: cannot be opened: Permission denied");
}

TEST_CASE("./muster.toml of a stranger, or writable by everybody, needs consent") {
  Surroundings given;
  given.write_project_file("[launch]\nthreads = 2\n");
  const auto path = given.work() / "muster.toml";
  REQUIRE(chmod(path.c_str(), 0646) == 0);
  CHECK(given.fault() ==
        "muster.toml: not read, because everybody may write to it; if you want it: --config "
        "./muster.toml, if not: --no-config");
  given.sources.no_config = true;
  CHECK(given.resolve().settings().launch.threads.is_auto());
  given.sources.no_config = false;
  given.sources.config_file = "./muster.toml";
  CHECK(given.resolve().settings().launch.threads.value == 2);
  CHECK(to_text(given.resolve().entry("launch.threads").origin) == "./muster.toml:2");
  CHECK(given.resolve().notes().empty());
}

TEST_CASE("who owns ./muster.toml matters") {
  if (geteuid() != 0) SKIP("only root can give files away");
  Surroundings given;
  given.sources.environment.clear();
  given.write_project_file("[launch]\nthreads = 2\n");
  const auto path = given.work() / "muster.toml";
  REQUIRE(chown(path.c_str(), 65533, 65533) == 0);
  CHECK_THAT(given.fault(), StartsWith("muster.toml: not read, because it belongs to user 65533"));
  REQUIRE(chown(given.work().c_str(), 65533, 65533) == 0);
  CHECK(given.fault().empty());
  REQUIRE(chown(path.c_str(), 0, 0) == 0);
  REQUIRE(chmod(given.work().c_str(), 0755) == 0);
  const AsNobody nobody;
  CHECK(given.fault().empty());
}

TEST_CASE("--config must exist and replaces ./muster.toml; --no-config reads nothing") {
  Surroundings given;
  given.write_project_file("[launch]\nthreads = 2\n");
  given.write_user_file("[train]\nseed = 5\n");
  given.sources.config_file = "nope.toml";
  CHECK(given.fault() == "--config nope.toml: no such file");
  given.sources.config_file = "muster.toml/x";
  CHECK_THAT(given.fault(), ContainsSubstring("muster.toml/x"));
  given.sources.config_file.reset();
  const Resolution both = given.resolve();
  CHECK(both.settings().launch.threads.value == 2);
  CHECK(both.settings().train.seed == 5);
  REQUIRE(both.notes().size() == 1);
  CHECK_THAT(both.notes()[0], StartsWith("settings from ./muster.toml and /"));
  given.sources.no_config = true;
  CHECK(given.resolve().exported().empty());
  CHECK(given.resolve().notes().empty());
  given.sources.config_file = "muster.toml";
  CHECK(given.fault() == "--config and --no-config: give one of them");
  given.sources.no_config = false;
  given.sources.config_file = "";
  CHECK(given.fault() == "--config needs the name of a file; --no-config reads none");
}

TEST_CASE("the user's file is looked for as XDG says") {
  Surroundings given;
  const test::TempFolder home;
  home.write(".config/muster/config.toml", "[train]\nseed = 5\n");
  given.sources.environment = {{"HOME", home.path()}};
  CHECK(given.resolve().settings().train.seed == 5);
  given.sources.environment["XDG_CONFIG_HOME"] = "";
  CHECK(given.resolve().settings().train.seed == 5);
  given.sources.environment["XDG_CONFIG_HOME"] = "relative";
  CHECK(given.resolve().settings().train.seed == 5);
  given.sources.environment["XDG_CONFIG_HOME"] = given.work();
  CHECK(given.resolve().settings().train.seed == 42);
  given.sources.environment.clear();
  CHECK(given.resolve().settings().train.seed == 42);
}

TEST_CASE("a user's file out of reach is absent") {
  Surroundings given;
  given.sources.environment = {{"HOME", "/dev/null"}};
  CHECK(given.resolve().notes().empty());
  const test::TempFolder home;
  const auto file = home.write("muster/config.toml", "[train]\nseed = 5\n");
  given.sources.environment = {{"XDG_CONFIG_HOME", home.path()}};
  REQUIRE(chmod(home.path().c_str(), 0) == 0);
  // Somebody else must be able to reach the working directory.
  REQUIRE(chmod(given.work().c_str(), 0755) == 0);
  std::vector<std::string> notes;
  std::string fault;
  {
    const AsNobody nobody;
    notes = given.resolve().notes();
  }
  REQUIRE(chmod(home.path().c_str(), 0755) == 0);
  REQUIRE(chmod(file.c_str(), 0) == 0);
  {
    const AsNobody nobody;
    fault = given.fault();
  }
  REQUIRE(notes.size() == 1);
  CHECK(notes[0] == file.string() + " is not looked at: its folder may not be entered");
  // What lies within reach and cannot be read is a fault.
  CHECK_THAT(fault, ContainsSubstring("cannot be opened"));
}

TEST_CASE("no mutation of a file makes the parser crash or accept what is out of range") {
  const std::string good =
      "# a job\n[launch]\nnum_processes = 4\ndevices = [\"0\", 2]\ngrace = 1.5\nprefix = "
      "\"[{rank}] "
      "\"\nenv = { A = \"1\", \"b.c\" = '''x''' }\n[train]\nstrategy = \"ddp\"\nbucket_mb = 2e1\n"
      "[log]\nlevel = \"debug\"\n";
  REQUIRE(parse_settings(good, "f", Origin::Kind::config_file).faults.empty());
  const std::string letters = "[]{}=\"'\\#,.\n\r\t -+_019aeZ\x01\x7f\x80\xc3\xa9\xff";
  std::mt19937 random(20240);
  const auto below = [&](std::size_t limit) { return std::size_t{random()} % limit; };
  std::size_t refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = good;
    for (std::size_t edits = 1 + below(6); edits > 0; --edits) {
      const std::size_t at = below(text.size());
      const std::size_t kind = below(4);
      if (kind == 0) text[at] = letters[below(letters.size())];
      if (kind == 1) text.erase(at, 1 + below(8));
      if (kind == 2) text.insert(at, 1, letters[below(letters.size())]);
      if (kind == 3) text.insert(at, text.substr(below(text.size()), below(20)));
      if (text.empty()) text = "x";
    }
    const FileContent content = parse_settings(text, "f", Origin::Kind::config_file);
    for (const Given& given : content.given) {
      if (!test::fault_of([&] { check_value(*given.setting, given.value); }).empty()) {
        FAIL_CHECK(text);
      }
    }
    for (const std::string& fault : content.faults) {
      if (!fault.starts_with("f:") || fault.find('\n') != std::string::npos) FAIL_CHECK(fault);
    }
    if (!content.faults.empty()) ++refused;
  }
  CHECK(refused > 5000);
  CHECK(refused < 20000);
}

}  // namespace muster

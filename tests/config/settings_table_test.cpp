#include <muster/setting.hpp>

#include "config/support.hpp"

#include <catch2/catch_test_macros.hpp>

#include <set>

namespace muster {
using test::fault_of;

TEST_CASE("names follow from section and key") {
  const Setting* ranks = find_setting_by_id("launch.num_processes");
  REQUIRE(ranks != nullptr);
  CHECK(ranks->flag() == "--num-processes");
  CHECK(ranks->variable() == "MUSTER_LAUNCH_NUM_PROCESSES");
  const Setting* level = find_setting_by_id("log.level");
  REQUIRE(level != nullptr);
  CHECK(level->flag() == "--log-level");
  CHECK(level->variable() == "MUSTER_LOG_LEVEL");
  CHECK(find_setting_by_id("launch.env")->variable().empty());
}

TEST_CASE("each row is found by its flag, variable and key, and only it") {
  std::set<std::string> flags;
  for (const Setting& row : settings_table()) {
    CHECK(find_setting_by_id(row.id()) == &row);
    CHECK(find_setting_by_flag(row.flag()) == &row);
    CHECK(flags.insert(row.flag()).second);
    if (row.short_flag != 0) CHECK(find_setting_by_flag(std::string{'-', row.short_flag}) == &row);
    if (row.member.kind != ValueKind::map) CHECK(find_setting_by_variable(row.variable()) == &row);
  }
  CHECK(find_setting_by_flag("--num_processes") == find_setting_by_id("launch.num_processes"));
  CHECK(find_setting_by_flag("-n") == find_setting_by_id("launch.num_processes"));
  CHECK(find_setting_by_variable("") == nullptr);
  CHECK(find_setting_by_flag("--") == nullptr);
  CHECK(find_setting_by_flag("") == nullptr);
}

TEST_CASE("each default is good, and written back it leaves the struct as it was") {
  for (const Setting& row : settings_table()) {
    INFO(row.id());
    if (row.check != nullptr) CHECK_FALSE(row.expects.empty());
    // Words for a rule, or more than the names of choices.
    if (!row.expects.empty()) CHECK((row.check != nullptr || !row.choices.empty()));
    const Value value = row.default_value();
    if (value == Value()) continue;  // Not set.
    CHECK_NOTHROW(check_value(row, value));
    Settings settings;
    row.member.write(settings, test::samples(row).at(0).value);
    CHECK(row.member.read(settings) != value);
    row.member.write(settings, value);
    CHECK(row.member.read(settings) == value);
  }
}

TEST_CASE("values are parsed whole and checked") {
  const auto fault = [](const char* id, const char* text) {
    const Setting& row = *find_setting_by_id(id);
    return fault_of([&] { parse_value(row, text); });
  };
  const std::string ranks = "a whole number from 1 to 100000, or auto";
  for (const char* text : {"four", "-1", "0", "1.5", "4x", " 4", "4 ", "+4", "", "99999999999",
                           "100001", "99999999999999999999", "0x4", "4\n"}) {
    INFO(text);
    CHECK(fault("launch.num_processes", text) == ranks);
  }
  CHECK(fault("launch.num_processes", "100000").empty());
  CHECK(fault("launch.master_port", "65536") == "a whole number from 0 to 65535");
  CHECK_FALSE(fault("launch.grace", "nan").empty());
  CHECK_FALSE(fault("launch.grace", "inf").empty());
  CHECK(fault("launch.grace", "-0.5") == "a number of seconds from 0 to 100000000");
  CHECK_FALSE(fault("launch.grace", "none").empty());
  CHECK(fault("launch.timeout", "none").empty());
  CHECK(fault("launch.timeout", "0") == "a number of seconds from 0.001 to 100000000, or none");
  CHECK(fault("train.strategy", "fsdp") == "auto or ddp");
  CHECK(fault("log.level", "loud") == "debug, info, warning, error or off");
  CHECK(fault("launch.pin_devices", "maybe") == "true or false");
  for (const char* text :
       {"", "0,", ",", "0,0", "cpu,cuda", "auto,0", "gpu", "GPU-", "-1", "0 1"}) {
    INFO(text);
    CHECK_FALSE(fault("launch.devices", text).empty());
  }
  for (const char* text : {"0", "10,2", "GPU-8932f937", "MIG-1,GPU-2", "cpu", "cuda", "auto"}) {
    CHECK(fault("launch.devices", text).empty());
  }
  for (const char* text : {"0-", "-3", "5-3", "a", "0,,1", ""}) {
    INFO(text);
    CHECK(fault("launch.console_ranks", text) == "ranks such as 0,3-5, or all or none");
  }
  CHECK(fault("launch.stdin", "first") == "a rank, all or none");
  CHECK_FALSE(fault("launch.prefix", "{job}").empty());
  CHECK_FALSE(fault("launch.prefix", "{rank").empty());
  CHECK_FALSE(fault("launch.prefix", "a\nb").empty());
  CHECK(fault("launch.prefix", "{node}/{local_rank}: ").empty());
  CHECK(fault("launch.master_addr", "10.0.0.1:29500") == "the address of one host, without a port");
  for (const char* text : {"0.0.0.0", "0", "::", "0:0::0", "255.255.255.255", "[::]", "[a]", "[",
                           "[]", "[10.0.0.1]"}) {
    INFO(text);
    CHECK_FALSE(fault("launch.master_addr", text).empty());
  }
  for (const char* text : {"with space", "tab\t", "\xc3\xa4"}) {
    INFO(text);
    CHECK_FALSE(fault("launch.run_id", text).empty());
  }
  CHECK(fault("launch.run_id", "job-17/a").empty());
  for (const char* text : {"", "127.0.0.1", "::1", "[::1]", "node-7", "10.0.0.0"}) {
    INFO(text);
    CHECK(fault("launch.master_addr", text).empty());
  }
  CHECK(fault("launch.master_addr", "fe80::1").empty());
  for (const char* text : {"NAME", "=x", "A B=c", "A\tB=c", "A,B=c", " =c"}) {
    INFO(text);
    CHECK(fault("launch.env", text) == "NAME=VALUE, without spaces and commas in NAME");
  }
  CHECK(fault("launch.env", "A.b-C=d e,f").empty());
  CHECK_FALSE(fault("launch.unset_env", "A B").empty());
}

TEST_CASE("booleans know the words that people use, in any case") {
  const Setting& row = *find_setting_by_id("launch.pin_devices");
  for (const char* text : {"true", "True", "YES", "on", "1"})
    CHECK(parse_value(row, text) == Value(true));
  for (const char* text : {"false", "False", "no", "OFF", "0"}) {
    CHECK(parse_value(row, text) == Value(false));
  }
}

}  // namespace muster

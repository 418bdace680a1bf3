#include "arguments/setting_key.hpp"

#include <muster/error.hpp>

#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <map>

using namespace muster::launcher;

namespace {

std::string fault_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const muster::ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string key_fault(const std::string& text) {
  return fault_of([&] { find_key(text); });
}

}  // namespace

TEST_CASE("A key is a setting, or a name in a map") {
  for (const auto& row : muster::settings_table()) {
    CHECK(find_key(row.id()).setting == &row);
    CHECK_FALSE(find_key(row.id()).item);
  }
  const auto item = find_key("launch.env.A.b");
  CHECK(item.setting->id() == "launch.env");
  CHECK(item.item == "A.b");
}

TEST_CASE("A key that is none names the one that was meant") {
  CHECK(key_fault("launch.num_proceses") ==
        "no setting 'launch.num_proceses'; did you mean launch.num_processes?");
  for (const char* text : {"seed", "--seed", "MUSTER_TRAIN_SEED"}) {
    CHECK(key_fault(text).ends_with("; did you mean train.seed?"));
  }
  CHECK(key_fault("") == "no setting ''; muster config show lists them");
  CHECK_FALSE(key_fault("launch.env.").empty());
  CHECK_FALSE(key_fault("launch.threads.x").empty());
}

TEST_CASE("A value is parsed as its flag's would be") {
  using Map = std::map<std::string, std::string>;
  CHECK(parse_assignment("launch.threads=auto").second == muster::Value(muster::Auto{}));
  CHECK(parse_assignment("launch.env=A=b=c").second == muster::Value(Map{{"A", "b=c"}}));
  CHECK(parse_assignment("launch.env.A=b=c").second == muster::Value(Map{{"A", "b=c"}}));
  CHECK(fault_of([] { parse_assignment("launch.threads"); }).find("KEY=VALUE") !=
        std::string::npos);
  CHECK(fault_of([] { parse_assignment("launch.threads=0"); }) ==
        "launch.threads = 0: expected a whole number of at least 1, or auto");
  const auto secret = fault_of([] { parse_assignment("launch.env.A B=hush"); });
  CHECK_FALSE(secret.empty());
  CHECK(secret.find("hush") == std::string::npos);
}

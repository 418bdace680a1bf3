#include "wizard/interview.hpp"

#include <muster/error.hpp>
#include <muster/settings_editor.hpp>

#include <catch2/catch_test_macros.hpp>

#include <functional>

using namespace muster::launcher;
using muster::Auto;
using muster::find_setting_by_id;
using muster::Value;

namespace {

constexpr const char* ranks = "launch.num_processes";

WizardFacts machine(int gpus, const muster::Environment& environment = {}) {
  WizardFacts facts;
  facts.environment = environment;
  facts.topology.cpus.cores = 8;
  for (int i = 0; i < gpus; ++i) {
    facts.topology.nvidia.usable.push_back(
        {"GPU-" + std::to_string(i), "0000:0" + std::to_string(i) + ":00.0", "H200", i, false});
  }
  return facts;
}

SettingValues values(const std::map<std::string, Value>& texts) {
  SettingValues all;
  for (const auto& [id, value] : texts) all[find_setting_by_id(id)] = value;
  return all;
}

/// Answers by setting; all others take the offer. Returns the settings asked, in their order.
std::vector<std::string> hold(Interview& interview,
                              const std::map<std::string, std::string>& answers = {}) {
  std::vector<std::string> asked;
  while (const auto question = interview.next()) {
    asked.push_back(question->setting->id());
    const auto found = answers.find(asked.back());
    interview.answer(found == answers.end() ? "" : found->second);
  }
  return asked;
}

bool has(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// What would be written, as a file.
std::string written(const Interview& interview, const std::string& before = "") {
  muster::SettingsEditor editor(before, "f");
  for (const auto& [setting, value] : interview.to_write()) editor.set(*setting, value);
  return editor.text();
}

std::string fault_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const muster::ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("Without devices none are asked for, and one rank is offered") {
  Interview interview(machine(0), {});
  REQUIRE(interview.next());
  CHECK(interview.next()->setting->id() == ranks);
  CHECK(interview.next()->offer == Value(std::int64_t{1}));
  const auto asked = hold(interview);
  CHECK_FALSE(has(asked, "launch.devices"));
  CHECK_FALSE(has(asked, "launch.oversubscribe"));
  CHECK(has(asked, "train.gradient_accumulation_steps"));
  CHECK(written(interview) == "[launch]\nnum_processes = 1\n");
}

TEST_CASE("With devices one rank a device is offered, and the choice of devices counts") {
  Interview all(machine(4), {});
  CHECK(all.next()->setting->id() == "launch.devices");
  CHECK(all.next()->offer == Value(std::vector<std::string>{"auto"}));
  CHECK_FALSE(has(hold(all), "launch.oversubscribe"));
  CHECK(written(all) == "[launch]\nnum_processes = 4\n\n[train]\nmixed_precision = \"bf16\"\n");
  Interview some(machine(4), {});
  hold(some, {{"launch.devices", "2,0"},
              {"train.mixed_precision", "fp16"},
              {"train.gradient_accumulation_steps", "8"}});
  CHECK(written(some) ==
        "[launch]\nnum_processes = 2\ndevices = [\"2\", \"0\"]\n\n[train]\n"
        "mixed_precision = \"fp16\"\ngradient_accumulation_steps = 8\n");
  Interview cpu(machine(4), {});
  hold(cpu, {{"launch.devices", "cpu"}});
  CHECK(written(cpu) == "[launch]\nnum_processes = 1\ndevices = [\"cpu\"]\n");
  Interview visible(machine(4, {{"CUDA_VISIBLE_DEVICES", "1,3"}}), {});
  hold(visible);
  CHECK(written(visible) == "[launch]\nnum_processes = 2\n\n[train]\nmixed_precision = \"bf16\"\n");
}

TEST_CASE("More ranks than devices need a word, and taking it back asks for ranks again") {
  Interview interview(machine(2), {});
  interview.answer("");
  interview.answer("5");
  REQUIRE(interview.next()->setting->id() == "launch.oversubscribe");
  CHECK(interview.next()->explanation.find("5 ranks on 2 devices") != std::string::npos);
  CHECK_FALSE(fault_of([&] { interview.answer("no"); }).empty());
  REQUIRE(interview.next()->setting->id() == ranks);
  interview.answer("5");
  interview.answer("y");
  hold(interview);
  CHECK(written(interview) ==
        "[launch]\nnum_processes = 5\noversubscribe = true\n\n[train]\n"
        "mixed_precision = \"bf16\"\n");
}

TEST_CASE("The present file's values are offered, and what is answered alike stays") {
  const std::string file =
      "[launch]\nnproc_per_node = 2\ndevices = \"1,0\"\n[train]\n"
      "gradient_accumulation_steps = 3 # three\n";
  const auto present = values({{"launch.nproc_per_node", std::int64_t{2}},
                               {"launch.devices", std::vector<std::string>{"1", "0"}},
                               {"train.gradient_accumulation_steps", std::int64_t{3}}});
  Interview again(machine(2), present);
  hold(again);
  CHECK(written(again, file) == file);
  Interview other(machine(2), present);
  hold(other, {{ranks, "1"}, {"train.gradient_accumulation_steps", "1"}});
  CHECK(written(other, file) ==
        "[launch]\ndevices = \"1,0\"\nnum_processes = 1\n[train]\n"
        "gradient_accumulation_steps = 1 # three\n");
  Interview automatic(machine(2), present);
  hold(automatic, {{ranks, "auto"}});
  CHECK(automatic.to_write().front().second == Value(Auto{}));
}

TEST_CASE("What the file says and this machine has not is not offered") {
  Interview fewer(machine(2), values({{"launch.devices", std::vector<std::string>{"0", "5"}},
                                      {ranks, std::int64_t{8}}}));
  CHECK(fewer.next()->offer == Value(std::vector<std::string>{"auto"}));
  fewer.answer("");
  CHECK(fewer.next()->offer == Value(std::int64_t{2}));
  Interview crowded(machine(2), values({{"launch.oversubscribe", true}, {ranks, std::int64_t{8}}}));
  hold(crowded);
  CHECK(crowded.to_write().empty());
}

TEST_CASE("Answers are checked, and the question stays open") {
  Interview interview(machine(2), {});
  CHECK(fault_of([&] { interview.answer("gpu"); }).starts_with("expected auto, cpu, cuda"));
  CHECK_FALSE(fault_of([&] { interview.answer("0,7"); }).empty());
  CHECK(interview.next()->setting->id() == "launch.devices");
  interview.answer("cuda");
  CHECK(fault_of([&] { interview.answer("0"); }) ==
        "expected a whole number from 1 to 100000, or auto");
  CHECK(interview.next()->setting->id() == ranks);
}

TEST_CASE("What is given is not asked, need not be of this machine, and counts for the rest") {
  Interview interview(machine(0), {});
  interview.give(*find_setting_by_id("launch.devices"), std::vector<std::string>{"cuda"});
  interview.give(*find_setting_by_id("launch.nproc_per_node"), std::int64_t{4});
  using Map = std::map<std::string, std::string>;
  interview.give(*find_setting_by_id("launch.env"), Map{{"A", "1"}});
  interview.give(*find_setting_by_id("launch.env"), Map{{"B", "2"}});
  CHECK(fault_of([&] { interview.give(*find_setting_by_id(ranks), std::int64_t{2}); }) ==
        "launch.num_processes and launch.nproc_per_node decide the same thing: give one of them");
  const auto asked = hold(interview);
  CHECK_FALSE(has(asked, ranks));
  CHECK(written(interview) ==
        "[launch]\nnproc_per_node = 4\ndevices = [\"cuda\"]\nenv = { A = \"1\", B = \"2\" }\n");
}

TEST_CASE("Each setting with a question is asked at most once, and explained in one line") {
  Interview interview(machine(2), {});
  std::vector<std::string> asked;
  while (const auto question = interview.next()) {
    CHECK_FALSE(has(asked, question->setting->id()));
    asked.push_back(question->setting->id());
    CHECK_FALSE(question->explanation.empty());
    CHECK(question->explanation.find('\n') == std::string::npos);
    CHECK(question->text.ends_with("?"));
    interview.answer("");
  }
}

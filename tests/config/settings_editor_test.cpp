#include <muster/error.hpp>
#include <muster/settings_editor.hpp>

#include "config/support.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <iterator>
#include <sys/stat.h>

namespace muster {
namespace {

const Setting& row(const char* id) {
  const auto* setting = find_setting_by_id(id);
  REQUIRE(setting != nullptr);
  return *setting;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("each setting can be put into an empty file, and is read back from it") {
  for (const Setting& setting : settings_table()) {
    CAPTURE(setting.id());
    for (const auto& sample : test::samples(setting)) {
      SettingsEditor editor("", "f");
      editor.set(setting, sample.value);
      CAPTURE(editor.text());
      REQUIRE(editor.present(setting));
      CHECK(editor.present(setting)->value == sample.value);
      CHECK(editor.faults().empty());
      CHECK(editor.unset(setting));
      CHECK_FALSE(editor.present(setting));
    }
  }
}

TEST_CASE("a value that is there already keeps its form") {
  const std::string text = "[launch]\ndevices = \"0,1\"\ngrace = 1e1\nenv = { A = 'x' }\n";
  SettingsEditor editor(text, "f");
  editor.set(row("launch.devices"), std::vector<std::string>{"0", "1"});
  editor.set(row("launch.grace"), 10.0);
  editor.set(row("launch.env"), std::map<std::string, std::string>{{"A", "x"}});
  CHECK(editor.text() == text);
}

TEST_CASE("a setting takes the others of its group out") {
  SettingsEditor editor("[launch]\nnproc_per_node = 4\n", "f");
  const auto removed = editor.set(row("launch.num_processes"), std::int64_t{2});
  REQUIRE(removed.size() == 1);
  CHECK(removed[0]->id() == "launch.nproc_per_node");
  CHECK(editor.text() == "[launch]\nnum_processes = 2\n");
  SettingsEditor prefix("[launch]\nprefix = \"x\"\n", "f");
  CHECK(prefix.set(row("launch.no_prefix"), false).empty());
  CHECK(prefix.faults().empty());
  CHECK(prefix.set(row("launch.no_prefix"), true).size() == 1);
  CHECK(prefix.text() == "[launch]\nno_prefix = true\n");
}

TEST_CASE("a file with faults can be mended, and tells what is left") {
  SettingsEditor editor(
      "[launch]\nnum_processes = \"4\"\nfuture = 1\n[cluster]\nx = 1\n[launch.env]\nA = 1\n", "f");
  CHECK(editor.faults().size() == 4);
  CHECK_FALSE(editor.present(row("launch.num_processes")));
  editor.set(row("launch.num_processes"), std::int64_t{4});
  editor.set(row("launch.env"), std::map<std::string, std::string>{{"A", "1"}});
  CHECK(editor.faults().size() == 2);
  CHECK(editor.text() ==
        "[launch]\nnum_processes = 4\nfuture = 1\n[cluster]\nx = 1\n[launch.env]\nA = \"1\"\n");
}

TEST_CASE("two that decide the same thing are a fault of the text") {
  const SettingsEditor editor("[launch]\nnum_processes = 2\nnproc_per_node = 4\n", "f");
  REQUIRE(editor.faults().size() == 1);
  CHECK(editor.faults()[0].starts_with("f:3: "));
}

TEST_CASE("wrong values and texts are refused") {
  SettingsEditor editor("[launch]\n", "f");
  CHECK(test::fault_of([&] { editor.set(row("launch.num_processes"), std::int64_t{0}); }) ==
        "launch.num_processes = 0: expected a whole number from 1 to 100000, or auto");
  CHECK(test::fault_of([] { SettingsEditor("[launch\n", "f"); }).starts_with("f:1:"));
  SettingsEditor list("[[train]]\n", "f");
  CHECK(test::fault_of([&] { list.set(row("train.seed"), std::int64_t{1}); }) ==
        "f:1: 'train' is a list of tables");
}

TEST_CASE("nothing is written before save, and a folder is made for a new file") {
  const test::TempFolder folder;
  const auto path = folder.path() / "a" / "b" / "f.toml";
  auto editor = SettingsEditor::open(path, "f.toml", true);
  CHECK_FALSE(editor.exists());
  editor.set(row("train.seed"), std::int64_t{7});
  CHECK(editor.changed());
  CHECK_FALSE(std::filesystem::exists(path));
  editor.save();
  CHECK_FALSE(editor.changed());
  CHECK(read(path) == "[train]\nseed = 7\n");
}

TEST_CASE("what somebody else wrote meanwhile is not lost") {
  const test::TempFolder folder;
  const auto path = folder.write("f.toml", "[train]\nseed = 7\n");
  auto editor = SettingsEditor::open(path, "f.toml", true);
  editor.set(row("train.seed"), std::int64_t{8});
  folder.write("f.toml", "[train]\nseed = 9\n");
  CHECK_THROWS_AS(editor.save(), Error);
  CHECK(read(path) == "[train]\nseed = 9\n");
}

TEST_CASE("a file that launch would not take unasked is not changed unasked either") {
  const test::TempFolder folder;
  const auto path = folder.write("muster.toml", "");
  REQUIRE(chmod(path.c_str(), 0666) == 0);
  CHECK(test::fault_of([&] {
          SettingsEditor::open(path, "muster.toml", false);
        }).find("everybody may write to it") != std::string::npos);
  CHECK(SettingsEditor::open(path, "muster.toml", true).exists());
}

}  // namespace muster

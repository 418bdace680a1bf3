#include "config/support.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::test {
namespace {

using Kind = Origin::Kind;

Sample number_sample(const std::string& text, Value value) {
  return {text, text, std::move(value)};
}
Sample text_sample(const std::string& text) { return {text, toml_string(text), text}; }
Sample list_sample(const std::string& text, const std::vector<std::string>& words) {
  return {text, to_toml(words), words};
}

/// Rows whose values have rules of their own.
const std::map<std::string, std::vector<Sample>>& special_samples() {
  static const std::map<std::string, std::vector<Sample>> all{
      {"launch.devices", {list_sample("0,2", {"0", "2"}), list_sample("cuda", {"cuda"})}},
      {"launch.master_addr", {text_sample("10.0.0.2"), text_sample("::1")}},
      {"launch.bind_addr", {text_sample("192.168.0.2"), text_sample("fd00::2")}},
      {"launch.run_id", {text_sample("job-17"), text_sample("18")}},
      {"launch.token_file", {text_sample("token"), text_sample("/run/secrets/a b")}},
      {"launch.stdin", {text_sample("none"), text_sample("1")}},
      {"launch.prefix", {text_sample("<{rank}@{host}> "), text_sample("")}},
      {"launch.console_ranks", {text_sample("0,3-5"), text_sample("none")}},
      {"launch.restart_on", {text_sample("1,134-139"), text_sample("3")}},
      {"launch.wrap", {text_sample("gdb -ex 'b main' --args"), text_sample("env")}},
      {"launch.wrap_ranks", {text_sample("0,3-5"), text_sample("none")}},
      {"launch.log_dir", {text_sample("logs"), text_sample("/var/log/run 1")}},
      {"train.log_with", {list_sample("csv,html", {"csv", "html"}), list_sample("all", {"all"})}},
      {"train.project_dir", {text_sample("tracked"), text_sample("/var/runs/a b")}},
      {"launch.unset_env",
       {list_sample("ONE,TWO", {"ONE", "TWO"}), list_sample("THREE", {"THREE"})}},
  };
  return all;
}

std::vector<Sample> by_choices(const Setting& setting) {
  std::vector<Sample> found;
  std::string word;
  for (const char letter : std::string(setting.choices) + " ") {
    if (letter != ' ') {
      word += letter;
      continue;
    }
    if (Value(word) != setting.default_value()) found.push_back(text_sample(word));
    word.clear();
  }
  if (found.size() == 1)
    found.push_back(text_sample(std::get<std::string>(setting.default_value())));
  return found;
}

}  // namespace

TempFolder::TempFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "muster-config-XXXXXX";
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TempFolder::write(const std::string& name, const std::string& text) const {
  auto path = path_ / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string fault_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    CHECK(error.exit_code() == ExitCode::usage);
    return error.what();
  }
  return "";
}

std::vector<Sample> samples(const Setting& setting) {
  if (const auto found = special_samples().find(setting.id()); found != special_samples().end()) {
    return found->second;
  }
  switch (setting.member.kind) {
    case ValueKind::boolean: {
      const bool otherwise = !std::get<bool>(setting.default_value());
      return {number_sample(to_text(otherwise), otherwise),
              number_sample(to_text(!otherwise), !otherwise)};
    }
    case ValueKind::integer:
      return {number_sample("3", std::int64_t{3}), number_sample("5", std::int64_t{5})};
    case ValueKind::number:
    case ValueKind::seconds:
      return {number_sample("2.5", 2.5), number_sample("7", 7.0)};
    case ValueKind::text:
      return by_choices(setting);
    case ValueKind::list:
      return {};
    case ValueKind::map: {
      const std::map<std::string, std::string> one{{"NAME", "a=b"}}, other{{"NAME", ""}};
      return {{"NAME=a=b", to_toml(one), one}, {"NAME=", to_toml(other), other}};
    }
  }
  return {};
}

Surroundings::Surroundings() {
  sources.working_directory = work_.path();
  sources.environment["XDG_CONFIG_HOME"] = home_.path();
}

void Surroundings::write_project_file(const std::string& text) const {
  work_.write("muster.toml", text);
}

void Surroundings::write_user_file(const std::string& text) const {
  home_.write("muster/config.toml", text);
}

void Surroundings::give(const Setting& setting, const Sample& sample, Kind level) {
  const std::string file =
      "[" + std::string(setting.section) + "]\n" + std::string(setting.key) + " = " + sample.toml;
  switch (level) {
    case Kind::built_in:
    case Kind::code:
      FAIL("not a source of the launcher");
      break;
    case Kind::discovered:
      sources.discovered.push_back({setting.id(), sample.value, "found"});
      break;
    case Kind::scheduler:
      sources.scheduler.push_back({setting.id(), sample.value, "slurm"});
      break;
    case Kind::user_file:
      write_user_file(file);
      break;
    case Kind::project_file:
      write_project_file(file);
      break;
    case Kind::config_file:
      work_.write("job.toml", file);
      sources.config_file = "job.toml";
      break;
    case Kind::variable:
      sources.environment[setting.variable()] = sample.text;
      break;
    case Kind::flag:
      sources.flags.push_back({setting.flag(), sample.text, ""});
      break;
  }
}

std::string Surroundings::fault() const {
  return fault_of([this] { resolve(); });
}

const std::vector<Kind>& levels() {
  static const std::vector<Kind> all{Kind::discovered,   Kind::scheduler,   Kind::user_file,
                                     Kind::project_file, Kind::config_file, Kind::variable,
                                     Kind::flag};
  return all;
}

std::string stderr_of(const std::function<void()>& call) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    call();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  return text;
}

}  // namespace muster::test

#include "muster_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <support/paths.hpp>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <sys/stat.h>

using muster::test::run_muster;
using muster::test::TemporaryFolder;
using Words = std::vector<std::string>;

namespace {

/// The words of `muster launch --devices cpu ...`: the tests' host may have devices.
Words launch(Words words) {
  Words all{"launch", "--devices", "cpu"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

nlohmann::json report_of(const TemporaryFolder& folder) {
  return nlohmann::json::parse(file_text(folder.path() + "/report.json"), nullptr, false);
}

/// The variables of a rank that ran `env > env.$RANK`.
std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

}  // namespace

TEST_CASE("Quiet when nothing is wrong") {
  const auto end = run_muster(launch({"-n", "2", "--", "true"}));
  CHECK(end.code == 0);
  CHECK(end.out.empty());
  CHECK(end.err.empty());
}

TEST_CASE("One line if muster chose the number of ranks or took a file") {
  const auto chosen = run_muster(launch({"--", "true"}));
  CHECK(chosen.err == "muster: 1 rank on the CPU (-n starts more)\n");
  CHECK(run_muster(launch({"--quiet", "--", "true"})).err.empty());
  const TemporaryFolder folder;
  folder.write("muster.toml", "[launch]\nnum_processes = 2\n");
  const auto from_file = run_muster(launch({"--", "true"}), folder);
  CHECK(from_file.code == 0);
  CHECK(from_file.err == "muster: settings from ./muster.toml\n");
}

TEST_CASE("The program's arguments are its own, byte for byte") {
  const TemporaryFolder folder;
  const auto end =
      run_muster(launch({"-n", "1", "sh", "-c", "printf '%s|' \"$@\"", "x", "--num-processes", "9",
                         "--config", "", "a b", "$HOME;'\"", "\xc3\xa9\n", "--", "-n"}),
                 folder);
  CHECK(end.code == 0);
  CHECK(end.out == "--num-processes|9|--config||a b|$HOME;'\"|\xc3\xa9\n|--|-n|");
}

TEST_CASE("accelerate's words for ranks on the CPU start as many") {
  const auto end = run_muster({"launch", "--cpu", "--num_processes", "4", "--no-prefix", "--", "sh",
                               "-c", "echo $WORLD_SIZE"});
  CHECK(end.code == 0);
  CHECK(end.out == "4\n4\n4\n4\n");
}

TEST_CASE("Programs are found as a shell finds them, in the launcher's folder") {
  const TemporaryFolder folder;
  folder.write("a program", "#!/bin/sh\npwd\n");
  ::chmod((folder.path() + "/a program").c_str(), 0700);
  for (const auto& name : {std::string("./a program"), folder.path() + "/a program"}) {
    const auto end = run_muster(launch({"-n", "1", "--", name}), folder);
    CHECK(end.code == 0);
    CHECK(end.out == folder.path() + "\n");
  }
}

TEST_CASE("Exit codes") {
  const auto code = [](Words words) { return run_muster(launch(std::move(words))).code; };
  CHECK(code({"-n", "2", "--", "sh", "-c", "exit $((RANK * 7))"}) == 7);
  CHECK(code({"-n", "1", "--", "sh", "-c", "kill -KILL $$"}) == 137);
  CHECK(code({"-n", "1", "--timeout", "0.2", "--", "sleep", "60"}) == 124);
  CHECK(code({"-n", "1", "--", "/no/such/program"}) == 127);
  CHECK(code({"-n", "1", "--", "no-such-program"}) == 127);
  CHECK(code({"-n", "1", "--", "/"}) == 126);
  CHECK(run_muster(launch({"-n", "1", "--", "true"}), {{"TMPDIR", "/no/such/place"}}).code == 125);
}

TEST_CASE("Wrong usage is 2, one message, and nothing is started") {
  const TemporaryFolder folder;
  const auto refuses = [&](Words words, const std::string& message) {
    words.insert(words.end(), {"--", "touch", "started"});
    CAPTURE(words);
    const auto end = run_muster(launch(words), folder);
    CHECK(end.code == 2);
    CHECK(end.out.empty());
    CHECK(end.err == "muster: " + message + "\n");
    CHECK(file_text(folder.path() + "/started").empty());
    CHECK_FALSE(std::ifstream(folder.path() + "/started").good());
  };
  refuses({"--num-procesess", "4"},
          "unknown option '--num-procesess'; did you mean --num-processes?");
  refuses({"--config", "/nope.toml"}, "--config /nope.toml: no such file");
  refuses({"--report", "/no/such/r.json"},
          "--report /no/such/r.json: cannot be written: No such file or directory");
  refuses({"--env", "RANK=3"}, "--env RANK: each rank gets this from muster; leave it out");
  const auto end = run_muster({"launch", "-n", "2"});
  CHECK(end.code == 2);
  CHECK(end.err ==
        "muster: no program given; for example: muster launch -n 2 -- ./train --epochs 3\n");
}

TEST_CASE("Devices that are not there are refused with what is") {
  const auto end = run_muster({"launch", "--devices", "77", "--", "true"});
  CHECK(end.code == 2);
  CHECK(end.err.starts_with("muster: --devices"));
}

TEST_CASE("An outer job's variables do not reach the ranks; the user's do") {
  const TemporaryFolder folder;
  const auto end = run_muster(launch({"-n", "2", "--", "sh", "-c", "env > env.$RANK"}), folder,
                              {{"RANK", "5"},
                               {"WORLD_SIZE", "99"},
                               {"LOCAL_RANK", "5"},
                               {"MASTER_PORT", "1"},
                               {"SLURM_PROCID", "0"},
                               {"OMPI_COMM_WORLD_RANK", "3"},
                               {"MUSTER_CONTROL_FD", "77"},
                               {"NCCL_DEBUG", "INFO"},
                               {"LD_LIBRARY_PATH", "/x"},
                               {"OMP_NUM_THREADS", "7"}});
  REQUIRE(end.code == 0);
  for (const auto* rank : {"0", "1"}) {
    const auto variables = lines_of(file_text(folder.path() + "/env." + rank));
    CHECK(variables.contains(std::string("RANK=") + rank));
    CHECK(variables.contains(std::string("LOCAL_RANK=") + rank));
    CHECK(variables.contains("WORLD_SIZE=2"));
    CHECK_FALSE(variables.contains("MASTER_PORT=1"));
    CHECK_FALSE(variables.contains("MUSTER_CONTROL_FD=77"));
    CHECK(variables.contains("SLURM_PROCID=0"));
    CHECK(variables.contains("NCCL_DEBUG=INFO"));
    CHECK(variables.contains("LD_LIBRARY_PATH=/x"));
    CHECK(variables.contains("OMP_NUM_THREADS=7"));
  }
}

TEST_CASE("A dry run names what then happens") {
  const TemporaryFolder folder;
  const Words words{"-n", "1", "--env", "A=1", "--gradient-accumulation-steps", "2"};
  auto dry = launch(words), real = launch(words);
  for (const auto& word : {"--dry-run", "--", "env"}) dry.emplace_back(word);
  for (const auto& word : {"--", "env"}) real.emplace_back(word);
  const auto planned = run_muster(dry, folder, {{"B", "2"}});
  REQUIRE(planned.code == 0);
  CHECK(planned.err.empty());
  const auto ran = run_muster(real, folder, {{"B", "2"}});
  REQUIRE(ran.code == 0);
  // What the plan lists, less the user's own, is what the rank has.
  std::set<std::string> promised, found;
  std::istringstream text(planned.out);
  for (std::string word; text >> word;) {
    if (word.find('=') != word.npos) promised.insert(word);
    if (word.starts_with("MUSTER_") && word.find('=') == word.npos) promised.insert(word);
  }
  const auto known_later = [](const std::string& name) {
    return name == "MASTER_PORT" || name == "TORCHELASTIC_RUN_ID" ||
           name == "TORCHELASTIC_ERROR_FILE";
  };
  const std::set<std::string> shell{"PWD", "OLDPWD", "SHLVL", "_", "PATH", "B", "XDG_CONFIG_HOME"};
  std::set<std::string> names;
  for (const auto& word : promised) {
    const auto name = word.substr(0, word.find('='));
    names.insert(name);
    const bool valued = word.find('=') != word.npos && !known_later(name);
    if (valued) CHECK(lines_of(ran.out).contains(word));
  }
  for (const auto& line : lines_of(ran.out)) {
    const auto name = line.substr(0, line.find('='));
    if (shell.contains(name)) continue;
    CAPTURE(line);
    CHECK(names.contains(name));
  }
}

TEST_CASE("A dry run starts nothing") {
  const TemporaryFolder folder;
  const auto end = run_muster(launch({"-n", "2", "--dry-run", "--", "touch", "started"}), folder);
  CHECK(end.code == 0);
  CHECK(end.out.starts_with("job       2 ranks on 1 host\nprogram   touch started\n rank  node"));
  CHECK_FALSE(std::ifstream(folder.path() + "/started").good());
}

TEST_CASE("A dry run tells that it took a file, too") {
  const TemporaryFolder folder;
  folder.write("muster.toml", "[launch]\nnum_processes = 2\n");
  const auto end = run_muster(launch({"--dry-run", "--", "true"}), folder);
  CHECK(end.err == "muster: settings from ./muster.toml\n");
  CHECK(end.out.starts_with("job       2 ranks on 1 host\n"));
}

TEST_CASE("The report says how the job ended, whichever way") {
  const TemporaryFolder folder;
  SECTION("well") {
    run_muster(launch({"-n", "2", "--report", "report.json", "--", "true"}), folder);
    CHECK(report_of(folder)["outcome"] == "ok");
    CHECK(report_of(folder)["ranks"].size() == 2);
  }
  SECTION("a rank failed") {
    run_muster(launch({"-n", "2", "--report", "report.json", "--", "sh", "-c",
                       "[ $RANK = 1 ] || sleep 60; echo why >&2; exit 3"}),
               folder);
    const auto report = report_of(folder);
    CHECK(report["outcome"] == "rank_failed");
    CHECK(report["exit_code"] == 3);
    CHECK(report["first_failure"]["rank"] == 1);
    CHECK(report["first_failure"]["last_lines"][0] == "why");
    CHECK(report["ranks"][0]["stopped_by_muster"] == true);
  }
  SECTION("wrong usage, wherever the flag is") {
    const auto end =
        run_muster(launch({"--typo", "--report", "report.json", "--", "true"}), folder);
    CHECK(end.code == 2);
    CHECK(report_of(folder)["outcome"] == "usage");
    CHECK(report_of(folder)["message"] == "unknown option '--typo'");
  }
  SECTION("a program that is not there") {
    run_muster(launch({"-n", "1", "--report", "report.json", "--", "./none"}), folder);
    CHECK(report_of(folder)["outcome"] == "not_started");
    CHECK(report_of(folder)["exit_code"] == 127);
  }
  SECTION("a deadline") {
    run_muster(launch({"-n", "1", "--timeout", "0.2", "--report=report.json", "--", "sleep", "60"}),
               folder);
    CHECK(report_of(folder)["outcome"] == "timeout");
  }
}

TEST_CASE("The failure on the screen names the rank and shows its last lines") {
  const auto end = run_muster(
      launch({"-n", "2", "--", "sh", "-c", "[ $RANK = 1 ] || sleep 60; echo why >&2; exit 3"}));
  CHECK(end.err.find("muster: rank 1 failed first: exit 3 on ") != std::string::npos);
  CHECK(end.err.find("  output   why\n") != std::string::npos);
  CHECK(end.err.find("  then     rank 0 stopped by muster (SIGTERM)\n") != std::string::npos);
  const auto quiet = run_muster(launch({"-q", "-n", "1", "--", "sh", "-c", "exit 3"}));
  CHECK(quiet.err.starts_with("muster: rank 0 failed: exit 3 on "));
  CHECK(quiet.err.find('\n') == quiet.err.size() - 1);
}

TEST_CASE("A torch error file tells the exception of a program that has no runtime of ours") {
  const auto end = run_muster(launch(
      {"-n", "1", "--", "sh", "-c",
       R"(echo '{"message": {"message": "ValueError: bad batch"}}' > $TORCHELASTIC_ERROR_FILE; exit 1)"}));
  CHECK(end.code == 1);
  CHECK(end.err.find("  error    ValueError: bad batch\n") != std::string::npos);
}

TEST_CASE("Nothing of a job is left in the folder of temporary files") {
  const TemporaryFolder folder, temporary;
  run_muster(launch({"-n", "2", "--", "sh", "-c", "echo x > $TORCHELASTIC_ERROR_FILE; exit 1"}),
             folder, {{"TMPDIR", temporary.path()}});
  CHECK(std::filesystem::is_empty(temporary.path()));
}

TEST_CASE("A signal at any moment of a launch leaves no folder") {
  const TemporaryFolder folder, temporary;
  const auto script =
      "for i in 0 1 2 3 4 5 6 7 8 9; do $MUSTER launch -n 1 -- true & p=$!; "
      "sleep 0.00$i; kill $p; wait $p; done";
  const auto program = std::string(muster::test::bin_dir) + "/muster";
  run_muster(launch({"-n", "1", "--", "sh", "-c", script}), folder,
             {{"TMPDIR", temporary.path()}, {"MUSTER", program}});
  CHECK(std::filesystem::is_empty(temporary.path()));
}

TEST_CASE("The launcher obeys the level of messages, too") {
  const std::map<std::string, std::string> errors{{"MUSTER_LOG_LEVEL", "error"}};
  CHECK(run_muster(launch({"--devices", "cpu", "--seed", "7", "--", "true"}), errors).err.empty());
}

TEST_CASE("A dry run has nothing to report") {
  CHECK(run_muster(launch({"--dry-run", "--report", "r.json", "--", "true"})).code == 2);
}

TEST_CASE("Settings of the runtime are told to have had no effect on a program without it") {
  const auto end = run_muster(launch({"-n", "1", "--seed", "7", "--", "true"}));
  CHECK(end.code == 0);
  CHECK(end.err == "muster: no effect: train.seed (--seed); no rank used muster's runtime\n");
}

TEST_CASE("An interface for Gloo that this host has not is told once, before ranks fail of it") {
  const auto told = [](const std::string& value) {
    return run_muster(launch({"-n", "3", "--", "true"}), {{"GLOO_SOCKET_IFNAME", value}}).err;
  };
  CHECK(told("lo").empty());
  CHECK(told("").empty());
  CHECK(told("^lo,docker")
            .starts_with("muster: GLOO_SOCKET_IFNAME=^lo,docker: this host has no network "
                         "interface '^lo', but "));
  CHECK(told("lo,127.0.0.1").find("'127.0.0.1'") != std::string::npos);
}

TEST_CASE("Python programs run under Python") {
  const TemporaryFolder folder;
  folder.write("python", "#!/bin/sh\necho python \"$@\"\n");
  ::chmod((folder.path() + "/python").c_str(), 0700);
  const std::map<std::string, std::string> environment{{"PYTHON_EXEC", folder.path() + "/python"}};
  CHECK(run_muster(launch({"-n", "1", "--", "a.py", "x"}), folder, environment).out ==
        "python -u a.py x\n");
  CHECK(run_muster(launch({"-n", "1", "-m", "pkg.mod", "-n", "3"}), folder, environment).out ==
        "python -u -m pkg.mod -n 3\n");
}

TEST_CASE("--verbose tells the plan and which flags had no effect") {
  const auto end = run_muster(launch({"-v", "-n", "1", "--standalone", "--", "true"}));
  CHECK(end.code == 0);
  CHECK(end.out.empty());
  CHECK(end.err.find("muster: --standalone has no effect: ") != std::string::npos);
  CHECK(end.err.find("program   true\n") != std::string::npos);
}

TEST_CASE("A report keeps secrets of the command line to itself") {
  const TemporaryFolder folder;
  run_muster(
      launch({"-n", "1", "--env", "API_KEY=one", "--env=MY_TOKEN=two", "--env", "A=three",
              "-x=WANDB_API_KEY=four", "--report", "report.json", "--", "true", "A=SECRET=5"}),
      folder);
  const auto text = file_text(folder.path() + "/report.json");
  CHECK(text.find("API_KEY=(hidden)") != std::string::npos);
  CHECK(text.find("--env=MY_TOKEN=(hidden)") != std::string::npos);
  CHECK(text.find("four") == std::string::npos);
  CHECK(text.find("A=SECRET=(hidden)") != std::string::npos);
  CHECK(text.find("A=three") != std::string::npos);
}

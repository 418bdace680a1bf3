#include "muster_run.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <iterator>

using muster::test::run_muster;
using muster::test::TemporaryFolder;

TEST_CASE("Another launcher's file becomes settings on stdout, or in a file; the rest is said") {
  const TemporaryFolder folder;
  folder.write("default_config.yaml",
               "distributed_type: MULTI_CPU\nnum_processes: 3\nstrange: 1\nuse_cpu: true\n");
  const auto shown = run_muster({"config", "import", "default_config.yaml"}, folder);
  CHECK(shown.code == 0);
  CHECK(shown.out == "[launch]\nnum_processes = 3\ndevices = [\"cpu\"]\n");
  CHECK(shown.err ==
        "muster: default_config.yaml:3: strange: 1: not carried over: accelerate has no such "
        "key\n");
  folder.write("job.toml", "# mine\n[launch]\nnum_processes = 1 # few\n");
  const auto written =
      run_muster({"config", "import", "default_config.yaml", "-o", "job.toml"}, folder);
  CHECK(written.code == 0);
  CHECK(written.out.empty());
  std::ifstream file(folder.path() + "/job.toml");
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) ==
        "# mine\n[launch]\nnum_processes = 3 # few\ndevices = [\"cpu\"]\n");
  CHECK(run_muster({"config", "check", "job.toml"}, folder).code == 0);
}

TEST_CASE("What cannot be read, or is something else") {
  const TemporaryFolder folder;
  folder.write("x.yaml", "a: 1\n");
  folder.write("hosts", "localhost slots=2\n");
  const auto refuses = [&](const std::vector<std::string>& words, const std::string& part) {
    const auto end = run_muster(words, folder);
    CAPTURE(words, end.err);
    CHECK(end.code == 2);
    CHECK(end.out.empty());
    CHECK(end.err.find(part) != std::string::npos);
  };
  refuses({"config", "import", "none.yaml"}, "none.yaml: no such file");
  refuses({"config", "import", "."}, ".: is no regular file");
  refuses({"config", "import", "x.yaml"}, "--from says which");
  refuses({"config", "import"}, "needs one file");
  refuses({"config", "import", "hosts", "--from", "mpi"}, "accelerate, deepspeed or hostfile");
  refuses({"config", "import", "x.yaml", "--from=hostfile"}, "x.yaml:1: ");
  CHECK(run_muster({"config", "import", "hosts"}, folder).out == "[launch]\nnproc_per_node = 2\n");
}

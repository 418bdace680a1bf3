#include "planning/run_directory.hpp"

#include <muster/error.hpp>

#include "launcher/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <sys/stat.h>

using muster::launcher::RunDirectory;

TEST_CASE("The folder of a job is private and goes with it") {
  const muster::test::TemporaryFolder above;
  std::string path;
  {
    const RunDirectory directory({{"TMPDIR", above.path()}});
    path = directory.path();
    CHECK(path.starts_with(above.path() + "/muster-"));
    struct stat facts {};
    REQUIRE(::stat(path.c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777U) == 0700U);
    above.write(path.substr(above.path().size()) + "/deep/error-0.json", "{}");
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("A place where no folder can be made is named") {
  CHECK_THROWS_AS(RunDirectory(muster::Environment{{"TMPDIR", "/no/such/place"}}), muster::Error);
}

TEST_CASE("The session's own folder comes first, if it is one") {
  const muster::test::TemporaryFolder session, above;
  const auto below = [&](const std::string& runtime) {
    return RunDirectory({{"XDG_RUNTIME_DIR", runtime}, {"TMPDIR", above.path()}}).path();
  };
  CHECK(below(session.path()).starts_with(session.path() + "/muster-"));
  CHECK(below("/no/such/place").starts_with(above.path() + "/muster-"));
  CHECK(below("").starts_with(above.path() + "/muster-"));
  const auto relative = std::filesystem::relative(above.path());
  CHECK(RunDirectory({{"TMPDIR", relative.string()}}).path().starts_with('/'));
}

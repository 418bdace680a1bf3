#include "rendezvous/token.hpp"

#include <muster/error.hpp>

#include "launcher/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/stat.h>

namespace muster::launcher {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;

constexpr auto secret = "0123456789abcdef";

LaunchSettings with_file(const std::string& path) {
  LaunchSettings settings;
  settings.token_file = path;
  return settings;
}

Token read(const LaunchSettings& settings, const Environment& environment = {}) {
  return read_token(settings, {}, environment);
}

}  // namespace

TEST_CASE("a token comes from a file or a variable") {
  const test::TemporaryFolder folder;
  folder.write("token", std::string(secret) + "\n");
  const auto path = folder.path() + "/token";
  ::chmod(path.c_str(), 0600);
  const auto token = read(with_file(path));
  CHECK(token.secret == secret);
  CHECK(token.note.empty());
  CHECK(read({}, {{"MUSTER_TOKEN", secret}}).secret == secret);
  CHECK_FALSE(read({}));
  CHECK_FALSE(read({}, {{"MUSTER_TOKEN", ""}}));
  CHECK_THROWS_MATCHES(
      read(with_file(path), {{"MUSTER_TOKEN", secret}}), ConfigError,
      Message("MUSTER_TOKEN and --token-file decide the same thing: give one of them"));
}

TEST_CASE("a token that others may read is told, one that can be guessed is refused") {
  const test::TemporaryFolder folder;
  folder.write("open", secret);
  const auto open = folder.path() + "/open";
  ::chmod(open.c_str(), 0644);
  CHECK(read(with_file(open)).note ==
        "--token-file " + open + ": others may read it (mode 644); chmod 600 " + open);
  folder.write("short", "secret\n");
  CHECK_THROWS_MATCHES(read(with_file(folder.path() + "/short")), ConfigError,
                       MessageMatches(ContainsSubstring("has 6 characters, and at least 16")));
  folder.write("long", std::string(5000, 'x'));
  CHECK_THROWS_MATCHES(read(with_file(folder.path() + "/long")), ConfigError,
                       MessageMatches(ContainsSubstring("longer than 4096 bytes")));
  CHECK_THROWS_MATCHES(read(with_file(folder.path() + "/none")), ConfigError,
                       MessageMatches(ContainsSubstring("No such file")));
  CHECK_THROWS_MATCHES(read(with_file(folder.path())), ConfigError,
                       MessageMatches(ContainsSubstring("directory")));
}

TEST_CASE("a proof is of one side, one connection and one message") {
  const Token token{secret, "", ""}, other{"fedcba9876543210", "", ""};
  const auto mine = random_nonce(), theirs = random_nonce();
  CHECK_FALSE(equal(mine, theirs));
  const auto proof = proof_of_guest(token, mine, theirs, "join");
  CHECK(equal(proof, proof_of_guest(token, mine, theirs, "join")));
  CHECK_FALSE(equal(proof, proof_of_guest(token, mine, theirs, "Join")));
  CHECK_FALSE(equal(proof, proof_of_guest(token, theirs, mine, "join")));
  CHECK_FALSE(equal(proof, proof_of_guest(token, mine, random_nonce(), "join")));
  CHECK_FALSE(equal(proof, proof_of_guest(other, mine, theirs, "join")));
  CHECK_FALSE(equal(proof_of_host(token, mine, theirs), proof_of_guest(token, mine, theirs, "")));
}

}  // namespace muster::launcher

#include "command.hpp"

#include <catch2/catch_test_macros.hpp>
#include <support/paths.hpp>

#include <array>
#include <cstdio>

namespace muster::test {

CommandEnd run_command(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) {
    text.append(buffer.data(), got);
  }
  return {pclose(pipe), text};
}

std::string output_of(const std::string& command) {
  auto end = run_command(command);
  INFO(command << "\n" << end.text);
  REQUIRE(end.status == 0);
  return std::move(end.text);
}

std::string python_package(const std::string& words) {
  auto end = run_command("'" + std::string(source_dir) + "/tests/support/python_package' " + words);
  end.text.erase(end.text.find_last_not_of('\n') + 1);
  if (end.status != 0) SKIP("no Python package to compare with: " << end.text);
  return std::move(end.text);
}

}  // namespace muster::test

/// Runs a fuzz target without libFuzzer:  fuzz_NAME CORPUS [-runs=N | -seconds=S] [-seed=N]
/// Tries each file of the folder CORPUS, or the one file CORPUS, and then N mutations of them
/// (20000) or those of S seconds. An input that ends the process is left behind as ./crash-NAME.

#include "fuzz/fuzz.hpp"
#include "fuzz/mutate.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace {

std::string current;     // NOLINT: the signal handler reads them.
std::string crash_file;  // NOLINT

/// The input that does this is kept, and then the signal does what it always does.
void keep_input(int signal) {
  const int fd = ::open(crash_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  [[maybe_unused]] auto count = ::write(fd, current.data(), current.size());
  constexpr std::string_view notice = "the input is kept as crash-* in this folder\n";
  count = ::write(STDERR_FILENO, notice.data(), notice.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::vector<std::string> read_corpus(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry);
  } else {
    files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return inputs;
}

struct Limits {
  long runs = 20000;
  long seconds = 0;  ///< 0: runs count.
  unsigned long seed = 1;
};

Limits limits_of(int argc, char** argv) {
  Limits limits;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = std::strtol(word.substr(word.find('=') + 1).c_str(), nullptr, 10);
    if (word.starts_with("-runs=")) limits.runs = value;
    if (word.starts_with("-seconds=")) limits.seconds = value;
    if (word.starts_with("-seed=")) limits.seed = static_cast<unsigned long>(value);
  }
  return limits;
}

int try_one(const std::string& input) {
  constexpr unsigned patience = 100;  // Seconds; no input may take this long on any machine.
  current = input;
  ::alarm(patience);
  return muster::fuzz::try_input(current);
}

}  // namespace

int main(int argc, char** argv) {
  const auto corpus = argc > 1 ? read_corpus(argv[1]) : std::vector<std::string>();
  if (corpus.empty()) {
    std::fprintf(stderr, "usage: %s CORPUS [-runs=N | -seconds=S] [-seed=N]\n", argv[0]);
    return 2;
  }
  crash_file = "crash-" + std::filesystem::path(argv[0]).filename().string();
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM}) {
    std::signal(signal, keep_input);
  }
  const auto limits = limits_of(argc, argv);
  const auto start = std::chrono::steady_clock::now();
  muster::fuzz::Mutator mutator(corpus, limits.seed);
  long runs = 0, refused = 0;
  for (const auto& input : corpus) refused += try_one(input);
  const auto goes_on = [&] {
    if (limits.seconds == 0) return runs < limits.runs;
    return std::chrono::steady_clock::now() - start < std::chrono::seconds(limits.seconds);
  };
  for (; goes_on(); ++runs) refused += try_one(mutator.next());
  const auto tried = runs + std::ssize(corpus);
  std::printf("%ld inputs, %ld of them refused\n", static_cast<long>(tried), refused);
  return refused < tried ? 0 : 1;  // A target that takes nothing tests nothing.
}

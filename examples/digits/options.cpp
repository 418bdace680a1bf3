#include "options.hpp"

#include "images.hpp"

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>

namespace digits {
namespace {

template <class Number>
Number read_positive(std::string_view option, std::string_view text) {
  Number value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !(value > 0)) {
    throw std::invalid_argument(std::string(option) + " " + std::string(text) +
                                ": expected a number above 0");
  }
  return value;
}

void set(Options& options, std::string_view option, std::string_view value) {
  if (option == "--epochs") {
    options.epochs = read_positive<int>(option, value);
  } else if (option == "--batch-size") {
    options.batch_size = read_positive<std::int64_t>(option, value);
  } else if (option == "--learning-rate") {
    options.learning_rate = read_positive<double>(option, value);
  } else if (option == "--data") {
    options.data = value;
  } else if (option == "--out") {
    options.out = value;
  } else if (option == "--steps-log") {
    options.steps_log = value;
  } else {
    throw std::invalid_argument("unknown option '" + std::string(option) + "'");
  }
}

}  // namespace

const char* const usage = R"(usage: digits [options]

Learns to read handwritten digits, alone or on the ranks of `muster launch -n N -- digits`.

  --epochs N         passes over the 1,440 training images (8)
  --batch-size N     images a rank and micro-step (32)
  --learning-rate X  of AdamW (0.005)
  --data FILE        digits.csv (beside this program's folder, in share/muster)
  --out FILE         where the weights go (digits.safetensors)
  --steps-log FILE   writes every loss, exact, one line a micro-step
)";

Options parse_options(int argc, const char* const* argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      options.help = true;
      return options;
    }
    const auto equals = argument.find('=');
    if (equals != std::string_view::npos) {
      set(options, argument.substr(0, equals), argument.substr(equals + 1));
    } else if (i + 1 < argc) {
      set(options, argument, argv[i + 1]);
      ++i;
    } else {
      set(options, argument, "");
    }
  }
  if (options.data.empty()) options.data = default_file();
  return options;
}

}  // namespace digits

#include "arguments/command_line.hpp"

#include <muster/error.hpp>

namespace muster::launcher {
namespace {

constexpr std::string_view module_flag = "--module";

/// One pass over the words of a command, before CLI11 sees any: it would let a mistyped option be
/// the program, and its versions differ in what they make of `--`. Values of settings do not come
/// back from it as they were typed, so it gets none; their table checks them.
class Splitter {
 public:
  Splitter(std::span<const std::string> words, const CommandGrammar& grammar, CommandLine& line)
      : words_(words), grammar_(grammar), line_(line) {}

  void run() {
    if (grammar_.operands) {
      take_operands();
      return;
    }
    while (at_ < words_.size() && is_option(words_[at_]) && !line_.module) {
      if (words_[at_] == "--") {
        ++at_;
        break;
      }
      attempt(&Splitter::take_option);
    }
    attempt(&Splitter::take_program);
  }

 private:
  /// A lone "-" is a program's name to nobody, but it is no option either.
  static bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

  void attempt(void (Splitter::*step)()) {
    try {
      (this->*step)();
    } catch (const ConfigError& error) {
      if (!line_.fault) line_.fault = error;
    }
  }

  [[noreturn]] void refuse_unknown(const std::string& typed) const {
    if (grammar_.settings) throw ConfigError(unknown_flag(typed, grammar_.own));
    throw ConfigError("muster " + std::string(grammar_.name) + " has no option '" + typed +
                      "'; muster " + std::string(grammar_.name) + " --help lists them");
  }

  void take_option() {
    const auto& typed = words_[at_++];
    auto word = look_up(typed, grammar_.own);
    if (!word.known() || (!grammar_.settings && word.command == nullptr)) refuse_unknown(typed);
    if (word.wants_next()) word.value = next_value(word.name);
    const bool takes_none = (word.command != nullptr && word.command->word.empty()) ||
                            (word.foreign != nullptr && !word.foreign->takes_value);
    if (takes_none && word.value) throw ConfigError(word.name + " takes no value");
    keep({word.name, word.value, ""}, word);
  }

  /// The value may start with "-", but a word that is itself an option was not meant as one.
  std::string next_value(const std::string& flag) {
    const bool missing = at_ == words_.size() || words_[at_] == "--" ||
                         (is_option(words_[at_]) && look_up(words_[at_], grammar_.own).known());
    if (missing) {
      const auto found = at_ == words_.size() ? "" : ", found '" + words_[at_] + "'";
      throw ConfigError(flag + " needs a value" + found);
    }
    return words_[at_++];
  }

  void keep(GivenFlag flag, const FlagWord& word) {
    if (word.foreign != nullptr) {
      for (auto& ours : translate(flag, line_.notes)) {
        const auto meaning = look_up(ours.name, grammar_.own);
        keep(std::move(ours), meaning);
      }
    } else if (word.command != nullptr) {
      line_.module = line_.module || word.command->name == module_flag;
      // Behind a second "=" CLI11 keeps a value as it is. Else it would take the next word for an
      // empty one, and "{}" and "[[x]]" for something else.
      const auto value = word.command->word.empty() ? "" : "==" + flag.value.value_or("");
      line_.own.push_back(std::string(word.command->name) + value);
    } else {
      line_.settings.push_back(std::move(flag));
    }
  }

  void take_operands() {
    bool options = true;
    while (at_ < words_.size()) {
      if (options && words_[at_] == "--") {
        options = false;
        ++at_;
      } else if (options && is_option(words_[at_])) {
        attempt(&Splitter::take_option);
      } else {
        line_.operands.push_back(words_[at_++]);
      }
    }
  }

  void take_program() {
    if (line_.module && at_ < words_.size() && words_[at_] == "--") ++at_;
    const bool is_name = at_ < words_.size() && !words_[at_].empty() && !is_option(words_[at_]);
    if (line_.module && !is_name) {
      const auto found = at_ == words_.size() ? "" : ", found '" + words_[at_] + "'";
      throw ConfigError("-m needs the name of a Python module" + found +
                        "; muster's own options come before -m");
    }
    if (!grammar_.program && at_ < words_.size()) {
      throw ConfigError("muster " + std::string(grammar_.name) + ": '" + words_[at_] +
                        "' is not expected here");
    }
    line_.program.assign(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
  }

  std::span<const std::string> words_;
  const CommandGrammar& grammar_;
  CommandLine& line_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::string> CommandLine::value(std::string_view flag) const {
  const auto found = options.find(flag);
  return found == options.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> CommandLine::values(std::string_view flag) const {
  const std::string start = std::string(flag) + "==";
  std::vector<std::string> values;
  for (const auto& word : own) {
    if (word.starts_with(start)) values.push_back(word.substr(start.size()));
  }
  return values;
}

void split_words(std::span<const std::string> words, const CommandGrammar& grammar,
                 CommandLine& line) {
  Splitter(words, grammar, line).run();
}

}  // namespace muster::launcher

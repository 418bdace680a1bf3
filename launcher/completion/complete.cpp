#include "completion/complete.hpp"

#include <muster/flags.hpp>

#include "commands/commands.hpp"
#include "completion/values.hpp"

#include <algorithm>

namespace muster::launcher {
namespace {

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

/// The parts that may follow the beginning of a command's name: "get" of "config get".
void add_commands(Completion& completion, const std::string& name) {
  const auto start = name.empty() ? "" : name + " ";
  for (const auto& command : commands()) {
    if (!command.name.starts_with(start)) continue;
    const auto rest = command.name.substr(start.size());
    if (rest.find(' ') != rest.npos) continue;
    completion.words.push_back({std::string(rest), std::string(command.help)});
  }
}

void add_flags(Completion& completion, const Command& command) {
  for (const auto& flag : command.own) {
    completion.words.push_back({std::string(flag.name), std::string(flag.help)});
  }
  if (!command.settings) return;
  for (const auto& row : settings_table()) {
    completion.words.push_back({row.flag(), std::string(row.help)});
  }
}

/// Reads the words before the cursor as the command line would be read.
class Reader {
 public:
  explicit Reader(std::span<const std::string> words)
      : before_(words.first(words.size() - 1)), cursor_(words.back()) {}

  Completion run() {
    find_name();
    Completion completion;
    const bool all_name = at_ == before_.size();
    if (command_ != nullptr) completion = in_command();
    if (all_name && !cursor_.starts_with('-')) add_commands(completion, name_);
    if (all_name && name_.empty()) {
      completion.words.push_back({"--help", "List the commands."});
      completion.words.push_back({"--version", "Print the version."});
    }
    std::erase_if(completion.words,
                  [&](const Candidate& one) { return !one.word.starts_with(cursor_); });
    return completion;
  }

 private:
  static bool begins_a_command(const std::string& name) {
    return std::any_of(commands().begin(), commands().end(), [&](const Command& command) {
      return command.name == name || command.name.starts_with(name + " ");
    });
  }

  void find_name() {
    while (at_ < before_.size()) {
      const auto longer = name_ + (name_.empty() ? "" : " ") + before_[at_];
      if (!begins_a_command(longer)) break;
      name_ = longer;
      ++at_;
    }
    const auto* command = find_command(name_);
    command_ = command != nullptr && command->name == name_ ? command : nullptr;
  }

  Completion in_command() {
    bool options = true;
    for (auto i = at_; i < before_.size(); ++i) {
      const auto& word = before_[i];
      if (options && word == "--") {
        options = false;
      } else if (options && is_option(word)) {
        const auto flag = look_up(word, command_->own);
        if (!flag.wants_next()) continue;
        if (++i == before_.size()) return value_of(flag, "");
      } else {
        operands_.push_back(word);
        options = options && command_->operands;  // Else the rest is the program's.
      }
    }
    return options && cursor_.starts_with('-') ? option() : operand();
  }

  Completion option() const {
    Completion completion;
    const auto equals = cursor_.find('=');
    if (equals == cursor_.npos) {
      add_flags(completion, *command_);
      return completion;
    }
    return value_of(look_up(cursor_.substr(0, equals), command_->own),
                    cursor_.substr(0, equals + 1));
  }

  Completion value_of(const FlagWord& flag, const std::string& start) const {
    auto completion = values_of(flag, std::string_view(cursor_).substr(start.size()));
    for (auto& candidate : completion.words) candidate.word.insert(0, start);
    return completion;
  }

  Completion operand() const {
    if (command_->operands) return operand_of(command_->name, operands_);
    Completion completion;
    if (command_->name == "help") {
      std::string name;
      for (const auto& word : operands_) name += (name.empty() ? "" : " ") + word;
      add_commands(completion, name);
    } else if (command_->program) {
      completion.files = true;
      completion.programs = operands_.empty();
    }
    return completion;
  }

  std::span<const std::string> before_;
  const std::string& cursor_;
  std::size_t at_ = 0;
  std::string name_;
  const Command* command_ = nullptr;
  std::vector<std::string> operands_;
};

}  // namespace

Completion complete(std::span<const std::string> words) {
  const std::string empty;
  return words.empty() ? Reader({&empty, 1}).run() : Reader(words).run();
}

}  // namespace muster::launcher

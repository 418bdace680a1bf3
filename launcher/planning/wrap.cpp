#include "planning/wrap.hpp"

#include <muster/error.hpp>
#include <muster/setting_names.hpp>

#include "supervise/rank_set.hpp"

#include <cstddef>

namespace muster::launcher {
namespace {

class Splitter {
 public:
  Splitter(std::string_view text, const std::string& option) : text_(text), option_(option) {}

  std::vector<std::string> run() {
    while (at_ < text_.size()) {
      const char letter = text_[at_++];
      if (letter == ' ' || letter == '\t' || letter == '\n') {
        end_word();
      } else if (letter == '\'') {
        plain_until_quote();
      } else if (letter == '"') {
        until_double_quote();
      } else {
        add(letter == '\\' ? behind_backslash() : letter);
      }
    }
    end_word();
    return std::move(words_);
  }

 private:
  void add(char letter) {
    word_ += letter;
    open_ = true;
  }
  void end_word() {
    if (open_) words_.push_back(std::move(word_));
    word_.clear();
    open_ = false;
  }
  char behind_backslash() {
    if (at_ == text_.size()) fail("nothing follows the backslash at its end");
    return text_[at_++];
  }
  void plain_until_quote() {
    const auto end = text_.find('\'', at_);
    if (end == text_.npos) fail("a ' is not closed");
    word_ += text_.substr(at_, end - at_);
    open_ = true;  // Also for '', an empty word.
    at_ = end + 1;
  }
  void until_double_quote() {
    open_ = true;
    while (at_ < text_.size() && text_[at_] != '"') {
      char letter = text_[at_++];
      // Within double quotes a backslash is one, but before these.
      const bool special = at_ < text_.size() &&
                           std::string_view("\"\\$`").find(text_[at_]) != std::string_view::npos;
      if (letter == '\\' && special) letter = text_[at_++];
      word_ += letter;
    }
    if (at_ == text_.size()) fail("a \" is not closed");
    ++at_;
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw ConfigError(option_ + " " + std::string(text_) + ": " + why);
  }

  std::string_view text_;
  const std::string& option_;
  std::size_t at_ = 0;
  std::string word_;
  bool open_ = false;
  std::vector<std::string> words_;
};

}  // namespace

std::vector<std::string> split_command(std::string_view text, const std::string& option) {
  return Splitter(text, option).run();
}

void wrap_ranks(const Resolution& resolution, Plan& plan) {
  const auto& launch = resolution.settings().launch;
  const SettingNames names(resolution);
  const auto command = split_command(launch.wrap, names.of("launch.wrap"));
  if (command.empty()) {
    if (resolution.entry("launch.wrap_ranks").origin.kind != Origin::Kind::built_in) {
      throw ConfigError(names.of("launch.wrap_ranks") + " " + launch.wrap_ranks +
                        ": there is no command to wrap them in; --wrap 'gdb --args' gives one");
    }
    return;
  }
  const auto wrapped = RankSet::parse(launch.wrap_ranks, static_cast<int>(plan.ranks.size()),
                                      names.of("launch.wrap_ranks"));
  std::vector<int> places;
  for (std::size_t i = 0; i < plan.ranks.size(); ++i) {
    if (!wrapped.contains(static_cast<int>(i))) continue;
    places.push_back(static_cast<int>(i));
    auto& argv = plan.ranks[i].argv;
    argv.insert(argv.begin(), command.begin(), command.end());
  }
  if (places.size() == 1) plan.wrapped_alone = places.front();
  plan.input_chosen = resolution.entry("launch.stdin").origin.kind != Origin::Kind::built_in;
}

}  // namespace muster::launcher

#include <muster/error.hpp>
#include <muster/loader_state.hpp>

#include <charconv>

namespace muster {
namespace {

/// Takes "name=number" and what divides it from the next off the front of `text`.
std::int64_t take_number(std::string_view& text, std::string_view name) {
  std::int64_t value = 0;
  const bool named = text.starts_with(name) && text.substr(name.size()).starts_with('=');
  if (named) text.remove_prefix(name.size() + 1);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!named || read.ec != std::errc()) {
    throw ConfigError("data loader: the state has no " + std::string(name) + " before '" +
                      std::string(text) + "': it is not what LoaderState::to_text() wrote");
  }
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return value;
}

}  // namespace

std::string LoaderState::to_text() const {
  return "epoch=" + std::to_string(epoch) + " position=" + std::to_string(position) +
         " seed=" + std::to_string(seed) + " samples=" + std::to_string(samples) +
         " shuffle=" + (shuffle ? "1" : "0");
}

LoaderState LoaderState::from_text(std::string_view text) {
  LoaderState state;
  for (auto [name, value] : {std::pair{"epoch", &state.epoch},
                             {"position", &state.position},
                             {"seed", &state.seed},
                             {"samples", &state.samples}}) {
    *value = take_number(text, name);
  }
  state.shuffle = take_number(text, "shuffle") != 0;
  if (!text.empty()) {
    throw ConfigError("data loader: '" + std::string(text) + "' after the end of a state");
  }
  return state;
}

}  // namespace muster

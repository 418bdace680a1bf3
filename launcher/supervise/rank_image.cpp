#include "rank_image.hpp"

#include <muster/contract.hpp>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace muster::launcher {
namespace {

void point_at(std::vector<std::string>& texts, std::vector<char*>& pointers) {
  for (std::string& text : texts) pointers.push_back(text.data());
}

RankImage::Bits bits_of(const std::vector<int>& numbers) {
  constexpr std::size_t width = sizeof(unsigned long) * CHAR_BIT;
  RankImage::Bits bits;
  for (const int number : numbers) {
    const auto at = static_cast<std::size_t>(number);
    if (at / width >= bits.size()) bits.resize(at / width + 1);
    bits[at / width] |= 1UL << at % width;
  }
  return bits;
}

bool removed(std::string_view name, const ProcessSpec& spec) {
  using std::ranges::find;
  return spec.set.contains(std::string(name)) || find(*spec.unset, name) != spec.unset->end() ||
         find(contract::of_a_rank, name) != contract::of_a_rank.end();
}

}  // namespace

std::string variable_of(const ProcessSpec& spec, const std::string& name) {
  if (const auto* value = spec.set.find(name)) return *value;
  if (std::ranges::find(*spec.unset, name) != spec.unset->end()) return {};
  const char* inherited = std::getenv(name.c_str());
  return inherited ? inherited : "";
}

RankImage::RankImage(const ProcessSpec& spec, std::string path, const RankDescriptors& descriptors)
    : rank_(spec.world.local_rank),
      path_(std::move(path)),
      arguments_(spec.argv),
      descriptors_(descriptors),
      cpus_(bits_of(spec.cpus)),
      memory_node_(
          bits_of(spec.memory_node < 0 ? std::vector<int>() : std::vector<int>{spec.memory_node})),
      bind_asked_(spec.bind_asked) {
  point_at(arguments_, argv_);
  argv_.push_back(nullptr);
  static char shell[] = "sh";
  shell_argv_ = {shell, path_.data()};
  shell_argv_.insert(shell_argv_.end(), argv_.begin() + 1, argv_.end());
  build_environment(spec);
}

void RankImage::build_environment(const ProcessSpec& spec) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!removed(text.substr(0, text.find('=')), spec)) envp_.push_back(*entry);
  }
  const auto add = [this](std::string_view name, std::string_view value) {
    variables_.push_back(std::string(name).append("=").append(value));
  };
  for (const auto& [name, value] : spec.set.whole()) add(name, value);
  if (descriptors_.control >= 0) add(contract::control_fd, std::to_string(control_fd));
  if (descriptors_.memory >= 0) {
    add(contract::control_memory_fd, std::to_string(memory_fd));
    add(contract::control_slot, std::to_string(spec.world.local_rank));
  }
  if (descriptors_.master >= 0) add(contract::master_fd, std::to_string(master_fd));
  point_at(variables_, envp_);
  envp_.push_back(nullptr);
}

}  // namespace muster::launcher

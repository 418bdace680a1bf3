#include "data/disk/tar_samples.hpp"

#include "data/disk/tar_members.hpp"
#include "data/mixed.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <exception>
#include <utility>

namespace muster {
namespace {

/// "a/b.seg.PNG" is key "a/b" and ending "seg.png". The latter is empty for what is no part of a
/// sample: names without a dot, or that begin with one.
std::pair<std::string, std::string> key_and_ending(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t last = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = name.find('.', last);
  if (dot == std::string::npos || dot == last) return {};
  std::string ending = name.substr(dot + 1);
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return {name.substr(0, dot), std::move(ending)};
}

std::string sample_name(const MappedFile& file, const std::string& key) {
  return file.name() + ": sample '" + key + "'";
}

std::string what_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

}  // namespace

std::optional<TarSample> read_tar_sample(const std::shared_ptr<const MappedFile>& file,
                                         std::size_t& offset) {
  std::string key;
  TarSample::Files files;
  while (const auto member = next_member(*file, offset)) {
    auto [member_key, ending] = key_and_ending(member->name);
    if (!ending.empty()) {
      if (!files.empty() && member_key != key) break;
      key = std::move(member_key);
      if (!files.emplace(ending, member->bytes).second) {
        throw DataError(sample_name(*file, key) + " has two files '." + ending + "'");
      }
    }
    offset = member->next;
  }
  if (files.empty()) return {};
  return TarSample(file, std::move(key), std::move(files));
}

TarSample::TarSample(std::shared_ptr<const MappedFile> file, std::string key, Files files)
    : file_(std::move(file)), key_(std::move(key)), files_(std::move(files)) {}

std::vector<std::string> TarSample::endings() const {
  std::vector<std::string> endings;
  for (const auto& entry : files_) endings.push_back(entry.first);
  return endings;
}

std::span<const std::byte> TarSample::bytes(std::string_view ending) const {
  if (const auto found = files_.find(ending); found != files_.end()) return found->second;
  std::string there;
  for (const auto& entry : files_) there += " ." + entry.first;
  throw DataError(name() + " has no file '." + std::string(ending) + "'; there are:" + there);
}

std::string_view TarSample::text(std::string_view ending) const {
  const auto found = bytes(ending);
  return {reinterpret_cast<const char*>(found.data()), found.size()};
}

std::int64_t TarSample::number(std::string_view ending) const {
  constexpr std::string_view blank = " \t\r\n";
  std::string_view digits = text(ending);
  digits.remove_prefix(std::min(digits.find_first_not_of(blank), digits.size()));
  digits = digits.substr(0, digits.find_last_not_of(blank) + 1);
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (fault == std::errc{} && end == digits.data() + digits.size()) return value;
  throw DataError(name() + ": '." + std::string(ending) + "' is no whole number: '" +
                  std::string(digits.substr(0, 40)) + "'");
}

std::string TarSample::name() const { return sample_name(*file_, key_); }

at::Generator TarSample::generator() const {
  std::uint64_t seed = mixed(seed_);
  for (const char c : key_) seed = mixed(seed + static_cast<unsigned char>(c));
  return at::detail::createCPUGenerator(seed);
}

void rethrow_for(const TarSample& sample) {
  const std::string cause = what_of(std::current_exception());
  // What reads a sample's files names it already.
  const bool named = cause.starts_with(sample.name());
  std::throw_with_nested(DataError(named ? cause : sample.name() + ": " + cause));
}

}  // namespace muster

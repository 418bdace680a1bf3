#include "rules.hpp"

#include <muster/error.hpp>
#include <muster/number_ranges.hpp>

#include "text.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <set>
#include <string_view>

namespace muster::rules {
namespace {

bool is_device(std::string_view word) {
  if (is_number(word)) return true;
  const bool uuid = word.starts_with("GPU-") || word.starts_with("MIG-");
  return uuid && word.size() > 4 && word.find_first_of(" \t\n,") == std::string_view::npos;
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '=' || c == ',' || c == '\x7f';
  });
}

/// All addresses, or all hosts: "0.0.0.0", "0", "::", "255.255.255.255".
bool is_of_no_host(const std::string& text) {
  in_addr four{};
  in6_addr six{};
  if (inet_pton(AF_INET6, text.c_str(), &six) == 1) return IN6_IS_ADDR_UNSPECIFIED(&six);
  if (inet_aton(text.c_str(), &four) == 0) return false;
  return four.s_addr == INADDR_ANY || four.s_addr == INADDR_BROADCAST;
}

}  // namespace

bool devices(const Value& value) {
  const auto& words = std::get<std::vector<std::string>>(value);
  if (words.size() == 1 && (words[0] == "auto" || words[0] == "cpu" || words[0] == "cuda")) {
    return true;
  }
  const std::set<std::string_view> different(words.begin(), words.end());
  return !words.empty() && different.size() == words.size() &&
         std::all_of(words.begin(), words.end(), is_device);
}

bool address(const Value& value) {
  std::string host = std::get<std::string>(value);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    in6_addr six{};
    if (inet_pton(AF_INET6, host.c_str(), &six) != 1) return false;
  }
  const auto colons = std::count(host.begin(), host.end(), ':');
  return colons != 1 && host.find_first_of(" \t\n,/[]") == host.npos && !is_of_no_host(host);
}

bool run_id(const Value& value) {
  constexpr std::size_t longest = 128;
  const std::string& id = std::get<std::string>(value);
  return id.size() <= longest &&
         std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c <= '~'; });
}

bool input_rank(const Value& value) {
  const std::string_view word = std::get<std::string>(value);
  return word == "all" || word == "none" || is_number(word);
}

bool ranks(const Value& value) {
  const std::string_view word = std::get<std::string>(value);
  return word == "all" || word == "none" || NumberRanges::parse(word).has_value();
}

bool exit_codes(const Value& value) {
  const std::string_view word = std::get<std::string>(value);
  if (word == "any") return true;
  const auto codes = NumberRanges::parse(word);
  return codes && std::ranges::all_of(codes->ranges(), [](const NumberRanges::Range& range) {
           const bool alone = range.first == range.second;
           return range.first >= 1 && range.second <= 255 &&
                  !(alone && is_of_wrong_usage(range.first));
         });
}

bool trackers(const Value& value) {
  const auto& list = std::get<std::vector<std::string>>(value);
  const std::set<std::string> names(list.begin(), list.end());
  const bool alone = names.contains("all") || names.contains("none");
  return !list.empty() && names.size() == list.size() && (list.size() == 1 || !alone);
}

bool folder(const Value& value) {
  const auto& path = std::get<std::string>(value);
  return path.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos;
}

bool prefix(const Value& value) {
  constexpr std::array<std::string_view, 4> names{"{rank}", "{local_rank}", "{node}", "{host}"};
  std::string_view rest = std::get<std::string>(value);
  if (rest.find_first_of("\r\n") != std::string_view::npos) return false;
  while (!rest.empty()) {
    const auto brace = rest.find_first_of("{}");
    if (brace == std::string_view::npos) return true;
    rest.remove_prefix(brace);
    const auto name = std::find_if(names.begin(), names.end(),
                                   [&](std::string_view known) { return rest.starts_with(known); });
    if (name == names.end()) return false;
    rest.remove_prefix(name->size());
  }
  return true;
}

bool variable_names(const Value& value) {
  if (const auto* map = std::get_if<std::map<std::string, std::string>>(&value)) {
    return std::all_of(map->begin(), map->end(), [](const auto& item) {
      return is_variable_name(item.first) && item.second.find('\0') == std::string::npos;
    });
  }
  const auto& list = std::get<std::vector<std::string>>(value);
  return std::all_of(list.begin(), list.end(), is_variable_name);
}

}  // namespace muster::rules

#include "import/hostfile.hpp"

#include <muster/error.hpp>

#include "screen/printable.hpp"
#include "text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace muster::launcher {
namespace {

constexpr int most_slots = 100000;

std::optional<int> slots_of(std::string_view text) {
  const auto number = to_number<int>(text);
  return number && *number >= 1 && *number <= most_slots ? number : std::nullopt;
}

bool is_host(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == ':';
  });
}

/// "slots = 4" is "slots=4".
std::string without_gaps(std::string_view line) {
  std::string text;
  for (const auto word : split(line, ' ')) {
    const bool joins = word.starts_with('=') || text.ends_with('=');
    text += (text.empty() || joins ? "" : " ") + std::string(word);
  }
  return text;
}

/// "host:4", "[::1]:4", "::1". Throws ConfigError with what is wrong.
HostLine host_of(std::string_view word) {
  std::string_view name = word, slots;
  const auto colon = word.rfind(':');
  if (word.starts_with('[')) {
    const auto end = word.find(']');
    if (end == word.npos) throw ConfigError("a bracket is open");
    name = word.substr(1, end - 1);
    if (end + 1 < word.size() && word[end + 1] != ':') throw ConfigError("expected :N behind ]");
    if (end + 1 < word.size()) slots = word.substr(end + 2);
    if (end + 1 < word.size() && slots.empty()) slots = "nothing";
  } else if (colon != word.npos && word.find(':') == colon) {
    name = word.substr(0, colon);
    slots = colon + 1 < word.size() ? word.substr(colon + 1) : "nothing";
  }
  if (!is_host(name)) throw ConfigError(fmt::format("'{}' is no host", printable(name)));
  HostLine host{std::string(name), 1, 0};
  if (slots.empty()) return host;
  const auto number = slots_of(slots);
  if (!number) throw ConfigError(fmt::format("'{}' is no number of ranks", printable(slots)));
  host.slots = *number;
  return host;
}

HostLine parse_line(std::string_view line) {
  const auto text = without_gaps(line);
  const auto words = split(text, ' ');
  auto host = host_of(words.front());
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    const auto key = words[i].substr(0, equals);
    const bool limit = key == "max_slots" || key == "max-slots";
    if (equals == words[i].npos || !(limit || key == "slots" || key == "cpus" || key == "count")) {
      throw ConfigError(fmt::format("'{}': expected slots=N", printable(words[i])));
    }
    const auto number = slots_of(words[i].substr(equals + 1));
    if (!number) throw ConfigError(fmt::format("'{}' is no number of ranks", printable(words[i])));
    if (!limit) host.slots = *number;
  }
  return host;
}

bool is_here(std::string_view name, std::string_view here) {
  const auto short_name = name.substr(0, name.find('.'));
  return name == "localhost" || name == "::1" || name.starts_with("127.") || name == here ||
         (!here.empty() && short_name == here.substr(0, here.find('.')));
}

}  // namespace

std::vector<HostLine> parse_hostfile(std::string_view text, const std::string& file) {
  std::vector<HostLine> hosts;
  std::string faults;
  std::set<std::string> names;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = std::string(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    std::replace(line.begin(), line.end(), '\t', ' ');
    if (trim(line).empty()) continue;
    try {
      auto host = parse_line(trim(line));
      host.line = number;
      if (!names.insert(host.name).second) throw ConfigError("'" + host.name + "' is here twice");
      hosts.push_back(std::move(host));
    } catch (const ConfigError& error) {
      faults += fmt::format("{}{}:{}: {}", faults.empty() ? "" : "\n", file, number, error.what());
    }
  }
  if (!faults.empty()) throw ConfigError(faults);
  if (hosts.empty()) throw ConfigError(file + ": there is no host in it");
  return hosts;
}

bool is_mlx_hosts(const DocumentNode& root) {
  const auto* list = root.kind == DocumentNode::Kind::map ? root.find("hosts") : &root;
  return list != nullptr && list->kind == DocumentNode::Kind::list && !list->items.empty() &&
         list->items.front().find("ssh") != nullptr;
}

std::vector<HostLine> mlx_hosts(const DocumentNode& root, const std::string& file) {
  const auto* list = root.kind == DocumentNode::Kind::map ? root.find("hosts") : &root;
  std::vector<HostLine> hosts;
  for (const auto& item : list->items) {
    const auto* name = item.find("ssh");
    if (name == nullptr || !is_host(name->text)) {
      throw ConfigError(fmt::format("{}:{}: expected a host as \"ssh\"", file, item.line));
    }
    hosts.push_back({name->text, 1, item.line});
  }
  return hosts;
}

Import import_hosts(const std::vector<HostLine>& hosts, const std::string& file,
                    std::string_view here) {
  Carrier carrier(file);
  for (const auto& host : hosts) {
    const auto what =
        fmt::format("{}, {} {}", host.name, host.slots, host.slots == 1 ? "rank" : "ranks");
    if (is_here(host.name, here)) {
      carrier.give(host.line, what, "launch.nproc_per_node", std::int64_t{host.slots});
    } else {
      carrier.carry(host.line, what, "--hosts", host.name);
    }
  }
  return carrier.finish();
}

}  // namespace muster::launcher

#include <muster/contract.hpp>
#include <muster/resolve.hpp>

#include <algorithm>
#include <stdexcept>

namespace muster {

std::string to_text(const Origin& origin) {
  switch (origin.kind) {
    case Origin::Kind::built_in:
      return "built-in";
    case Origin::Kind::code:
      return "code";
    case Origin::Kind::discovered:
    case Origin::Kind::scheduler:
    case Origin::Kind::variable:
    case Origin::Kind::flag:
      return origin.name;
    case Origin::Kind::user_file:
    case Origin::Kind::project_file:
    case Origin::Kind::config_file:
      return origin.name + ":" + std::to_string(origin.line);
  }
  return "";
}

const Entry& Resolution::entry(std::string_view id) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.setting->id() == id; });
  if (found == entries_.end()) throw std::out_of_range("no setting '" + std::string(id) + "'");
  return *found;
}

Environment Resolution::exported() const {
  Environment variables;
  std::string names;
  for (const Entry& entry : entries_) {
    const std::string name = entry.setting->variable();
    if (name.empty() || entry.origin.kind == Origin::Kind::built_in) continue;
    variables[name] = to_text(entry.value);
    names += (names.empty() ? "" : ",") + name;
  }
  if (!names.empty()) variables[std::string(contract::exported)] = names;
  return variables;
}

std::vector<std::string> Resolution::overruled_by_code() const {
  std::vector<std::string> lines;
  for (const Entry& entry : entries_) {
    if (entry.origin.kind != Origin::Kind::code || entry.hidden.empty()) continue;
    const auto& [value, origin] = entry.hidden.front();
    const bool by_person = origin.kind >= Origin::Kind::user_file;
    if (!by_person || value == entry.value) continue;
    lines.push_back(entry.setting->id() + " = " + to_text(entry.value) + " in code is used, not " +
                    to_text(value) + " (" + to_text(origin) + ")");
  }
  return lines;
}

}  // namespace muster

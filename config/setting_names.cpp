#include <muster/resolve.hpp>
#include <muster/setting_names.hpp>

namespace muster {
namespace {

std::string name_of(const std::string& id, const Origin& origin) {
  switch (origin.kind) {
    case Origin::Kind::flag:
    case Origin::Kind::variable:
      return to_text(origin);
    case Origin::Kind::built_in:
      return "";
    case Origin::Kind::discovered:
    case Origin::Kind::scheduler:
    case Origin::Kind::user_file:
    case Origin::Kind::project_file:
    case Origin::Kind::config_file:
    case Origin::Kind::code:
      break;
  }
  return to_text(origin) + ": " + id;
}

std::string key_of(std::string_view id, std::string_view item) {
  return item.empty() ? std::string(id) : std::string(id).append(".").append(item);
}

}  // namespace

SettingNames::SettingNames(const Resolution& resolution) {
  for (const Entry& entry : resolution.entries()) {
    const std::string id = entry.setting->id();
    if (const auto name = name_of(id, entry.origin); !name.empty()) names_[id] = name;
    for (const auto& [item, origin] : entry.items)
      names_[key_of(id, item)] = name_of(key_of(id, item), origin);
  }
}

std::string SettingNames::of(std::string_view id, std::string_view item) const {
  auto found = names_.find(key_of(id, item));
  if (found == names_.end()) found = names_.find(id);
  if (found != names_.end()) return found->second;
  const Setting* setting = find_setting_by_id(id);
  return setting == nullptr ? std::string(id) : setting->flag();
}

}  // namespace muster

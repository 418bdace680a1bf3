#include "resolver.hpp"

#include <muster/error.hpp>

#include "text.hpp"

#include <algorithm>

namespace muster {
namespace {

bool is_map(const Setting& setting) { return setting.member.kind == ValueKind::map; }

using Map = std::map<std::string, std::string>;

/// What the newer of two values of one source adds to the older.
void join(Given& older, Given newer) {
  if (is_map(*older.setting)) {
    auto& map = std::get<Map>(older.value);
    for (auto& [name, text] : std::get<Map>(newer.value)) map[name] = std::move(text);
    for (auto& [name, origin] : newer.items) older.items[name] = std::move(origin);
  } else if (older.setting->collects) {
    auto& list = std::get<std::vector<std::string>>(older.value);
    for (auto& word : std::get<std::vector<std::string>>(newer.value)) {
      list.push_back(std::move(word));
    }
  } else {
    older = std::move(newer);
  }
}

/// Whether a value speaks for its group: `no_prefix = false` leaves it to the others.
bool decides(const Value& value, const Origin& origin) {
  return origin.kind != Origin::Kind::built_in && value != Value(false);
}

std::string conflict(const Given& one, const Given& other) {
  const std::string both = " decide the same thing: give one of them";
  if (one.origin.kind == Origin::Kind::flag || one.origin.kind == Origin::Kind::variable) {
    return to_text(one.origin) + " and " + to_text(other.origin) + both;
  }
  const std::string ids = one.setting->id() + " and " + other.setting->id() + both;
  if (one.origin.line == 0) return to_text(one.origin) + ": " + ids;
  const bool later = one.origin.line > other.origin.line;
  const Origin& last = later ? one.origin : other.origin;
  const Origin& first = later ? other.origin : one.origin;
  return to_text(last) + ": " + ids + " (the other is on line " + std::to_string(first.line) + ")";
}

}  // namespace

void Resolver::add(Given given) {
  if (is_map(*given.setting)) {
    for (const auto& [name, text] : std::get<Map>(given.value)) {
      given.items.try_emplace(name, given.origin);
    }
  }
  const auto same = std::find_if(given_.begin(), given_.end(), [&](const Given& other) {
    return other.setting == given.setting && other.origin.kind == given.origin.kind;
  });
  if (same == given_.end()) {
    given_.push_back(std::move(given));
  } else {
    join(*same, std::move(given));
  }
}

void Resolver::take(const std::vector<GivenValue>& values, Origin::Kind kind) {
  const bool code = kind == Origin::Kind::code;
  for (const GivenValue& given : values) {
    const Setting* setting = find_setting_by_id(given.id);
    const std::string who = code ? "in code" : given.by;
    if (!setting) {
      faults_.push_back(who + ": no setting '" + given.id + "'");
      continue;
    }
    try {
      check_value(*setting, given.value);
      add({setting, given.value, {kind, code ? "" : given.by, 0}, {}});
    } catch (const ConfigError& error) {
      // What may be secret is not repeated.
      const std::string shown = is_map(*setting) ? "" : " = " + excerpt(to_text(given.value));
      faults_.push_back(who + ": " + given.id + shown + ": expected " + error.what());
    }
  }
}

std::vector<const Given*> Resolver::levels_of(const Setting& setting) const {
  std::vector<const Given*> levels;
  for (const Given& given : given_) {
    if (given.setting == &setting) levels.push_back(&given);
  }
  std::sort(levels.begin(), levels.end(), [](const Given* one, const Given* other) {
    return one->origin.kind > other->origin.kind;
  });
  return levels;
}

void Resolver::merge_maps(Entry& entry, const std::vector<const Given*>& levels) const {
  Map merged;
  for (const Given* level : levels) {
    for (const auto& [name, text] : std::get<Map>(level->value)) {
      const Origin& origin = level->items.at(name);
      if (merged.try_emplace(name, text).second) {
        entry.items.insert_or_assign(name, origin);
      } else {
        entry.hidden.emplace_back(Map{{name, text}}, origin);
      }
    }
  }
  entry.value = std::move(merged);
}

Entry Resolver::make_entry(const Setting& setting) const {
  Entry entry;
  entry.setting = &setting;
  entry.value = setting.default_value();
  const auto levels = levels_of(setting);
  if (levels.empty()) return entry;
  entry.origin = levels.front()->origin;
  if (is_map(setting)) {
    merge_maps(entry, levels);
    return entry;
  }
  entry.value = levels.front()->value;
  for (auto level = levels.begin() + 1; level != levels.end(); ++level) {
    entry.hidden.emplace_back((*level)->value, (*level)->origin);
  }
  return entry;
}

void Resolver::decide_group(std::string_view group) {
  const Entry* strongest = nullptr;
  for (const Entry& entry : result_.entries_) {
    if (entry.setting->group != group || !decides(entry.value, entry.origin)) continue;
    if (!strongest || entry.origin.kind > strongest->origin.kind) strongest = &entry;
  }
  if (!strongest) return;
  for (Entry& entry : result_.entries_) {
    if (entry.setting->group != group || &entry == strongest) continue;
    const bool given = entry.origin.kind != Origin::Kind::built_in;
    if (given && !decides(entry.value, entry.origin)) continue;
    entry.decided_by = strongest->setting;
    if (!given) continue;
    entry.hidden.emplace(entry.hidden.begin(), entry.value, entry.origin);
    entry.value = entry.setting->default_value();
    entry.origin = {};
  }
}

std::vector<std::string> conflicts_of(const std::vector<Given>& all) {
  std::vector<std::string> conflicts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      const Given &one = all[i], &other = all[j];
      const bool same_group = !one.setting->group.empty() &&
                              one.setting->group == other.setting->group &&
                              one.setting != other.setting;
      if (same_group && one.origin.kind == other.origin.kind && decides(one.value, one.origin) &&
          decides(other.value, other.origin)) {
        conflicts.push_back(conflict(one, other));
      }
    }
  }
  return conflicts;
}

Resolution Resolver::decide() {
  for (auto& conflict : conflicts_of(given_)) faults_.push_back(std::move(conflict));
  if (!faults_.empty()) throw ConfigError(join_lines(faults_));
  std::set<std::string_view> groups;
  for (const Setting& setting : settings_table()) {
    result_.entries_.push_back(make_entry(setting));
    if (!setting.group.empty()) groups.insert(setting.group);
  }
  for (const std::string_view group : groups) decide_group(group);
  for (const Entry& entry : result_.entries_) {
    if (entry.origin.kind == Origin::Kind::built_in) continue;
    entry.setting->member.write(result_.settings_, entry.value);
  }
  return std::move(result_);
}

}  // namespace muster

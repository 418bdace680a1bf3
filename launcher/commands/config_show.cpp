#include <muster/error.hpp>
#include <muster/show.hpp>

#include "commands/commands.hpp"
#include "commands/sources.hpp"
#include "screen/screen.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>
#include <variant>

namespace muster::launcher {
namespace {

using Json = nlohmann::ordered_json;

struct ToJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(Auto) const { return "auto"; }
  template <class T>
  Json operator()(const T& value) const {
    return value;
  }
  Json operator()(const std::map<std::string, std::string>& map) const {
    Json json = Json::object();
    for (const auto& [name, value] : map) json[name] = is_secret_name(name) ? "(hidden)" : value;
    return json;
  }
};

Json to_json(const Value& value) { return std::visit(ToJson(), value); }

std::string as_json(const Resolution& resolution) {
  Json all = Json::array();
  for (const auto& entry : resolution.entries()) {
    Json row{{"setting", entry.setting->id()},
             {"value", to_json(entry.value)},
             {"origin", to_text(entry.origin)}};
    for (const auto& [value, origin] : entry.hidden) {
      row["hides"].push_back({{"value", to_json(value)}, {"origin", to_text(origin)}});
    }
    if (entry.decided_by != nullptr) row["decided_by"] = entry.decided_by->id();
    all.push_back(std::move(row));
  }
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

int config_show(const CommandLine& line, const Environment& environment) {
  const auto resolution = resolve(sources_of(line, environment));
  for (const auto& note : line.notes) complain(note, environment);
  for (const auto& note : resolution.notes()) complain(note, environment);
  print_out(line.has("--json") ? as_json(resolution) : show(resolution, line.has("--origin")));
  return 0;
}

}  // namespace muster::launcher

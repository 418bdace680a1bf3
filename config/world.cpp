#include <muster/contract.hpp>
#include <muster/error.hpp>
#include <muster/setting.hpp>
#include <muster/world.hpp>

#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <unistd.h>

namespace muster {
namespace {

/// Reads one environment and remembers all that is wrong with it.
class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  bool has(const std::string& name) const { return environment_.contains(name); }

  std::string text(const std::string& name, const std::string& otherwise) const {
    const auto found = environment_.find(name);
    return found == environment_.end() ? otherwise : found->second;
  }

  int required(const std::string& name, int lowest, int highest) {
    if (!has(name)) fault(name + " is not set, though the process is a rank of a job");
    return optional(name, lowest, highest, lowest);
  }

  int optional(const std::string& name, int lowest, int highest, int otherwise) {
    if (!has(name)) return otherwise;
    const std::string value = text(name, "");
    const auto number = whole_number(value);
    if (number && *number >= lowest && *number <= highest) return static_cast<int>(*number);
    fault(name + " = '" + excerpt(value) + "': expected a whole number from " +
          std::to_string(lowest) + " to " + std::to_string(highest));
    return otherwise;
  }

  void fault(const std::string& text) { faults_.push_back(text); }
  bool good() const noexcept { return faults_.empty(); }
  void finish() const {
    if (!good()) throw ConfigError(join_lines(faults_));
  }

 private:
  const Environment& environment_;
  std::vector<std::string> faults_;
};

constexpr int most = 1'000'000'000;

void less(Reader& reader, const char* name, int value, const char* bound_name, int bound) {
  if (value < bound) return;
  reader.fault(std::string(name) + " = " + std::to_string(value) + " contradicts " + bound_name +
               " = " + std::to_string(bound) + ": expected less");
}

void no_more(Reader& reader, const char* name, int value, const char* bound_name, int bound) {
  if (value <= bound) return;
  reader.fault(std::string(name) + " = " + std::to_string(value) + " contradicts " + bound_name +
               " = " + std::to_string(bound) + ": expected no more");
}

void read_places(Reader& reader, World& world) {
  world.rank = reader.required("RANK", 0, most);
  world.size = reader.required("WORLD_SIZE", 1, most);
  if (world.size == 1) {
    world.local_rank = reader.optional("LOCAL_RANK", 0, most, 0);
    world.local_size = reader.optional("LOCAL_WORLD_SIZE", 1, most, 1);
  } else {
    world.local_rank = reader.required("LOCAL_RANK", 0, most);
    world.local_size = reader.required("LOCAL_WORLD_SIZE", 1, most);
  }
}

/// Some launchers say NODE_RANK, or nothing when all ranks are on one host.
void read_nodes(Reader& reader, World& world) {
  const bool one_host = world.local_size == world.size;
  const char* name =
      reader.has("GROUP_RANK") || !reader.has("NODE_RANK") ? "GROUP_RANK" : "NODE_RANK";
  if (one_host) {
    world.node_rank = reader.optional(name, 0, most, 0);
    world.node_count = reader.optional("GROUP_WORLD_SIZE", 1, most, 1);
  } else {
    world.node_rank = reader.required(name, 0, most);
    world.node_count = reader.required("GROUP_WORLD_SIZE", 1, most);
  }
}

void check_places(Reader& reader, const World& world) {
  less(reader, "RANK", world.rank, "WORLD_SIZE", world.size);
  less(reader, "LOCAL_RANK", world.local_rank, "LOCAL_WORLD_SIZE", world.local_size);
  no_more(reader, "LOCAL_RANK", world.local_rank, "RANK", world.rank);
  no_more(reader, "LOCAL_WORLD_SIZE", world.local_size, "WORLD_SIZE", world.size);
  less(reader, "GROUP_RANK", world.node_rank, "GROUP_WORLD_SIZE", world.node_count);
  no_more(reader, "GROUP_WORLD_SIZE", world.node_count, "WORLD_SIZE", world.size);
  if (!reader.good()) return;
  const bool all_here = world.local_size == world.size;
  if (all_here && world.node_count > 1) {
    reader.fault("LOCAL_WORLD_SIZE = WORLD_SIZE = " + std::to_string(world.size) +
                 " contradicts GROUP_WORLD_SIZE = " + std::to_string(world.node_count) +
                 ": the other hosts have no rank");
  }
  if (!all_here && world.node_count == 1) {
    reader.fault(
        "GROUP_WORLD_SIZE = 1 contradicts LOCAL_WORLD_SIZE = " + std::to_string(world.local_size) +
        " of WORLD_SIZE = " + std::to_string(world.size) + ": one host has all ranks");
  }
}

void read_master(Reader& reader, World& world) {
  const bool alone = world.size == 1;
  if (!alone && reader.text("MASTER_ADDR", "").empty()) {
    reader.fault("MASTER_ADDR is not set: expected the address of rank 0");
  }
  const std::string address = reader.text("MASTER_ADDR", "");
  if (!address.empty()) world.master_addr = address;
  const int port = alone ? reader.optional("MASTER_PORT", 0, 65535, 0)
                         : reader.required("MASTER_PORT", 1, 65535);
  world.master_port = static_cast<std::uint16_t>(port);
}

void read_timeout(Reader& reader, const Environment& environment, World& world) {
  const Setting& setting = *find_setting_by_id("launch.comm_timeout");
  const auto found = environment.find(setting.variable());
  if (found == environment.end()) return;
  try {
    const double seconds = std::get<double>(parse_value(setting, found->second));
    world.timeout = std::chrono::milliseconds(std::llround(seconds * 1000));
  } catch (const ConfigError& error) {
    reader.fault(setting.variable() + " = '" + excerpt(found->second) + "': expected " +
                 error.what());
  }
}

}  // namespace

Environment current_environment() {
  Environment variables;
  for (char** item = environ; item && *item; ++item) {
    const std::string_view text = *item;
    const auto equals = text.find('=', 1);
    if (equals == std::string_view::npos) continue;
    // As getenv does: of a name that is there twice, the first counts.
    variables.try_emplace(std::string(text.substr(0, equals)), text.substr(equals + 1));
  }
  return variables;
}

World World::from_environment(const Environment& environment) {
  World world;
  Reader reader(environment);
  read_timeout(reader, environment, world);
  if (reader.has("RANK") || reader.has("WORLD_SIZE")) {
    read_places(reader, world);
    if (reader.good()) read_nodes(reader, world);
    if (reader.good()) check_places(reader, world);
    read_master(reader, world);
    world.restart_count = reader.optional("TORCHELASTIC_RESTART_COUNT", 0, most, 0);
    world.max_restarts = reader.optional("TORCHELASTIC_MAX_RESTARTS", 0, most, 0);
    world.run_id = reader.text("TORCHELASTIC_RUN_ID", world.run_id);
  }
  reader.finish();
  return world;
}

Environment World::to_environment() const {
  const auto text = [](auto number) { return std::to_string(number); };
  const double seconds = static_cast<double>(timeout.count()) / 1000;
  return {
      {"RANK", text(rank)},
      {"WORLD_SIZE", text(size)},
      {"LOCAL_RANK", text(local_rank)},
      {"LOCAL_WORLD_SIZE", text(local_size)},
      {"GROUP_RANK", text(node_rank)},
      {"GROUP_WORLD_SIZE", text(node_count)},
      {"NODE_RANK", text(node_rank)},
      {"ROLE_RANK", text(rank)},
      {"ROLE_WORLD_SIZE", text(size)},
      {"ROLE_NAME", "default"},
      {"MASTER_ADDR", master_addr},
      {"MASTER_PORT", text(master_port)},
      {"TORCHELASTIC_RUN_ID", run_id},
      {"TORCHELASTIC_RESTART_COUNT", text(restart_count)},
      {"TORCHELASTIC_MAX_RESTARTS", text(max_restarts)},
      {std::string(contract::restart_count), text(restart_count)},
      {"TORCHELASTIC_USE_AGENT_STORE", "False"},
      {"MUSTER_LAUNCH_COMM_TIMEOUT", to_text(Value(seconds))},
  };
}

}  // namespace muster

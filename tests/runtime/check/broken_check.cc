// The check program of `muster test` with one piece broken, the one that BREAK_CHECK names: the
// linker's --wrap puts these functions in the place of the real ones.

#include <muster/communicators.hpp>
#include <muster/loader_core.hpp>
#include <muster/safetensors.hpp>

#include "faulty_communicator.hpp"

#include <memory>
#include <string>
#include <utility>

using muster::test::wanted_fault;

#define MUSTER_WRAPPED(symbol) asm("__wrap_" symbol)
#define MUSTER_REAL(symbol) asm("__real_" symbol)
#define MUSTER_CONNECT \
  "_ZN6muster7connectESt17basic_string_viewIcSt11char_traitsIcEERKNS_8EndpointE"
#define MUSTER_SHARDED \
  "_ZNK6muster10LoaderCore7shardedENS_5ShardESt10shared_ptrINS_9LoopStateEEN3c106DeviceEl"
#define MUSTER_UPDATE "_ZN6muster9LoopState6updateEPKvbll"
#define MUSTER_LOAD "_ZN6muster16load_safetensorsERKNSt10filesystem7__cxx114pathE"
#define MUSTER_THREADS "_ZN2at15get_num_threadsEv"

namespace {

using muster::Connection;
using muster::Endpoint;
using muster::LoaderCore;
using muster::LoopState;
using muster::Safetensors;
using muster::Shard;
using Loop = std::shared_ptr<LoopState>;
using Path = std::filesystem::path;

}  // namespace

Connection real_connect(std::string_view name, const Endpoint& endpoint)
    MUSTER_REAL(MUSTER_CONNECT);
LoaderCore real_sharded(const LoaderCore* core, Shard shard, Loop loop, at::Device device,
                        std::int64_t seed) MUSTER_REAL(MUSTER_SHARDED);
void real_update(LoopState* state, const void* loader, bool last, std::int64_t real,
                 std::int64_t here) MUSTER_REAL(MUSTER_UPDATE);
Safetensors real_load(const Path& path) MUSTER_REAL(MUSTER_LOAD);
int real_threads() MUSTER_REAL(MUSTER_THREADS);

Connection wrapped_connect(std::string_view name, const Endpoint& endpoint)
    MUSTER_WRAPPED(MUSTER_CONNECT);
LoaderCore wrapped_sharded(const LoaderCore* core, Shard shard, Loop loop, at::Device device,
                           std::int64_t seed) MUSTER_WRAPPED(MUSTER_SHARDED);
void wrapped_update(LoopState* state, const void* loader, bool last, std::int64_t real,
                    std::int64_t here) MUSTER_WRAPPED(MUSTER_UPDATE);
Safetensors wrapped_load(const Path& path) MUSTER_WRAPPED(MUSTER_LOAD);
int wrapped_threads() MUSTER_WRAPPED(MUSTER_THREADS);

Connection wrapped_connect(std::string_view name, const Endpoint& endpoint) {
  auto connection = real_connect(name, endpoint);
  if (endpoint.size > 1) {
    connection.communicator = muster::test::faulty(std::move(connection.communicator));
  }
  return connection;
}

/// Two ranks read the same part.
LoaderCore wrapped_sharded(const LoaderCore* core, Shard shard, Loop loop, at::Device device,
                           std::int64_t seed) {
  if (wanted_fault() == "data loading" && shard.index > 0) --shard.index;
  return real_sharded(core, shard, std::move(loop), device, seed);
}

/// Samples that complete the last batch count as real ones.
void wrapped_update(LoopState* state, const void* loader, bool last, std::int64_t real,
                    std::int64_t here) {
  real_update(state, loader, last, wanted_fault() == "metrics" ? -1 : real, here);
}

Safetensors wrapped_load(const Path& path) {
  auto file = real_load(path);
  if (wanted_fault() == "weights") file.tensors.back().tensor.fill_(1);
  return file;
}

int wrapped_threads() { return real_threads() + (wanted_fault() == "hardware" ? 1 : 0); }

#include <muster/error.hpp>
#include <muster/flags.hpp>

#include "text.hpp"

#include <algorithm>
#include <array>

namespace muster {
namespace {

using Notes = std::vector<std::string>;
using Flags = std::vector<GivenFlag>;

constexpr std::string_view only_here = "the devices of other hosts are chosen there";
constexpr std::string_view own_rendezvous =
    "hosts meet at --master-addr and --master-port; one host needs no meeting";
constexpr std::string_view by_hand = "one muster launch --nnodes K on each host starts several";
constexpr std::string_view fixed_log_files =
    "--log-dir writes a file for each rank's stdout and one for its stderr";
constexpr std::string_view our_binding =
    "--bind node or --bind core places ranks; --dry-run shows where";
constexpr std::string_view no_sharding =
    "parameters are not sharded in this version; leave it out to train with ddp";
constexpr std::string_view python_only = "it concerns the compiler of Python programs";
constexpr std::string_view one_model_a_rank =
    "each rank holds the whole model; tensor and pipeline parallelism do not exist";
constexpr std::string_view no_fp8 =
    "fp8 is not trained in: LibTorch has no autocast for it; --mixed-precision bf16 is the nearest";
constexpr std::string_view no_clouds = "muster starts ranks on machines that exist already";
constexpr std::string_view no_hosts =
    "hosts are not reached from here; one muster launch --nnodes K on each host starts several";

/// Flags that take a value have one when they get here.
std::string value_of(const GivenFlag& flag) { return flag.value.value_or(""); }

[[noreturn]] void refuse(const GivenFlag& flag, std::string_view advice) {
  throw ConfigError(flag.name + " " + excerpt(value_of(flag)) + ": " + std::string(advice));
}

/// The flag may say nothing but one of the words; then it is the same as not given.
Flags only(const GivenFlag& flag, const std::vector<std::string_view>& words,
           std::string_view advice) {
  const std::string value = lower(value_of(flag));
  if (std::find(words.begin(), words.end(), value) == words.end()) refuse(flag, advice);
  return {};
}

/// torchrun's 3: both streams of all ranks to files and console. It names no folder of its own.
Flags tee(const GivenFlag& flag, Notes& notes) {
  only(flag, {"0", "3"}, fixed_log_files);
  if (value_of(flag) == "3")
    notes.push_back(flag.name + " 3 is how it is: " + std::string(fixed_log_files));
  return {};
}

/// torchrun's 3: both streams of all ranks to files alone.
Flags redirects(const GivenFlag& flag, Notes&) {
  only(flag, {"0", "3"}, fixed_log_files);
  if (value_of(flag) == "0") return {};
  return {{"--console-ranks", "none", flag.name}};
}

Flags only_stage_0(const GivenFlag& flag, Notes&) { return only(flag, {"0"}, no_sharding); }
Flags only_no_compiler(const GivenFlag& flag, Notes&) { return only(flag, {"no"}, python_only); }
Flags only_default_role(const GivenFlag& flag, Notes&) {
  return only(flag, {"default"}, "there is one role, and ROLE_NAME is default");
}

Flags endpoint(const GivenFlag& flag, Notes&) {
  const std::string value = value_of(flag);
  std::string_view host = value;
  const auto colon = host.rfind(':');
  std::string_view port;
  if (colon != std::string_view::npos && (host.find(':') == colon || host.front() == '[')) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  Flags flags;
  if (!host.empty()) flags.push_back({"--master-addr", std::string(host), flag.name});
  if (!port.empty()) flags.push_back({"--master-port", std::string(port), flag.name});
  return flags;
}

/// torchrun's "join_timeout=600,close_timeout=30".
Flags rendezvous_conf(const GivenFlag& flag, Notes& notes) {
  Flags flags;
  const std::string value = value_of(flag);
  for (const auto entry : split(value, ',')) {
    const auto equals = entry.find('=');
    const auto key = entry.substr(0, equals);
    if (equals != std::string_view::npos && (key == "timeout" || key == "join_timeout")) {
      flags.push_back({"--rdzv-timeout", std::string(entry.substr(equals + 1)), flag.name});
    } else {
      notes.push_back(flag.name + " " + excerpt(std::string(entry)) +
                      " has no effect: " + std::string(own_rendezvous));
    }
  }
  return flags;
}

Flags gpu_ids(const GivenFlag& flag, Notes&) {
  return {{"--devices", value_of(flag) == "all" ? "cuda" : value_of(flag), flag.name}};
}

/// DeepSpeed's "host:0,2"; here the host can only be this one.
Flags include(const GivenFlag& flag, Notes&) {
  constexpr std::string_view here = "localhost:";
  const std::string value = value_of(flag);
  if (!value.starts_with(here)) refuse(flag, "expected localhost:0,2; " + std::string(only_here));
  return {{"--devices", value.substr(here.size()), flag.name}};
}

/// torchrun's, mpirun's and srun's words for the places of ranks.
Flags binding(const GivenFlag& flag, Notes&) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"none", "none"},         {"no", "none"},        {"node", "node"},    {"numa", "node"},
      {"socket", "node"},       {"sockets", "node"},   {"package", "node"}, {"ldoms", "node"},
      {"core-complex", "node"}, {"exclusive", "core"}, {"core", "core"},    {"cores", "core"}};
  const std::string value = lower(value_of(flag));
  for (const auto& [theirs, ours] : words) {
    if (value == theirs) return {{"--bind", std::string(ours), flag.name}};
  }
  refuse(flag, our_binding);
}

/// mpirun's -x NAME hands on a variable that ranks have here anyway.
Flags pass_variable(const GivenFlag& flag, Notes&) {
  if (value_of(flag).find('=') == std::string::npos) return {};
  return {{"--env", flag.value, flag.name}};
}

constexpr auto spelling = ForeignKind::spelling;
constexpr auto constant = ForeignKind::constant;
constexpr auto translation = ForeignKind::translation;
constexpr auto ignored = ForeignKind::ignored;
constexpr auto refused = ForeignKind::refused;

constexpr ForeignFlag foreign_rows[] = {
    // How many, and on what.
    {"-np", spelling, true, "--num-processes", ""},
    {"--np", spelling, true, "--num-processes", ""},
    {"-N", spelling, true, "--nproc-per-node", ""},
    {"-ppn", spelling, true, "--nproc-per-node", ""},
    {"-npernode", spelling, true, "--nproc-per-node", ""},
    {"--npernode", spelling, true, "--nproc-per-node", ""},
    {"--ntasks-per-node", spelling, true, "--nproc-per-node", ""},
    {"--num-gpus", spelling, true, "--nproc-per-node", ""},
    {"--gpu-ids", translation, true, "--devices", "", gpu_ids},
    {"--include", translation, true, "--devices", "", include},
    {"--exclude", refused, true, "", "name the devices to use instead: --devices 0,2"},
    {"--cpu", constant, false, "--devices=cpu", ""},
    {"--multi-gpu", ignored, false, "", "several ranks use several devices of themselves"},
    {"--tpu", refused, false, "", "there is no backend for TPUs; --devices cpu or cuda"},
    {"--virtual-local-rank", refused, false, "",
     "LOCAL_RANK stays the rank on this host; --pin-devices shows each rank one device"},
    {"--num-cpu-threads-per-process", spelling, true, "--threads", ""},
    // Hosts and how they meet.
    {"--main-process-ip", spelling, true, "--master-addr", ""},
    {"--main-process-port", spelling, true, "--master-port", ""},
    {"--local-addr", spelling, true, "--master-addr", ""},
    {"--rdzv-endpoint", translation, true, "--master-addr, --master-port", "", endpoint},
    {"--standalone", ignored, false, "", own_rendezvous},
    {"--rdzv-backend", ignored, true, "", own_rendezvous},
    {"--rdzv-id", spelling, true, "--run-id", ""},
    {"--rdzv-conf", translation, true, "--rdzv-timeout", "", rendezvous_conf},
    {"--same-network", ignored, false, "", own_rendezvous},
    {"--num-machines", spelling, true, "--nnodes", ""},
    {"--num-nodes", spelling, true, "--nnodes", ""},
    {"--machine-rank", spelling, true, "--node-rank", ""},
    {"--hosts", refused, true, "", no_hosts},
    {"--host", refused, true, "", no_hosts},
    {"-H", refused, true, "", no_hosts},
    {"--hostfile", refused, true, "", no_hosts},
    {"-hostfile", refused, true, "", no_hosts},
    {"--machinefile", refused, true, "", no_hosts},
    {"-machinefile", refused, true, "", no_hosts},
    {"--mpirun-hostfile", refused, true, "", no_hosts},
    {"--launcher", refused, true, "", no_hosts},
    {"--launcher-args", refused, true, "", no_hosts},
    {"--ssh-port", refused, true, "", no_hosts},
    {"--no-ssh", ignored, false, "", by_hand},
    {"--no-ssh-check", ignored, false, "", by_hand},
    {"--force-multi", refused, false, "", no_hosts},
    {"--enable-elastic-training", refused, false, "", "the number of ranks is fixed"},
    {"--min-elastic-nodes", refused, true, "", "the number of ranks is fixed"},
    {"--max-elastic-nodes", refused, true, "", "the number of ranks is fixed"},
    {"--elastic-training", refused, false, "", "the number of ranks is fixed"},
    // Watching them.
    {"--shutdown-timeout", spelling, true, "--grace", ""},
    {"--monitor-interval", ignored, true, "", "the end of a rank is seen at once"},
    {"--signals-to-handle", ignored, true, "", "all signals that end a job are forwarded"},
    {"--save-pid", refused, false, "", "use the shell's $!"},
    {"--event-log-handler", refused, true, "", "there are no event logs"},
    {"--role", translation, true, "", "default", only_default_role},
    // Output.
    {"--local-ranks-filter", spelling, true, "--console-ranks", ""},
    {"--tag-output", ignored, false, "", "lines of several ranks have a prefix; see --prefix"},
    {"--tee", translation, true, "", "0 or 3", tee},
    {"-t", translation, true, "", "0 or 3", tee},
    {"--redirects", translation, true, "--console-ranks", "", redirects},
    {"-r", translation, true, "--console-ranks", "", redirects},
    {"--enable-each-rank-log", spelling, true, "--log-dir", ""},
    {"--logs-specs", refused, true, "", fixed_log_files},
    {"--output-filename", spelling, true, "--log-dir", ""},
    {"--duplicate-stdout-filters", refused, true, "", fixed_log_files},
    {"--duplicate-stderr-filters", refused, true, "", fixed_log_files},
    {"--output", refused, true, "", "see --prefix and --console-ranks"},
    {"--timestamp-output", refused, false, "", "lines have no time; see --prefix"},
    {"--report-bindings", refused, false, "", "--dry-run shows where ranks go"},
    {"--display", refused, true, "", "--dry-run shows where ranks go"},
    {"--display-map", refused, false, "", "--dry-run shows where ranks go"},
    // The program and its surroundings.
    {"-x", translation, true, "--env", "", pass_variable},
    {"--config-file", spelling, true, "--config", ""},
    {"--module", constant, false, "-m", ""},
    {"--no-python", ignored, false, "", "any program can be started; only *.py runs under Python"},
    {"--no-local-rank", ignored, false, "", "programs get no --local_rank, only LOCAL_RANK"},
    {"--run-path", refused, false, "", "give the program's path, or -m MODULE"},
    {"--start-method", ignored, true, "", "ranks are programs of their own"},
    {"--venv-script", refused, true, "", "activate the environment first, or set PYTHON_EXEC"},
    {"--wdir", refused, true, "", "change to the folder first: cd DIR"},
    {"-wdir", refused, true, "", "change to the folder first: cd DIR"},
    {"--allow-run-as-root", ignored, false, "", "root may start jobs"},
    {"--numa-binding", translation, true, "--bind", "", binding},
    {"--numa-bind", constant, false, "--bind=node", ""},
    {"--enable-cpu-affinity", constant, false, "--bind=node", ""},
    {"--bind-cores-to-rank", constant, false, "--bind=core", ""},
    {"--bind-core-list", refused, true, "",
     "start muster under taskset -c LIST: --bind core divides what is allowed"},
    {"--bind-to", translation, true, "--bind", "", binding},
    {"-bind-to", translation, true, "--bind", "", binding},
    {"--cpu-bind", translation, true, "--bind", "", binding},
    {"--map-by", refused, true, "", our_binding},
    {"--rank-by", refused, true, "", our_binding},
    {"--mca", refused, true, "", "muster is not MPI"},
    {"-mca", refused, true, "", "muster is not MPI"},
    // How to train.
    {"--zero-stage", translation, true, "", "0", only_stage_0},
    {"--dynamo-backend", translation, true, "", "no", only_no_compiler},
    {"--gradient-clipping", refused, true, "", "clip in the program: clip_grad_norm(model, 1.0)"},
    {"--use-deepspeed", refused, false, "", no_sharding},
    {"--deepspeed", refused, false, "", no_sharding},
    {"--deepspeed-config", refused, true, "", no_sharding},
    {"--use-fsdp", refused, false, "", no_sharding},
    {"--use-megatron-lm", refused, false, "", one_model_a_rank},
    {"--use-parallelism-config", refused, false, "", one_model_a_rank},
    {"--autotuning", refused, true, "", "settings are not searched for"},
    {"--main-training-function", refused, true, "", "the whole program is started"},
    {"--downcast-bf16", refused, false, "", "it is for TPUs; --mixed-precision bf16"},
    // Families: after all exact names.
    {"--deepspeed-*", refused, true, "", no_sharding},
    {"--offload-*", refused, true, "", no_sharding},
    {"--zero3-*", refused, true, "", no_sharding},
    {"--fsdp-*", refused, true, "", no_sharding},
    {"--megatron-lm-*", refused, true, "", one_model_a_rank},
    {"--parallelism-config-*", refused, true, "", one_model_a_rank},
    {"--fp8-*", refused, true, "", no_fp8},
    {"--dynamo-*", refused, true, "", python_only},
    {"--tpu-*", refused, true, "", no_clouds},
    {"--aws-*", refused, true, "", no_clouds},
};

constexpr bool well_formed() {
  for (const ForeignFlag& row : foreign_rows) {
    if ((row.kind == translation) != (row.translate != nullptr)) return false;
    const bool explains = row.kind == ignored || row.kind == refused;
    if (explains && row.text.empty()) return false;
    const bool hands_on = row.kind == spelling || row.kind == constant;
    if (hands_on && row.target.empty()) return false;
  }
  return true;
}
static_assert(well_formed(), "a row lacks its target, its text or its function");

}  // namespace

std::span<const ForeignFlag> foreign_flags() noexcept { return foreign_rows; }

}  // namespace muster

#include <muster/setting.hpp>

#include "member.hpp"
#include "rules.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>

namespace muster {
namespace {

template <auto member>
consteval SettingMember launch() {
  return bind<&Settings::launch, member>();
}
template <auto member>
consteval SettingMember train() {
  return bind<&Settings::train, member>();
}
template <auto member>
consteval SettingMember log() {
  return bind<&Settings::log, member>();
}

using L = LaunchSettings;
using T = TrainSettings;

/// More than any host can start: a slip, told before memory is spent on it.
constexpr double most_ranks = 100000;
constexpr double most_nodes = 10000;

constexpr Setting rows[] = {
    {.section = "launch",
     .key = "num_processes",
     .member = launch<&L::num_processes>(),
     .help = "Ranks in all; auto is one a device, and 1 on CPU.",
     .question = "Ranks?",
     .word = "N",
     .minimum = 1,
     .maximum = most_ranks,
     .group = "ranks",
     .short_flag = 'n'},
    {.section = "launch",
     .key = "nproc_per_node",
     .member = launch<&L::nproc_per_node>(),
     .help = "Ranks on this host; decides the same as num_processes.",
     .word = "N",
     .minimum = 1,
     .maximum = most_ranks,
     .group = "ranks"},
    {.section = "launch",
     .key = "devices",
     .member = launch<&L::devices>(),
     .help = "Devices of the ranks in their order: auto, cpu, cuda, or indices and UUIDs.",
     .question = "Devices?",
     .word = "LIST",
     .integers = true,
     .check = rules::devices,
     .expects = "auto, cpu, cuda, or different devices such as 0,2 or GPU-8932f937"},
    {.section = "launch",
     .key = "pin_devices",
     .member = launch<&L::pin_devices>(),
     .help = "Each rank sees its own device only."},
    {.section = "launch",
     .key = "oversubscribe",
     .member = launch<&L::oversubscribe>(),
     .help = "Allow more ranks than devices.",
     .question = "Share devices?"},
    {.section = "launch",
     .key = "master_addr",
     .member = launch<&L::master_addr>(),
     .help = "Address on which rank 0 listens; without one, loopback.",
     .word = "A",
     .check = rules::address,
     .expects = "the address of one host, without a port"},
    {.section = "launch",
     .key = "master_port",
     .member = launch<&L::master_port>(),
     .help = "Port on which rank 0 listens; 0 is a free one on one host, and 29500 on several.",
     .word = "P",
     .minimum = 0,
     .maximum = 65535},
    {.section = "launch",
     .key = "nnodes",
     .member = launch<&L::nnodes>(),
     .help = "Hosts of the job, on each of which muster launch is started.",
     .word = "K",
     .minimum = 1,
     .maximum = most_nodes},
    {.section = "launch",
     .key = "node_rank",
     .member = launch<&L::node_rank>(),
     .help = "Which host this is; auto is 0 where master_addr is, and for others who comes first.",
     .word = "I",
     .minimum = 0,
     .maximum = most_nodes - 1},
    {.section = "launch",
     .key = "bind_addr",
     .member = launch<&L::bind_addr>(),
     .help = "Address on which node 0 listens, if others reach it by another one (master_addr).",
     .word = "A",
     .check = rules::address,
     .expects = "the address of one host, without a port"},
    {.section = "launch",
     .key = "rdzv_timeout",
     .member = launch<&L::rdzv_timeout>(),
     .help = "Longest wait until all hosts have joined.",
     .unit = "s",
     .word = "S",
     .minimum = 0.001,
     .maximum = 1e8},
    {.section = "launch",
     .key = "run_id",
     .member = launch<&L::run_id>(),
     .help = "Name of the job, the same on all hosts; without one, a random number.",
     .word = "ID",
     .integers = true,
     .check = rules::run_id,
     .expects = "at most 128 letters, digits and marks, without spaces"},
    {.section = "launch",
     .key = "token_file",
     .member = launch<&L::token_file>(),
     .help = "File with the secret that lets a host join; without one, MUSTER_TOKEN, or all may.",
     .word = "FILE"},
    {.section = "launch",
     .key = "comm_timeout",
     .member = launch<&L::comm_timeout>(),
     .help = "Longest wait for one communication between ranks.",
     .unit = "s",
     .word = "S",
     .minimum = 0.001,
     .maximum = 1e8},
    {.section = "launch",
     .key = "grace",
     .member = launch<&L::grace>(),
     .help = "From the first signal that ends a rank to SIGKILL.",
     .unit = "s",
     .word = "S",
     .minimum = 0,
     .maximum = 1e8},
    {.section = "launch",
     .key = "timeout",
     .member = launch<&L::timeout>(),
     .help = "Longest time for the whole job.",
     .unit = "s",
     .word = "S",
     .minimum = 0.001,
     .maximum = 1e8},
    {.section = "launch",
     .key = "hang_timeout",
     .member = launch<&L::hang_timeout>(),
     .help = "Longest time without a step or other sign of life of a rank, unless it is busy.",
     .unit = "s",
     .word = "S",
     .minimum = 0.001,
     .maximum = 1e8},
    {.section = "launch",
     .key = "max_restarts",
     .member = launch<&L::max_restarts>(),
     .help = "How often all ranks of a job on one host are started again after one failed.",
     .question = "Restarts?",
     .word = "N",
     .minimum = 0,
     .maximum = 1e6},
    {.section = "launch",
     .key = "restart_on",
     .member = launch<&L::restart_on>(),
     .help = "Exit codes of the rank that failed first after which ranks are started again.",
     .word = "CODES",
     .integers = true,
     .check = rules::exit_codes,
     .expects = "any, or codes such as 1,134-139; never restarted are 2, 126 and 127"},
    {.section = "launch",
     .key = "stdin",
     .member = launch<&L::standard_input>(),
     .help = "Which rank gets the launcher's input: a rank, all or none.",
     .word = "RANK",
     .integers = true,
     .check = rules::input_rank,
     .expects = "a rank, all or none"},
    {.section = "launch",
     .key = "prefix",
     .member = launch<&L::prefix>(),
     .help = "Before each line of several ranks; {rank} {local_rank} {node} {host} are filled in.",
     .word = "T",
     .group = "prefix",
     .check = rules::prefix,
     .expects = "one line, with no braces but {rank} {local_rank} {node} {host}"},
    {.section = "launch",
     .key = "no_prefix",
     .member = launch<&L::no_prefix>(),
     .help = "Nothing before the lines of ranks.",
     .group = "prefix"},
    {.section = "launch",
     .key = "console_ranks",
     .member = launch<&L::console_ranks>(),
     .help = "Ranks whose output is shown: 0,3-5, all or none.",
     .word = "RANKS",
     .integers = true,
     .check = rules::ranks,
     .expects = "ranks such as 0,3-5, or all or none"},
    {.section = "launch",
     .key = "log_dir",
     .member = launch<&L::log_dir>(),
     .help = "Folder for the output of ranks: a file for stdout and one for stderr of each.",
     .question = "Log folder?",
     .word = "DIR",
     .check = rules::folder,
     .expects = "the path of a folder, on one line"},
    {.section = "launch",
     .key = "threads",
     .member = launch<&L::threads>(),
     .help = "OMP_NUM_THREADS of a rank; auto divides the usable cores.",
     .word = "N",
     .minimum = 1},
    {.section = "launch",
     .key = "bind",
     .member = launch<&L::bind>(),
     .help = "CPUs of a rank: its NUMA node's, or cores of its own; auto is node on several nodes.",
     .choices = "auto none node core"},
    {.section = "launch",
     .key = "env",
     .member = launch<&L::env>(),
     .help = "A variable for all ranks; may be given several times.",
     .word = "K=V",
     .check = rules::variable_names,
     .expects = "NAME=VALUE, without spaces and commas in NAME"},
    {.section = "launch",
     .key = "unset_env",
     .member = launch<&L::unset_env>(),
     .help = "A variable that ranks shall not have; may be given several times.",
     .word = "K",
     .collects = true,
     .check = rules::variable_names,
     .expects = "names of variables, with commas between"},
    {.section = "launch",
     .key = "wrap",
     .member = launch<&L::wrap>(),
     .help = "A command, in words as a shell splits them, that runs the program: 'gdb --args'.",
     .word = "CMD"},
    {.section = "launch",
     .key = "wrap_ranks",
     .member = launch<&L::wrap_ranks>(),
     .help = "Ranks that wrap is for; one alone gets the terminal and the launcher's input.",
     .word = "RANKS",
     .integers = true,
     .check = rules::ranks,
     .expects = "ranks such as 0,3-5, or all or none"},
    {.section = "launch",
     .key = "stop_on_exec",
     .member = launch<&L::stop_on_exec>(),
     .help = "Ranks stop at the start of their program, for a debugger; SIGCONT lets them go on."},
    {.section = "train",
     .key = "strategy",
     .member = train<&T::strategy>(),
     .help = "How ranks share the work; auto is ddp.",
     .choices = "auto ddp"},
    {.section = "train",
     .key = "communicator",
     .member = train<&T::communicator>(),
     .help = "How ranks exchange tensors; auto is self for one rank, shm for a host's, else gloo.",
     .choices = "auto self shm gloo"},
    {.section = "train",
     .key = "mixed_precision",
     .member = train<&T::mixed_precision>(),
     .help = "What models compute in over fp32 weights: no is fp32, and fp16 scales the loss too.",
     .question = "Precision?",
     .choices = "no bf16 fp16",
     .expects = "no, bf16 or fp16; for fp8 LibTorch has no autocast, and no layers in C++"},
    {.section = "train",
     .key = "gradient_accumulation_steps",
     .member = train<&T::gradient_accumulation_steps>(),
     .help = "Micro-steps (backward passes) to one step of the optimizer.",
     .question = "Micro-steps a step?",
     .word = "N",
     .minimum = 1},
    {.section = "train",
     .key = "seed",
     .member = train<&T::seed>(),
     .help = "Seed of shuffling, which is a function of seed and epoch.",
     .word = "N",
     .minimum = 0},
    {.section = "train",
     .key = "sync_batch_norm",
     .member = train<&T::sync_batch_norm>(),
     .help = "Batch norm takes its statistics over the batches of all ranks."},
    {.section = "train",
     .key = "bucket_mb",
     .member = train<&T::bucket_mb>(),
     .help = "Size of the gradient buckets that are reduced together; the first is at most 1 MiB.",
     .unit = "MiB",
     .word = "MIB",
     .minimum = 0.001,
     .maximum = 1e6},
    {.section = "train",
     .key = "debug",
     .member = train<&T::debug>(),
     .help = "Ranks also compare the labels of collectives, besides operation, dtype and shape."},
    {.section = "train",
     .key = "log_with",
     .member = train<&T::log_with>(),
     .help = "Trackers that the program's init_trackers starts: where what it logs is written.",
     .word = "LIST",
     .choices = "all none jsonl csv tensorboard html",
     .check = rules::trackers,
     .expects = "jsonl, csv, tensorboard and html with commas between, or all or none"},
    {.section = "train",
     .key = "project_dir",
     .member = train<&T::project_dir>(),
     .help = "Folder in which trackers make one for each project.",
     .word = "DIR",
     .check = rules::folder,
     .expects = "the path of a folder, on one line"},
    {.section = "log",
     .key = "level",
     .member = log<&LogSettings::level>(),
     .help = "The least important messages shown, of ranks and of the launcher.",
     .choices = "debug info warning error off"},
};

constexpr bool well_formed() {
  for (const Setting& row : rows) {
    if (row.help.empty() || row.help.back() != '.') return false;
    if (row.takes_value() == (row.word.empty() && row.choices.empty())) return false;
    for (const Setting& other : rows) {
      if (&row == &other) continue;
      if (row.section == other.section && row.key == other.key) return false;
      if (row.short_flag != 0 && row.short_flag == other.short_flag) return false;
    }
  }
  return true;
}
static_assert(well_formed(), "a row lacks its help, word or rule, or is there twice");

template <class Predicate>
const Setting* find(Predicate matches) {
  const auto* row = std::find_if(std::begin(rows), std::end(rows), matches);
  return row == std::end(rows) ? nullptr : row;
}

}  // namespace

std::span<const Setting> settings_table() noexcept { return rows; }

const Setting* find_setting_by_flag(std::string_view flag) {
  if (flag.size() == 2 && flag[0] == '-' && flag[1] != '-') {
    return find([&](const Setting& row) { return row.short_flag == flag[1]; });
  }
  const std::string name = replaced(flag, '_', '-');
  return find([&](const Setting& row) { return row.flag() == name; });
}

const Setting* find_setting_by_id(std::string_view id) {
  return find([&](const Setting& row) { return row.id() == id; });
}

const Setting* find_setting_by_variable(std::string_view name) {
  if (name.empty()) return nullptr;  // What rows without a variable have.
  return find([&](const Setting& row) { return row.variable() == name; });
}

}  // namespace muster

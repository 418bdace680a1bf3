#include <muster/flags.hpp>
#include <muster/show.hpp>

#include "config/support.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <set>

namespace muster {
using Catch::Matchers::ContainsSubstring;
using test::fault_of;
using test::Surroundings;

namespace {

constexpr CommandFlag own[] = {{"--dry-run", 0, "", "Print the plan."},
                               {"--config", 0, "F", "Settings file."},
                               {"--module", 'm', "", "A Python module."},
                               {"--save-pid", 0, "F", "Files."}};

/// As the launcher does it: translated, then resolved.
Settings settings_of(const std::vector<GivenFlag>& flags) {
  Surroundings given;
  std::vector<std::string> notes;
  for (const GivenFlag& flag : flags) {
    for (GivenFlag& ours : translate(flag, notes)) given.sources.flags.push_back(std::move(ours));
  }
  return given.resolve().settings();
}

std::string fault_of_flags(const std::vector<GivenFlag>& flags) {
  return fault_of([&] { settings_of(flags); });
}

std::vector<std::string> notes_of(const std::vector<GivenFlag>& flags) {
  std::vector<std::string> notes;
  for (const GivenFlag& flag : flags) translate(flag, notes);
  return notes;
}

}  // namespace

TEST_CASE("a flag word is split and looked up") {
  const FlagWord devices = look_up("--devices=0,2", own);
  CHECK(devices.name == "--devices");
  CHECK(devices.value == "0,2");
  CHECK(devices.setting == find_setting_by_id("launch.devices"));
  CHECK_FALSE(devices.wants_next());

  CHECK(look_up("--devices", own).wants_next());
  CHECK_FALSE(look_up("--pin-devices", own).wants_next());
  CHECK(look_up("--pin_devices=no", own).value == "no");
  CHECK(look_up("--prefix=", own).value == "");
  CHECK(look_up("--env=A=B=C", own).value == "A=B=C");

  CHECK(look_up("-n", own).wants_next());
  CHECK(look_up("-n4", own).value == "4");
  CHECK(look_up("-n4", own).name == "-n");
  CHECK(look_up("-n=4", own).value == "4");
  CHECK_FALSE(look_up("-nope", own).known());
  CHECK(look_up("-m", own).command == &own[2]);
  CHECK_FALSE(look_up("-m4", own).known());
  CHECK(look_up("-np", own).foreign != nullptr);
  CHECK(look_up("-x", own).wants_next());

  CHECK(look_up("--dry_run", own).command == &own[0]);
  CHECK_FALSE(look_up("--dry-run", own).wants_next());
  CHECK(look_up("--config", own).wants_next());
  CHECK_FALSE(look_up("--dry-run").known());
}

TEST_CASE("a command's own flag comes before another launcher's") {
  CHECK(look_up("--save-pid", own).command == &own[3]);
  CHECK(look_up("--save-pid").foreign != nullptr);
  CHECK(look_up("--save_pid", own).command == &own[3]);
}

TEST_CASE("no flag looks like another one") {
  std::set<std::string> names;
  for (const ForeignFlag& flag : foreign_flags()) {
    INFO(flag.name);
    CHECK(names.insert(std::string(flag.name)).second);
    CHECK(find_setting_by_flag(flag.name) == nullptr);
    if (!flag.name.ends_with('*')) CHECK(look_up(flag.name).foreign == &flag);
  }
}

TEST_CASE("what another launcher's flag becomes is a flag of ours") {
  for (const ForeignFlag& flag : foreign_flags()) {
    if (flag.kind != ForeignKind::spelling && flag.kind != ForeignKind::constant) continue;
    INFO(flag.name);
    std::vector<std::string> notes;
    const std::optional<std::string> value =
        flag.takes_value ? std::optional<std::string>("1") : std::nullopt;
    const auto ours = translate({std::string(flag.name), value, ""}, notes);
    REQUIRE(ours.size() == 1);
    CHECK(ours[0].typed == flag.name);
    CHECK(look_up(ours[0].name).foreign == nullptr);
    const std::set<std::string> of_commands{"--config", "-m"};
    CHECK((look_up(ours[0].name).setting != nullptr || of_commands.contains(ours[0].name)));
    if (flag.takes_value) {
      CHECK_THAT(fault_of([&] {
                   translate({std::string(flag.name), {}, ""}, notes);
                 }),
                 ContainsSubstring("needs a value"));
    }
  }
}

TEST_CASE("torchrun's flags") {
  const Settings settings = settings_of({{"--nproc_per_node", "4", ""},
                                         {"--rdzv_endpoint", "10.0.0.2:1234", ""},
                                         {"--nnodes", "2", ""},
                                         {"--node_rank", "1", ""},
                                         {"--rdzv_id", "17", ""},
                                         {"--rdzv_conf", "join_timeout=90,close_timeout=3", ""},
                                         {"--max_restarts", "2", ""},
                                         {"-t", "0", ""},
                                         {"--role", "default", ""},
                                         {"--local-ranks-filter", "0,1", ""}});
  CHECK(settings.launch.nproc_per_node == AutoOr<int>(4));
  CHECK(settings.launch.master_addr == "10.0.0.2");
  CHECK(settings.launch.master_port == 1234);
  CHECK(settings.launch.console_ranks == "0,1");
  CHECK(settings.launch.max_restarts == 2);
  CHECK(settings.launch.nnodes == 2);
  CHECK(settings.launch.node_rank.value == 1);
  CHECK(settings.launch.run_id == "17");
  CHECK(settings.launch.rdzv_timeout == Seconds(90));
  CHECK(settings_of({{"--rdzv-endpoint", "localhost:0", ""}}).launch.master_addr == "localhost");
  CHECK(settings_of({{"--rdzv-endpoint", "[fe80::1]:77", ""}}).launch.master_addr == "fe80::1");
  CHECK(settings_of({{"--rdzv-endpoint", "[fe80::1]:77", ""}}).launch.master_port == 77);
  CHECK(settings_of({{"--rdzv-endpoint", "fe80::1", ""}}).launch.master_addr == "fe80::1");
  CHECK_THAT(fault_of_flags({{"--rdzv-endpoint", "host:port", ""}}),
             ContainsSubstring("--rdzv-endpoint port: expected a whole number from 0 to 65535"));

  CHECK(fault_of_flags({{"--nnodes", "1:4", ""}}) ==
        "--nnodes 1:4: expected a whole number from 1 to 10000");
  CHECK(notes_of({{"--rdzv-conf", "read_timeout=9", ""}}) ==
        std::vector<std::string>{"--rdzv-conf read_timeout=9 has no effect: hosts meet at "
                                 "--master-addr and --master-port; one host needs no meeting"});
  CHECK_THAT(fault_of_flags({{"--tee", "1", ""}}), ContainsSubstring("--log-dir writes"));
  CHECK(settings_of({{"--log_dir", "logs", ""}, {"-t", "3", ""}}).launch.log_dir == "logs");
  CHECK(settings_of({{"-r", "3", ""}}).launch.console_ranks == "none");
  CHECK(settings_of({{"--numa-binding", "socket", ""}}).launch.bind == "node");
  CHECK(settings_of({{"--numa-binding", "exclusive", ""}}).launch.bind == "core");
  CHECK(settings_of({{"--numa-bind", {}, ""}}).launch.bind == "node");
  CHECK(notes_of({{"--standalone", {}, ""}, {"--no_python", {}, ""}}) ==
        std::vector<std::string>{
            "--standalone has no effect: hosts meet at --master-addr and --master-port; one host "
            "needs no meeting",
            "--no_python has no effect: any program can be started; only *.py runs under Python"});
}

TEST_CASE("accelerate's flags") {
  const Settings settings = settings_of({{"--num_processes", "2", ""},
                                         {"--cpu", {}, ""},
                                         {"--main_process_port", "29501", ""},
                                         {"--main_process_ip", "10.0.0.2", ""},
                                         {"--num_machines", "3", ""},
                                         {"--machine_rank", "2", ""},
                                         {"--mixed_precision", "bf16", ""},
                                         {"--dynamo_backend", "NO", ""},
                                         {"--num_cpu_threads_per_process", "3", ""},
                                         {"--gradient_accumulation_steps", "8", ""}});
  CHECK(settings.launch.num_processes.value == 2);
  CHECK(settings.launch.devices == std::vector<std::string>{"cpu"});
  CHECK(settings.launch.master_port == 29501);
  CHECK(settings.launch.master_addr == "10.0.0.2");
  CHECK(settings.launch.nnodes == 3);
  CHECK(settings.launch.node_rank.value == 2);
  CHECK(settings.launch.threads.value == 3);
  CHECK(settings.train.gradient_accumulation_steps == 8);
  CHECK(settings.train.mixed_precision == "bf16");
  CHECK(settings_of({{"--gpu_ids", "all", ""}}).launch.devices == std::vector<std::string>{"cuda"});
  CHECK(settings_of({{"--gpu_ids", "2,0", ""}}).launch.devices ==
        std::vector<std::string>{"2", "0"});
  CHECK(notes_of({{"--multi_gpu", {}, ""}}).size() == 1);
  CHECK_THAT(fault_of_flags({{"--use_deepspeed", {}, ""}}), ContainsSubstring("ddp"));
  CHECK_THAT(fault_of_flags({{"--fsdp_sharding_strategy", "FULL_SHARD", ""}}),
             ContainsSubstring("--fsdp_sharding_strategy: parameters are not sharded"));
  for (const char* other : {"fp8", "int8", "BF16", "float16", ""}) {
    CHECK_THAT(fault_of_flags({{"--mixed_precision", other, ""}}),
               ContainsSubstring("no, bf16 or fp16; for fp8 LibTorch has no autocast"));
  }
  CHECK_THAT(fault_of_flags({{"--fp8_backend", "te", ""}}),
             ContainsSubstring("--mixed-precision bf16"));
  CHECK_THAT(fault_of_flags({{"--megatron_lm_tp_degree", "2", ""}}),
             ContainsSubstring("whole model"));
  CHECK_THAT(fault_of_flags({{"--gradient_clipping", "1.0", ""}}),
             ContainsSubstring("clip_grad_norm"));
}

TEST_CASE("deepspeed's and mpirun's flags") {
  CHECK(settings_of({{"--num_gpus", "2", ""}}).launch.nproc_per_node == AutoOr<int>(2));
  CHECK(settings_of({{"--include", "localhost:1,0", ""}}).launch.devices ==
        std::vector<std::string>{"1", "0"});
  CHECK_THAT(fault_of_flags({{"--include", "worker-1:0", ""}}), ContainsSubstring("localhost:0,2"));
  CHECK_THAT(fault_of_flags({{"--hostfile", "f", ""}}), ContainsSubstring("--nnodes"));
  CHECK(settings_of({{"-np", "3", ""}}).launch.num_processes.value == 3);
  CHECK(settings_of({{"-x", "A=1", ""}, {"-x", "PATH", ""}}).launch.env ==
        std::map<std::string, std::string>{{"A", "1"}});
  CHECK(settings_of({{"--bind-to", "none", ""}, {"--allow-run-as-root", {}, ""}}).launch.bind ==
        "none");
  CHECK(settings_of({{"--bind_cores_to_rank", {}, ""}}).launch.bind == "core");
  CHECK(settings_of({{"--cpu-bind", "cores", ""}}).launch.bind == "core");
  CHECK_THAT(fault_of_flags({{"--bind-to", "l3cache", ""}}), ContainsSubstring("--bind node"));
  CHECK_THAT(fault_of_flags({{"--map-by", "core", ""}}), ContainsSubstring("--bind core"));
}

TEST_CASE("an unknown flag names the nearest") {
  CHECK(unknown_flag("--num-procesess") ==
        "unknown option '--num-procesess'; did you mean --num-processes?");
  CHECK(unknown_flag("--num_procesess=4") ==
        "unknown option '--num_procesess'; did you mean --num-processes?");
  CHECK(unknown_flag("--dryrun", own) == "unknown option '--dryrun'; did you mean --dry-run?");
  CHECK(unknown_flag("-devices") == "unknown option '-devices'; did you mean --devices?");
  CHECK(unknown_flag("--frobnicate") == "unknown option '--frobnicate'");
  CHECK(unknown_flag("-q") == "unknown option '-q'");
}

TEST_CASE("help names every flag, and keeps to its width") {
  const std::string help = help_text(own, 80);
  for (const Setting& row : settings_table()) CHECK_THAT(help, ContainsSubstring(row.flag()));
  CHECK_THAT(help, ContainsSubstring("-n, --num-processes N|auto"));
  CHECK_THAT(help, ContainsSubstring("      --config F"));
  CHECK_THAT(help, ContainsSubstring("[1800 s]"));
  std::size_t start = 0;
  for (std::size_t end = 0; (end = help.find('\n', start)) != std::string::npos; start = end + 1) {
    INFO(help.substr(start, end - start));
    CHECK(end - start <= 80);
  }
  CHECK(start == help.size());
}

}  // namespace muster

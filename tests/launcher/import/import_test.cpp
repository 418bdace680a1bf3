#include "import/import.hpp"

#include <muster/error.hpp>
#include <muster/settings_editor.hpp>

#include <catch2/catch_test_macros.hpp>

#include <functional>

using namespace muster::launcher;

namespace {

struct Result {
  std::string toml;
  std::vector<std::string> notes;
};

Result import(const std::string& text, std::optional<ImportKind> kind = std::nullopt) {
  const auto import = import_text(text, "f", kind, "node-a");
  muster::SettingsEditor editor("", "f");
  for (const auto& row : muster::settings_table()) {
    const auto found = import.settings.find(&row);
    if (found != import.settings.end()) editor.set(row, found->second);
  }
  return {editor.text(), import.notes};
}

std::string fault_of(const std::string& text, std::optional<ImportKind> kind = std::nullopt) {
  try {
    import(text, kind);
  } catch (const muster::ConfigError& error) {
    return error.what();
  }
  return "";
}

/// The line of the notes that starts so; empty if there is none.
std::string note(const Result& result, const std::string& start) {
  for (const auto& line : result.notes) {
    if (line.starts_with(start)) return line;
  }
  return "";
}

}  // namespace

TEST_CASE("accelerate's first files, of one process") {
  const auto result = import(
      "compute_environment: LOCAL_MACHINE\ndeepspeed_config: {}\ndistributed_type: 'NO'\n"
      "fp16: false\nfsdp_config: {}\nmachine_rank: 0\nmain_process_ip: null\n"
      "main_process_port: null\nmain_training_function: main\nmixed_precision: 'no'\n"
      "num_machines: 1\nnum_processes: 1\nuse_cpu: false\n");
  CHECK(result.toml == "[launch]\nnum_processes = 1\n");
  CHECK(result.notes.empty());
}

TEST_CASE("accelerate's present files, of several devices") {
  const auto result = import(
      "compute_environment: LOCAL_MACHINE\ndebug: false\ndistributed_type: MULTI_GPU\n"
      "downcast_bf16: 'no'\nenable_cpu_affinity: false\ngpu_ids: 2,0\nmachine_rank: 0\n"
      "main_process_port: 29501\nmain_training_function: main\nmixed_precision: no\n"
      "num_machines: 1\nnum_processes: 2\nrdzv_backend: static\nsame_network: true\n"
      "tpu_env: []\ntpu_use_cluster: false\ntpu_use_sudo: false\nuse_cpu: false\n");
  CHECK(result.toml ==
        "[launch]\nnum_processes = 2\ndevices = [\"2\", \"0\"]\nmaster_port = 29501\n");
  CHECK(result.notes.empty());
  CHECK(import("distributed_type: MULTI_GPU\ngpu_ids: all\n").toml ==
        "[launch]\ndevices = [\"cuda\"]\n");
  CHECK(import("distributed_type: MULTI_GPU\ngpu_ids: [1, 0]\n").toml ==
        "[launch]\ndevices = [\"1\", \"0\"]\n");
  CHECK(import("distributed_type: MULTI_GPU\nnum_processes: -1\n").toml ==
        "[launch]\ndevices = [\"cuda\"]\n");
  CHECK(import("distributed_type: NO\n").toml == "[launch]\nnum_processes = 1\n");
  CHECK(import("distributed_type: NO\ngpu_ids: all\n").toml == "[launch]\nnum_processes = 1\n");
}

TEST_CASE("accelerate's files of CPUs over hosts say what is for several hosts") {
  const auto result = import(
      "distributed_type: MULTI_CPU\nmpirun_config:\n  mpirun_ccl: '1'\n"
      "  mpirun_hostfile: /home/user/hostfile\nnum_processes: 16\nuse_cpu: true\ngpu_ids: all\n");
  CHECK(result.toml == "[launch]\nnum_processes = 16\ndevices = [\"cpu\"]\n");
  CHECK(note(result, "f:4: mpirun_config.mpirun_hostfile: /home/user/hostfile: not carried over: ")
            .size() > 80);
}

TEST_CASE("accelerate counts ranks over all hosts; of hosts that are lost none counts") {
  const auto result = import(
      "distributed_type: MULTI_CPU\nmachine_rank: 0\nmain_process_ip: 10.0.0.1\n"
      "main_process_port: 29500\nnum_machines: 4\nnum_processes: 16\n");
  if (note(result, "f:5: num_machines: 4: ").empty()) {
    CHECK(result.toml.find("num_processes = 16\n") != std::string::npos);
    return;
  }
  CHECK(result.toml == "[launch]\nnproc_per_node = 4\ndevices = [\"cpu\"]\n");
  CHECK(note(result, "f:3: ") ==
        "f:3: main_process_ip: 10.0.0.1: not carried over: it is for several hosts");
  CHECK(import("num_machines: 2\nnum_processes: 5\n").toml.empty());
}

TEST_CASE("JSON under accelerate's name, with what does not exist said line by line") {
  const auto result = import(
      "{\n  \"compute_environment\": \"LOCAL_MACHINE\",\n  \"debug\": true,\n"
      "  \"distributed_type\": \"MULTI_XPU\",\n  \"mistake\": \"x\",\n  \"use_cpu\": false,\n"
      "  \"num_processes\": 4\n}\n");
  CHECK(result.toml == "[launch]\nnum_processes = 4\n\n[train]\ndebug = true\n");
  CHECK(note(result, "f:4: ") ==
        "f:4: distributed_type: MULTI_XPU: not carried over: there is no backend for such devices; "
        "there are cpu and cuda");
  CHECK(note(result, "f:5: ") == "f:5: mistake: x: not carried over: accelerate has no such key");
}

TEST_CASE("accelerate's sections: what is a flag is taken over as that flag") {
  const auto result = import(
      "distributed_type: DEEPSPEED\ndeepspeed_config:\n  gradient_accumulation_steps: 4\n"
      "  gradient_clipping: 1.0\n  offload_optimizer_device: none\n"
      "  deepspeed_config_file: a b.json\n  zero3_init_flag: false\nnum_processes: 2\n"
      "megatron_lm_config:\n  megatron_lm_tp_degree: 2\n"
      "dynamo_config:\n  dynamo_backend: INDUCTOR\n  dynamo_mode: default\n");
  CHECK(result.toml ==
        "[launch]\nnum_processes = 2\ndevices = [\"cuda\"]\n\n[train]\n"
        "gradient_accumulation_steps = 4\n");
  CHECK(note(result, "f:4: deepspeed_config.gradient_clipping: 1.0: ").find("clip_grad_norm") !=
        std::string::npos);
  CHECK(
      note(result, "f:6: ").ends_with("it is a file of its own: muster config import 'a b.json'"));
  CHECK(note(result, "f:10: megatron_lm_config.megatron_lm_tp_degree: 2: ").size() > 60);
  CHECK(note(result, "f:12: dynamo_config.dynamo_backend: INDUCTOR: ").size() > 60);
  CHECK(note(result, "f:5: ").empty());
  CHECK(note(result, "f:13: ").empty());
}

TEST_CASE("accelerate's files for a cloud") {
  const auto result = import(
      "compute_environment: AMAZON_SAGEMAKER\ndebug: false\ndistributed_type: NO\n"
      "debug: false\nec2_instance_type: T\niam_role_name: R\nuse_cpu: false\n");
  CHECK(note(result, "f:1: compute_environment: AMAZON_SAGEMAKER: ").size() > 60);
  CHECK(note(result, "f:5: ").size() > 30);
  CHECK(note(result, "f:6: ").size() > 30);
}

TEST_CASE("DeepSpeed's file: its auto is the program's, its batch is the program's") {
  const auto result = import(
      "// of a Trainer\n{\n  \"fp16\": { \"enabled\": \"auto\", \"loss_scale\": 0 },\n"
      "  \"bf16\": { \"enabled\": false, \"x\": 1 },\n"
      "  \"optimizer\": { \"type\": \"AdamW\", \"params\": { \"lr\": \"auto\" } },\n"
      "  \"zero_optimization\": { \"stage\": 0, \"overlap_comm\": true },\n"
      "  \"gradient_accumulation_steps\": 2,\n  \"gradient_clipping\": \"auto\",\n"
      "  \"train_micro_batch_size_per_gpu\": 8,\n  \"wall_clock_breakdown\": false,\n"
      "  \"tomorrow\": 1\n}\n");
  CHECK(result.toml == "[train]\ngradient_accumulation_steps = 2\n");
  CHECK(note(result, "f:3: ") ==
        "f:3: fp16.enabled: auto: not carried over: the program decides it");
  CHECK(note(result, "f:5: optimizer: {type: AdamW").ends_with("the program makes it"));
  CHECK(note(result, "f:8: ") ==
        "f:8: gradient_clipping: auto: not carried over: the program decides it");
  CHECK(note(result, "f:9: ").find("DataLoader") != std::string::npos);
  CHECK(note(result, "f:11: ") ==
        "f:11: tomorrow: 1: not carried over: no setting of muster means this");
  CHECK(result.notes.size() == 5);
}

TEST_CASE("DeepSpeed's stages and offload are taken over or refused as their flags are") {
  const auto result = import(
      "{\"zero_optimization\": {\"stage\": 3,\n \"offload_param\": {\"device\": \"cpu\",\n"
      " \"pin_memory\": true},\n \"reduce_bucket_size\": \"auto\",\n \"sub_group_size\": 1e9}}");
  for (const char* path : {"f:4: zero_optimization.reduce_bucket_size: auto: ",
                           "f:5: zero_optimization.sub_group_size: 1e9: "}) {
    CAPTURE(path);
    CHECK_FALSE(note(result, path).empty());
  }
}

TEST_CASE("Hostfiles in every usual form; this host's line counts") {
  const auto result = import("# all\nnode-a slots=4\nnode-b slots = 2 max_slots=8\n");
  CHECK(result.toml == "[launch]\nnproc_per_node = 4\n");
  REQUIRE(result.notes.size() == 1);
  CHECK(result.notes[0].starts_with("f:3: node-b, 2 ranks: not carried over: "));
  CHECK(import("localhost:3\n").toml == "[launch]\nnproc_per_node = 3\n");
  CHECK(import("node-a.cluster\n").toml == "[launch]\nnproc_per_node = 1\n");
  CHECK(import("[::1]:2\n").toml == "[launch]\nnproc_per_node = 2\n");
  CHECK(import("::1\n").toml == "[launch]\nnproc_per_node = 1\n");
  CHECK(import("[{\"ssh\": \"node-b\", \"ips\": [\"10.0.0.2\"]}, {\"ssh\": \"node-a\"}]").toml ==
        "[launch]\nnproc_per_node = 1\n");
  CHECK(fault_of("a slots=x\nb slots=2 z\na:\nc\nc\n", ImportKind::hostfile) ==
        "f:1: 'slots=x' is no number of ranks\nf:2: 'z': expected slots=N\n"
        "f:3: 'nothing' is no number of ranks\nf:5: 'c' is here twice");
  CHECK(fault_of("# nobody\n", ImportKind::hostfile) == "f: there is no host in it");
}

TEST_CASE("Files that are none of these") {
  CHECK(fault_of("a: 1\n").find("--from says which") != std::string::npos);
  CHECK(fault_of("").find("--from says which") != std::string::npos);
  CHECK(fault_of("use_cpu: true\n\tx: 1\n").starts_with("f:2: not YAML: "));
  CHECK(fault_of("{\n\"use_cpu\": ]}\n").starts_with("f:2: not JSON at "));
  CHECK(fault_of("a: 1\n---\nb: 2\n") == "f:2: a second document; one is expected");
  CHECK(fault_of("a: *b\n") == "f:1: nothing is called &b");
  CHECK(fault_of(std::string(2000, '['), ImportKind::deepspeed).find("nested too deep") !=
        std::string::npos);
  CHECK_FALSE(fault_of("[1, 2]", ImportKind::accelerate).empty());
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char name = 'b'; name < 'k'; ++name) {
    bomb += std::string(1, name) + ": &" + name + " [";
    for (int i = 0; i < 9; ++i) bomb += "*" + std::string(1, static_cast<char>(name - 1)) + ",";
    bomb += "]\n";
  }
  CHECK(fault_of(bomb).find("far more than such a file holds") != std::string::npos);
}

TEST_CASE("A note is one line, whatever the file's names are") {
  const auto result = import("use_cpu: true\n\"a\\nb\": \"c\\nd\"\n");
  REQUIRE(result.notes.size() == 1);
  CHECK(result.notes[0] == "f:2: a?b: c d: not carried over: accelerate has no such key");
}

TEST_CASE("YAML's anchors and quotes mean what they say") {
  const auto result = import(
      "distributed_type: &t MULTI_CPU\nuse_cpu: 'yes'\nnum_processes: \"3\"\n"
      "main_process_ip: &x \"10.0.0.1\"\n");
  CHECK(result.toml ==
        "[launch]\nnum_processes = 3\ndevices = [\"cpu\"]\nmaster_addr = \"10.0.0.1\"\n");
}

#include "import/accelerate.hpp"

#include <muster/error.hpp>

#include "text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace muster::launcher {
namespace {

/// A key of the file that is a flag of its launcher.
struct Key {
  std::string_view name;
  std::string_view flag;
  std::string_view usual = "";  ///< Words, with blanks between, that say nothing new.
};

constexpr Key keys[] = {
    {"debug", "--debug", "false"},
    {"downcast_bf16", "--downcast-bf16", "no false"},
    {"dynamo_backend", "--dynamo-backend", "no"},
    {"enable_cpu_affinity", "--enable-cpu-affinity", "false"},
    {"gpu_ids", "--gpu-ids", "all"},
    {"machine_rank", "--machine-rank", "0"},
    {"main_process_ip", "--main-process-ip", "127.0.0.1 localhost"},
    {"main_process_port", "--main-process-port"},
    {"main_training_function", "--main-training-function", "main"},
    {"mixed_precision", "--mixed-precision", "no false"},
    {"num_machines", "--num-machines", "1"},
    {"num_processes", "--num-processes", "-1"},
    {"rdzv_backend", "--rdzv-backend", "static"},
    {"same_network", "--same-network", "true false"},
    {"tpu_name", "--tpu-name"},
    {"tpu_zone", "--tpu-zone"},
    {"tpu_vm", "--tpu-vm"},
    {"tpu_env", "--tpu-env"},
    {"tpu_use_cluster", "--tpu-cluster", "false"},
    {"tpu_use_sudo", "--tpu-use-sudo", "false"},
    {"commands", "--tpu-commands"},
    {"command_file", "--tpu-command-file"},
    {"ec2_instance_type", "--aws-instance"},
    {"iam_role_name", "--aws-role"},
    {"image_uri", "--aws-image"},
    {"profile", "--aws-profile"},
    {"region", "--aws-region"},
    {"base_job_name", "--aws-job"},
    {"pytorch_version", "--aws-pytorch"},
    {"transformers_version", "--aws-transformers"},
    {"py_version", "--aws-python"},
    {"sagemaker_inputs_file", "--aws-inputs"},
    {"sagemaker_metrics_file", "--aws-metrics"},
    {"additional_args", "--aws-arguments"},
};

/// A map in the file whose keys are flags too.
struct Section {
  std::string_view name;
  std::string_view prefix;  ///< Of its flags; its keys may have it or leave it out.
  std::string_view usual = "";
};

constexpr Section sections[] = {
    {"deepspeed_config", "", "none false 0 standard"},
    {"dynamo_config", "dynamo_", "no false default"},
    {"fp8_config", "fp8_"},
    {"fsdp_config", "fsdp_"},
    {"megatron_lm_config", "megatron_lm_"},
    {"mpirun_config", ""},
    {"parallelism_config", "parallelism_config_", "1"},
};

/// What `distributed_type` names besides the usual kinds.
struct Kind {
  std::string_view name;
  std::string_view devices;  ///< Of the ranks; empty: none that muster has.
  std::string_view flag;     ///< The flag that asks for the same; empty: none needed.
};

constexpr Kind kinds[] = {
    {"NO", "auto", ""},
    {"MULTI_GPU", "cuda", ""},
    {"MULTI_CPU", "cpu", ""},
    {"DEEPSPEED", "cuda", "--use-deepspeed"},
    {"FSDP", "cuda", "--use-fsdp"},
    {"TP", "cuda", "--use-parallelism-config"},
    {"MEGATRON_LM", "cuda", "--use-megatron-lm"},
    {"XLA", "", "--tpu"},
    {"TPU", "", "--tpu"},
};

template <class Rows>
const auto* row_of(const Rows& rows, std::string_view name) {
  const auto found = std::find_if(std::begin(rows), std::end(rows),
                                  [&](const auto& row) { return row.name == name; });
  return found == std::end(rows) ? nullptr : &*found;
}

std::string changed(std::string_view text, int (*change)(int)) {
  std::string result(text);
  for (char& letter : result) {
    if (static_cast<unsigned char>(letter) < 0x80) letter = static_cast<char>(change(letter));
  }
  return result;
}

bool is_usual(const DocumentNode& node, std::string_view usual) {
  if (node.is_empty()) return true;
  if (node.kind == DocumentNode::Kind::list || node.kind == DocumentNode::Kind::map) return false;
  const auto truth = node.as_bool();
  const auto word = truth ? (*truth ? "true" : "false") : changed(node.text, std::tolower);
  const auto words = split(usual, ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

class Accelerate {
 public:
  Accelerate(const DocumentNode& root, const std::string& file) : root_(root), carrier_(file) {}

  Import read() {
    for (const auto& [name, node] : root_.members) member(name, node);
    choose_devices();
    return carrier_.finish();
  }

 private:
  static std::string text_of(std::string_view name, const DocumentNode& node) {
    return fmt::format("{}: {}", name, node.shown());
  }

  void member(const std::string& name, const DocumentNode& node) {
    const auto what = text_of(name, node);
    if (node.is_empty()) return;
    if (name == "distributed_type") return distributed_type(node);
    if (name == "use_cpu" || name == "compute_environment") return environment(name, node);
    if (name == "fp16") return fp16(node);
    if (const auto* section = row_of(sections, name)) return read_section(*section, node);
    if (lost_hosts() > 1 && for_hosts(name, node)) return;
    if (const auto* key = row_of(keys, name)) {
      if (name == "gpu_ids" && on_cpu()) return;
      if (is_usual(node, key->usual)) return;
      return carrier_.carry(node.line, what, std::string(key->flag), value_of(node));
    }
    carrier_.refuse(node.line, what, "accelerate has no such key");
  }

  /// How many hosts the file is for, if this version cannot start ranks on them; else 1.
  int lost_hosts() const {
    const auto* node = root_.find("num_machines");
    const auto number = node == nullptr ? std::nullopt : to_number<int>(node->text);
    if (!number || *number < 2 || Carrier::can_carry("--num-machines", node->text)) return 1;
    return *number;
  }

  /// True for a key that means all hosts, of which this one is left.
  bool for_hosts(const std::string& name, const DocumentNode& node) {
    const auto what = text_of(name, node);
    if (name == "main_process_ip" || name == "main_process_port") {
      carrier_.refuse(node.line, what, "it is for several hosts");
      return true;
    }
    const auto ranks = to_number<int>(node.text);
    if (name != "num_processes" || !ranks || *ranks < 1) return false;
    if (*ranks % lost_hosts() != 0) {
      carrier_.refuse(node.line, what, "it does not divide into that many hosts");
    } else {
      carrier_.give(node.line, what, "launch.nproc_per_node", std::int64_t{*ranks / lost_hosts()});
    }
    return true;
  }

  static std::string value_of(const DocumentNode& node) {
    if (node.kind != DocumentNode::Kind::list) return node.text;
    std::string words;  // gpu_ids: [0, 1]
    for (const auto& item : node.items) words += (words.empty() ? "" : ",") + item.text;
    return words;
  }

  bool on_cpu() const {
    const auto* node = root_.find("use_cpu");
    return node != nullptr && node->as_bool().value_or(false);
  }

  void environment(const std::string& name, const DocumentNode& node) {
    const bool fine = name == "use_cpu" ? node.as_bool().has_value() : node.text == "LOCAL_MACHINE";
    if (fine) return;
    if (name == "compute_environment") {
      return carrier_.carry(node.line, text_of(name, node), "--aws-environment", node.text);
    }
    carrier_.refuse(node.line, text_of(name, node), "expected true or false");
  }

  /// What mixed_precision was called at first.
  void fp16(const DocumentNode& node) {
    if (!node.as_bool().value_or(true) || root_.find("mixed_precision") != nullptr) return;
    carrier_.carry(node.line, text_of("fp16", node), "--mixed-precision", "fp16");
  }

  void distributed_type(const DocumentNode& node) {
    const auto* kind = row_of(kinds, changed(node.text, std::toupper));
    const auto what = text_of("distributed_type", node);
    if (kind == nullptr) {
      const bool known = node.text.starts_with("MULTI_");
      return carrier_.refuse(node.line, what,
                             known ? "there is no backend for such devices; there are cpu and cuda"
                                   : "accelerate has no such kind");
    }
    if (!kind->flag.empty()) {
      carrier_.carry(node.line, what, std::string(kind->flag), std::nullopt);
    }
  }

  /// distributed_type names the kind of devices, gpu_ids the devices, and use_cpu undoes both.
  void choose_devices() {
    const auto set = [&](std::string_view word) {
      carrier_.give(root_.line, "devices", "launch.devices",
                    std::vector<std::string>{std::string(word)});
    };
    if (on_cpu()) return set("cpu");
    const auto* type = root_.find("distributed_type");
    const auto* kind = type != nullptr ? row_of(kinds, changed(type->text, std::toupper)) : nullptr;
    if (kind == nullptr) return;
    const auto* ids = root_.find("gpu_ids");
    const bool named = ids != nullptr && !is_usual(*ids, "all");
    if (!kind->devices.empty() && kind->devices != "auto" && !named) set(kind->devices);
    // One process, where none counts them.
    if (kind->name == "NO" && root_.find("num_processes") == nullptr) {
      carrier_.give(type->line, "distributed_type: NO", "launch.num_processes", std::int64_t{1});
    }
  }

  void read_section(const Section& section, const DocumentNode& node) {
    const auto what = text_of(section.name, node);
    if (node.kind != DocumentNode::Kind::map) {
      return carrier_.refuse(node.line, what, "expected keys and values");
    }
    for (const auto& [name, value] : node.members) {
      const auto entry = fmt::format("{}.{}: {}", section.name, name, value.shown());
      if (name == "deepspeed_config_file" && !value.is_empty()) {
        carrier_.refuse(
            value.line, entry,
            "it is a file of its own: muster config import " + shell_quoted(value.text));
      } else if (value.is_auto()) {
        carrier_.refuse(value.line, entry, "the program decides it");
      } else if (!is_usual(value, section.usual)) {
        carrier_.carry(value.line, entry, flag_of(section, name), value_of(value));
      }
    }
  }

  static std::string flag_of(const Section& section, std::string_view name) {
    const bool has_prefix = name.starts_with(section.prefix);
    auto flag = "--" + std::string(has_prefix ? "" : section.prefix) + std::string(name);
    std::replace(flag.begin(), flag.end(), '_', '-');
    return flag;
  }

  const DocumentNode& root_;
  Carrier carrier_;
};

}  // namespace

bool is_accelerate(const DocumentNode& root) {
  return std::any_of(root.members.begin(), root.members.end(), [](const auto& member) {
    const auto& name = member.name;
    return name == "distributed_type" || name == "compute_environment" || name == "use_cpu" ||
           row_of(sections, name) != nullptr || row_of(keys, name) != nullptr;
  });
}

Import import_accelerate(const DocumentNode& root, const std::string& file) {
  if (root.kind != DocumentNode::Kind::map) {
    throw ConfigError(file + ": expected keys and values, as accelerate config writes them");
  }
  return Accelerate(root, file).read();
}

}  // namespace muster::launcher

#include "import/deepspeed.hpp"

#include <muster/error.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace muster::launcher {
namespace {

constexpr std::string_view batch = "the program's DataLoader has the batch size";
constexpr std::string_view programs = "the program makes it";
constexpr std::string_view no_monitor = "it is of DeepSpeed's own monitoring";
constexpr std::string_view order_is_fixed = "gradients are summed unscaled and divided once";

/// A key of the file. With a flag it is taken over as that flag, else refused for the reason.
struct DeepSpeedKey {
  std::string_view name;
  std::string_view flag;
  std::string_view reason = "";
};

constexpr DeepSpeedKey root_keys[] = {
    {"gradient_accumulation_steps", "--gradient-accumulation-steps"},
    {"gradient_clipping", "--gradient-clipping"},
    {"train_batch_size", "", batch},
    {"train_micro_batch_size_per_gpu", "", batch},
    {"optimizer", "", programs},
    {"scheduler", "", programs},
    {"prescale_gradients", "", order_is_fixed},
    {"gradient_predivide_factor", "", order_is_fixed},
    {"communication_data_type", "", "gradients are summed in fp32"},
    {"sparse_gradients", "", "gradients are dense"},
    {"steps_per_print", "", no_monitor},
    {"wall_clock_breakdown", "", no_monitor},
    {"dump_state", "", no_monitor},
    {"memory_breakdown", "", no_monitor},
    {"tensorboard", "", no_monitor},
    {"wandb", "", no_monitor},
    {"csv_monitor", "", no_monitor},
    {"comms_logger", "", no_monitor},
    {"flops_profiler", "", no_monitor},
    {"activation_checkpointing", "", "the program does it, where it does"},
    {"zero_allow_untested_optimizer", "", "the program's optimizer is used as it is"},
    {"zero_force_ds_cpu_optimizer", "", "the program's optimizer is used as it is"},
    {"autotuning", "", "settings are not searched for"},
    {"elasticity", "", "the number of ranks is fixed"},
    {"compression_training", "", "models are not compressed"},
    {"sparse_attention", "", "the program's model is used as it is"},
    {"data_efficiency", "", "the program chooses its data"},
    {"curriculum_learning", "", "the program chooses its data"},
    {"dataloader_drop_last", "", "the program's DataLoader says so"},
    {"amp", "", "it is NVIDIA's apex, for Python"},
    {"fp16", ""},
    {"bf16", ""},
    {"bfloat16", ""},
    {"zero_optimization", ""},
};

/// Keys of zero_optimization, by their paths.
constexpr DeepSpeedKey zero_keys[] = {
    {"stage", "--zero-stage"},
    {"offload_optimizer.device", "--offload-optimizer-device"},
    {"offload_param.device", "--offload-param-device"},
    {"reduce_bucket_size", "", "it counts elements; train.bucket_mb is in MiB"},
    {"allgather_bucket_size", "", "it counts elements; train.bucket_mb is in MiB"},
};

template <class Rows>
const DeepSpeedKey* key_of(const Rows& rows, std::string_view name) {
  const auto found = std::find_if(std::begin(rows), std::end(rows),
                                  [&](const DeepSpeedKey& row) { return row.name == name; });
  return found == std::end(rows) ? nullptr : &*found;
}

bool is_table(const DocumentNode& node) {
  return node.kind == DocumentNode::Kind::map || node.kind == DocumentNode::Kind::list;
}

/// Switched off, or what is so without it.
bool says_nothing(const DocumentNode& node) {
  if (node.is_empty() || node.as_bool() == false) return true;
  return !is_table(node) && (node.text == "0" || node.text == "0.0" || node.text == "none");
}

bool is_switched_off(const DocumentNode& node) {
  const auto* enabled = node.find("enabled");
  return enabled != nullptr && says_nothing(*enabled);
}

class DeepSpeed {
 public:
  explicit DeepSpeed(const std::string& file) : carrier_(file) {}

  Import read(const DocumentNode& root) {
    for (const auto& [name, node] : root.members) member(name, node);
    return carrier_.finish();
  }

 private:
  void member(const std::string& name, const DocumentNode& node) {
    if (says_nothing(node) || is_switched_off(node)) return;
    if (name == "zero_optimization" && node.kind == DocumentNode::Kind::map) return zero(node);
    const bool is_half = name == "fp16" || name == "bf16" || name == "bfloat16";
    if (is_half && node.kind == DocumentNode::Kind::map) return half(name, node);
    apply(key_of(root_keys, name), name, node);
  }

  void apply(const DeepSpeedKey* key, const std::string& name, const DocumentNode& node) {
    const auto what = fmt::format("{}: {}", name, node.shown());
    if (key == nullptr) {
      carrier_.refuse(node.line, what, "no setting of muster means this");
    } else if (node.is_auto()) {
      carrier_.refuse(node.line, what, "the program decides it");
    } else if (key->flag.empty()) {
      carrier_.refuse(node.line, what,
                      key->reason.empty() ? "no setting of muster means this" : key->reason);
    } else {
      carrier_.carry(node.line, what, std::string(key->flag), node.text);
    }
  }

  /// fp16 and bf16: "enabled" decides, the rest is of the scaler of gradients.
  void half(const std::string& name, const DocumentNode& node) {
    const std::string kind = name == "fp16" ? "fp16" : "bf16";
    for (const auto& [key, value] : node.members) {
      const auto path = name + "." + key, what = fmt::format("{}: {}", path, value.shown());
      if (key != "enabled") {
        if (!says_nothing(value))
          carrier_.refuse(value.line, what, "no setting of muster means this");
      } else if (value.is_auto()) {
        carrier_.refuse(value.line, what, "the program decides it");
      } else if (value.as_bool() == true) {
        carrier_.carry(value.line, what, "--mixed-precision", kind);
      } else {
        carrier_.refuse(value.line, what, "expected true, false or auto");
      }
    }
  }

  void zero(const DocumentNode& node) {
    const auto* stage = node.find("stage");
    if (stage == nullptr || says_nothing(*stage)) return;  // The rest has no effect.
    for (const auto& [name, value] : node.members) {
      if (value.kind != DocumentNode::Kind::map) {
        zero_leaf(name, value);
        continue;
      }
      for (const auto& [inner, leaf] : value.members) zero_leaf(name + "." + inner, leaf);
    }
  }

  void zero_leaf(const std::string& path, const DocumentNode& node) {
    if (says_nothing(node)) return;
    apply(key_of(zero_keys, path), "zero_optimization." + path, node);
  }

  Carrier carrier_;
};

}  // namespace

bool is_deepspeed(const DocumentNode& root) {
  return std::any_of(root.members.begin(), root.members.end(),
                     [](const auto& member) { return key_of(root_keys, member.name) != nullptr; });
}

Import import_deepspeed(const DocumentNode& root, const std::string& file) {
  if (root.kind != DocumentNode::Kind::map) {
    throw ConfigError(file + ": expected an object, as DeepSpeed's configuration is");
  }
  return DeepSpeed(file).read(root);
}

}  // namespace muster::launcher

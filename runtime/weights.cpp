#include <muster/accelerator.hpp>
#include <muster/error.hpp>
#include <muster/safetensors.hpp>
#include <muster/tensor_broadcast.hpp>
#include <muster/tensor_text.hpp>

#include "accelerator_state.hpp"
#include "collectives.hpp"

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <c10/core/ScalarType.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace muster {
namespace {

namespace fs = std::filesystem;

fs::path weights_file(const fs::path& path) {
  return path.extension() == ".safetensors" ? path : path / "model.safetensors";
}

/// Runs `work` on rank 0. If it throws there, all ranks throw CheckpointError.
void on_rank_0(Communicator& world, std::string_view label, const std::function<void()>& work) {
  const auto outcome = collectives::run_on_rank_0(world, label, work);
  if (!outcome.failure.empty()) throw CheckpointError(outcome.failure);
}

/// Under every name that it has, except a registered parameter that its module does not use, which
/// stands for the one that it uses.
std::vector<NamedTensor> tensors_to_save(const ModuleTensors& model) {
  std::set<std::string> second_names;
  for (const auto& shared : model.shared) second_names.insert(shared.name);
  std::vector<NamedTensor> result;
  for (const auto* list : {&model.parameters, &model.buffers}) {
    for (const auto& tensor : *list) {
      if (!second_names.contains(tensor.name)) result.push_back(tensor);
    }
  }
  std::vector<NamedTensor> tied;
  for (const auto& shared : model.shared) {
    for (const auto& tensor : result) {
      if (tensor.name == shared.kept) tied.push_back({shared.name, tensor.tensor});
    }
  }
  result.insert(result.end(), tied.begin(), tied.end());
  return result;
}

std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

struct Match {
  at::Tensor target;
  at::Tensor source;  ///< Undefined: not in the file.
};

/// The file may have a tied tensor under any of its names.
const at::Tensor* find_in(const Safetensors& file, const std::string& name,
                          const std::vector<SharedName>& shared) {
  if (const auto* found = file.find(name)) return found;
  for (const auto& other : shared) {
    if (other.kept != name) continue;
    if (const auto* found = file.find(other.name)) return found;
  }
  return nullptr;
}

/// Why `source` cannot be copied into `target`; empty: it can.
std::string misfit(const at::Tensor& source, const at::Tensor& target) {
  const auto difference = [](const std::string& there, const std::string& here) {
    return " (" + there + " in the file, " + here + " in the model)";
  };
  if (source.sizes() != target.sizes()) {
    return difference(to_text(source.sizes()), to_text(target.sizes()));
  }
  if (c10::canCast(source.scalar_type(), target.scalar_type())) return {};
  return difference(to_text(source.scalar_type()), to_text(target.scalar_type()));
}

/// Pairs the model's tensors with the file's, in the model's order. Throws CheckpointError with all
/// that does not fit.
std::vector<Match> match(const ModuleTensors& model, const Safetensors& file, bool strict) {
  std::vector<Match> pairs;
  std::vector<std::string> missing, unfit;
  std::set<std::string> known;
  for (const auto& shared : model.shared) known.insert(shared.name);
  for (const auto* tensors : {&model.parameters, &model.buffers}) {
    for (const auto& [name, target] : *tensors) {
      const bool unused = !known.insert(name).second;
      const auto* source = find_in(file, name, model.shared);
      if (!source && !unused) missing.push_back(name);
      const auto why = source ? misfit(*source, target) : std::string();
      if (!why.empty()) unfit.push_back(name + why);
      pairs.push_back({target, source ? *source : at::Tensor()});
    }
  }
  std::vector<std::string> foreign;
  for (const auto& tensor : file.tensors) {
    if (!known.contains(tensor.name)) foreign.push_back(tensor.name);
  }
  std::string problem;
  if (strict && !missing.empty()) problem += "\n  not in the file: " + list(missing);
  if (strict && !foreign.empty()) problem += "\n  not in the model: " + list(foreign);
  if (!unfit.empty()) problem += "\n  of another shape or kind: " + list(unfit);
  if (!problem.empty()) throw CheckpointError("the weights do not fit the model:" + problem);
  return pairs;
}

}  // namespace

fs::path Accelerator::save_model(const ModelHandle& model, const fs::path& path) const {
  auto file = weights_file(path);
  const Busy guard("save_model");
  on_rank_0(state_->mesh()->world(), "save_model", [&] {
    std::error_code ignored;  // The writer says what is wrong with the folder.
    if (file.has_parent_path()) fs::create_directories(file.parent_path(), ignored);
    save_safetensors(file, tensors_to_save(tensors_of(*model.prepared_->module)),
                     {{"format", "pt"}});
  });
  return file;
}

void Accelerator::load_model(const ModelHandle& model, const fs::path& path, bool strict) const {
  const auto file = weights_file(path);
  const Busy guard("load_model");
  const auto tensors = tensors_of(*model.prepared_->module);
  auto& world = state_->mesh()->world();
  std::vector<Match> pairs;
  on_rank_0(world, "load_model", [&] {
    try {
      pairs = match(tensors, load_safetensors(file), strict);
    } catch (const CheckpointError& error) {
      const std::string text = error.what();
      throw CheckpointError(
          text.find(file.string()) == std::string::npos ? file.string() + ": " + text : text);
    }
  });
  const c10::NoGradGuard no_grad;
  for (const auto& [target, source] : pairs) {
    if (source.defined()) target.detach().copy_(source);
  }
  auto targets = tensors.parameters;
  targets.insert(targets.end(), tensors.buffers.begin(), tensors.buffers.end());
  broadcast_tensors(targets, world, "load_model");
}

}  // namespace muster

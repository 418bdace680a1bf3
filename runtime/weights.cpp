#include <muster/accelerator.hpp>
#include <muster/error.hpp>
#include <muster/safetensors.hpp>

#include "accelerator_state.hpp"
#include "collectives.hpp"
#include "tensor_text.hpp"

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

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
  std::string failure;
  if (world.rank() == 0) {
    try {
      work();
    } catch (const std::exception& error) {
      failure = error.what();
      if (failure.empty()) failure = "unknown error";
    }
  }
  failure = collectives::broadcast_text(world, std::move(failure), 0, label);
  if (!failure.empty()) throw CheckpointError(failure);
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
      const auto* source = file.find(name);
      if (!source && !unused) missing.push_back(name);
      if (source && source->sizes() != target.sizes()) {
        unfit.push_back(name + " (" + shape_text(source->sizes()) + " in the file, " +
                        shape_text(target.sizes()) + " in the model)");
      }
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
  if (!unfit.empty()) problem += "\n  of another shape: " + list(unfit);
  if (!problem.empty()) throw CheckpointError("the weights do not fit the model:" + problem);
  return pairs;
}

}  // namespace

fs::path Accelerator::save_model(const ModelHandle& model, const fs::path& path) const {
  const auto file = weights_file(path);
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
  std::size_t next = 0;
  for (const auto* list : {&tensors.parameters, &tensors.buffers}) {
    for (const auto& tensor : *list) {
      auto target = tensor.tensor.detach();
      if (world.rank() == 0 && pairs[next].source.defined()) target.copy_(pairs[next].source);
      ++next;
      collectives::broadcast(world, target, 0);
    }
  }
}

}  // namespace muster

#include <muster/accelerator.hpp>

#include "accelerator_state.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

namespace muster {
namespace {

std::string with_unit(double value, std::initializer_list<const char*> units, double step) {
  auto unit = units.begin();
  while (value >= step && unit + 1 != units.end()) {
    value /= step;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, value < 10 && unit != units.begin() ? "%.2f%s" : "%.0f%s", value,
                *unit);
  return text;
}

std::string bytes_text(std::int64_t bytes) {
  return with_unit(static_cast<double>(bytes), {" B", " KiB", " MiB", " GiB", " TiB"}, 1024);
}

std::string count_text(std::int64_t count) {
  return with_unit(static_cast<double>(count), {"", " K", " M", " B"}, 1000);
}

std::string model_line(const PreparedModel& model, std::size_t index) {
  std::int64_t count = 0, trained = 0, bytes = 0, trained_bytes = 0;
  for (const auto& [name, tensor] : tensors_of(*model.module).parameters) {
    count += tensor.numel();
    bytes += static_cast<std::int64_t>(tensor.nbytes());
    if (!tensor.requires_grad()) continue;
    trained += tensor.numel();
    // Gradients of narrower parameters are kept in fp32.
    trained_bytes += tensor.numel() * std::max<std::int64_t>(4, tensor.element_size());
  }
  const auto& counters = model.strategy->counters();
  return "model " + std::to_string(index) + ": " + count_text(count) + " parameters, " +
         count_text(trained) + " trained; here: parameters " + bytes_text(bytes) + ", gradients " +
         bytes_text(trained_bytes) + "; " + std::to_string(counters.steps) + " steps, " +
         std::to_string(counters.reductions) + " buckets reduced, " +
         std::to_string(counters.overlapped) + " of them during backward";
}

}  // namespace

std::string Accelerator::describe() const {
  const auto& state = *state_;
  std::string text = headline(state);
  text +=
      "\ncommunicator " + std::string(state.mesh()->world().name()) + ": " + state.session->why();
  text += "\nmicro-steps a step: " + std::to_string(gradient_accumulation_steps());
  if (state.scaler->enabled()) {
    text += "\nloss scale: " + count_text(static_cast<std::int64_t>(state.scaler->scale()));
  }
  for (std::size_t i = 0; i < state.models.size(); ++i) {
    text += '\n' + model_line(*state.models[i], i);
  }
  return text;
}

}  // namespace muster

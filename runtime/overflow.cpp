#include "overflow.hpp"

#include <muster/grad_scaler.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace muster {
namespace {

/// " on rank 1 of 4", " on ranks 0 and 2 of 4"; one rank alone: nothing.
std::string ranks_text(const std::vector<int>& ranks, int size) {
  if (size == 1) return "";
  if (ranks.empty()) return " (finite on each rank, but not their sum)";
  std::string text = ranks.size() == 1 ? " on rank " : " on ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text + " of " + std::to_string(size);
}

NonFinite find(const PreparedOptimizer& prepared) {
  NonFinite first;
  for (const auto& model : prepared.models) {
    auto found = model->strategy->find_non_finite(*prepared.optimizer);
    if (found.parameter.empty()) continue;
    if (first.parameter.empty()) {
      first = std::move(found);
    } else {
      first.others += 1 + found.others;
    }
  }
  return first;
}

std::string describe(const PreparedOptimizer& prepared) {
  const auto found = find(prepared);
  std::ostringstream text;
  text << "fp16: step " << prepared.steps + 1 << " was tried " << prepared.overflows
       << " times in a row and skipped, for gradients that are not finite, the last time with a "
          "loss scale of "
       << prepared.scaler->scale() << " (at least " << prepared.scaler->options().min_scale
       << "): that of '" << found.parameter << "'"
       << ranks_text(found.ranks, prepared.mesh->size("data"));
  if (found.others > 0) {
    text << ", and of " << found.others << (found.others == 1 ? " parameter" : " parameters")
         << " more";
  }
  text << ". Look for what is not finite in the loss or the data; bf16 has the range of fp32";
  return text.str();
}

}  // namespace

std::exception_ptr move_scale(PreparedOptimizer& prepared, bool finite) {
  if (finite && prepared.skipped) return nullptr;  // A rank has left: nothing is known.
  std::exception_ptr trouble;
  if (finite) {
    prepared.overflows = 0;
  } else if (++prepared.overflows >= prepared.scaler->options().max_skips) {
    trouble = std::make_exception_ptr(NonFiniteError(describe(prepared)));
  }
  prepared.scaler->update(finite);
  prepare_for_overflow(prepared);
  return trouble;
}

void prepare_for_overflow(const PreparedOptimizer& prepared) {
  const bool last = prepared.overflows + 1 >= prepared.scaler->options().max_skips;
  for (const auto& model : prepared.models) model->strategy->trace_non_finite(last);
}

}  // namespace muster

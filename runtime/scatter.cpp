#include <muster/error.hpp>
#include <muster/tensor_text.hpp>

#include "collectives.hpp"
#include "packed.hpp"
#include "signature.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <sstream>

namespace muster::collectives {
namespace {

/// What is wrong with the parts of rank `from`; empty: nothing.
std::string fault_of(const std::vector<at::Tensor>& parts, int ranks) {
  if (parts.size() != static_cast<std::size_t>(ranks)) {
    return std::to_string(parts.size()) + " parts for " + std::to_string(ranks) +
           " ranks; give one a rank";
  }
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    if (!parts[rank].defined() || parts[rank].layout() != at::kStrided) {
      return "the part of rank " + std::to_string(rank) + " is " +
             (parts[rank].defined() ? "not dense" : "undefined");
    }
  }
  return {};
}

/// A fault, or a line for each part: dtype and sizes.
std::string plan_of(const std::vector<at::Tensor>& parts, int ranks) {
  if (const auto fault = fault_of(parts, ranks); !fault.empty()) return "fault " + fault;
  std::ostringstream plan;
  for (const auto& part : parts) {
    plan << static_cast<int>(part.scalar_type()) << ' ' << part.dim();
    for (const auto size : part.sizes()) plan << ' ' << size;
    plan << '\n';
  }
  return plan.str();
}

/// The part of `rank`, still without its values.
at::Tensor part_in(const std::string& plan, int rank, at::Device device) {
  std::istringstream lines(plan);
  std::string line;
  for (int i = 0; i <= rank; ++i) std::getline(lines, line);
  std::istringstream words(line);
  int dtype = 0;
  std::size_t dims = 0;
  words >> dtype >> dims;
  std::vector<std::int64_t> shape(dims);
  for (auto& size : shape) words >> size;
  return at::empty(shape,
                   at::TensorOptions().dtype(static_cast<at::ScalarType>(dtype)).device(device));
}

}  // namespace

at::Tensor scatter(Communicator& group, const std::vector<at::Tensor>& parts, int from) {
  const c10::NoGradGuard no_grad;
  const bool gives = group.rank() == from;
  const auto plan =
      broadcast_object(group, gives ? plan_of(parts, group.size()) : "", from, "scatter");
  if (plan.starts_with("fault ")) {
    throw ConfigError("scatter from rank " + std::to_string(from) + ": " + plan.substr(6));
  }
  auto mine = part_in(plan, group.rank(), group.device());
  std::vector<at::Tensor> sent;
  std::vector<std::int64_t> sent_bytes(static_cast<std::size_t>(group.size()), 0);
  for (std::size_t rank = 0; gives && rank < parts.size(); ++rank) {
    sent.push_back(bytes_of(parts[rank].detach().resolve_conj().resolve_neg().contiguous()));
    sent_bytes[rank] = sent.back().numel();
  }
  std::vector<std::int64_t> received_bytes(static_cast<std::size_t>(group.size()), 0);
  received_bytes[static_cast<std::size_t>(from)] = static_cast<std::int64_t>(mine.nbytes());
  const auto all = gives ? at::cat(sent) : at::empty({0}, mine.options().dtype(at::kByte));
  group.all_to_all(bytes_of(mine), all, received_bytes, sent_bytes, "scatter").wait();
  return mine;
}

}  // namespace muster::collectives

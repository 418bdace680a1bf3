#include "communicators/arguments.hpp"

#include <muster/error.hpp>

#include "text.hpp"

#include <c10/core/ScalarType.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <string>

namespace muster {
namespace {

using Kind = Operation::Kind;

class Check {
 public:
  Check(const Operation& operation, const GroupShape& group)
      : operation_(operation), group_(group) {}

  void run() const {
    switch (operation_.kind) {
      case Kind::all_reduce:
        return all_reduce();
      case Kind::reduce_scatter:
        return reduce_scatter();
      case Kind::all_gather:
        return all_gather();
      case Kind::broadcast:
        return broadcast();
      case Kind::all_to_all:
        return all_to_all();
      case Kind::send:
        return point_to_point(operation_.input, "tensor");
      case Kind::receive:
        return point_to_point(operation_.output, "tensor");
      case Kind::barrier:
        return;
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw ConfigError(std::string(to_string(operation_.kind)) + " '" + operation_.label +
                      "': " + why);
  }

  void tensor(const at::Tensor& tensor, const char* name) const {
    const std::string what(name);
    if (!tensor.defined()) {
      refuse(what + " is undefined");
    }
    if (tensor.layout() != at::kStrided || !tensor.has_storage()) {
      refuse(what + " has no plain memory (it is sparse or of a special kind); pass a dense one");
    }
    if (tensor.device() != group_.device) {
      refuse(what + " is on " + to_text(tensor.device()) + ", the communicator on " +
             to_text(group_.device));
    }
    if (!tensor.is_contiguous()) {
      refuse(what + " of shape " + to_text(tensor.sizes()) + " and strides " +
             to_text(tensor.strides()) + " is not contiguous; pass " + what + ".contiguous()");
    }
    if (tensor.is_conj() || tensor.is_neg()) {
      refuse(what + " is a lazy conjugate or negative; pass " + what +
             ".resolve_conj() or .resolve_neg()");
    }
  }

  void same_dtype() const {
    if (operation_.output.scalar_type() != operation_.input.scalar_type()) {
      refuse("input is " + to_text(operation_.input.scalar_type()) + " and output " +
             to_text(operation_.output.scalar_type()) + "; they must be equal");
    }
  }

  void reducible() const {
    const auto in = operation_.input.scalar_type();
    const auto out = operation_.output.scalar_type();
    const bool widens = c10::isFloatingType(in) && (out == at::kFloat || out == at::kDouble) &&
                        c10::elementSize(in) < c10::elementSize(out);
    if (in != out && !widens) {
      refuse("cannot reduce " + to_text(in) + " into " + to_text(out) +
             "; output has input's dtype or is a wider one of float32 and float64");
    }
    const bool complex_sum = c10::isComplexType(in) && operation_.op == ReduceOp::sum;
    const bool plain = c10::isIntegralType(in, true) || in == at::kFloat || in == at::kDouble ||
                       in == at::kHalf || in == at::kBFloat16;
    if (!(plain || complex_sum) || c10::isQIntType(in)) {
      refuse("no " + std::string(to_string(operation_.op)) + " of " + to_text(in) + "; " +
             "there is one of float16, bfloat16, float32, float64, integers and bool, and sums of "
             "complex64 and complex128");
    }
    if (operation_.accumulate && operation_.op != ReduceOp::sum) {
      refuse("only a sum accumulates, this is a " + std::string(to_string(operation_.op)));
    }
  }

  void mean() const {
    const auto dtype = operation_.output.scalar_type();
    if (!c10::isFloatingType(dtype)) {
      refuse("no mean of " + to_text(dtype) +
             "; there is one of float16, bfloat16, float32 and "
             "float64");
    }
    if (operation_.divided < 0 || operation_.divided > operation_.output.numel()) {
      refuse(std::to_string(operation_.divided) + " elements are to be divided, the tensor has " +
             std::to_string(operation_.output.numel()));
    }
    if (!(operation_.count >= 0) || std::isinf(operation_.count)) {
      refuse("count is " + std::to_string(operation_.count) + ", expected a number from 0 on");
    }
  }

  /// The sum of counts that must be one a rank, or `otherwise` if there are none.
  std::int64_t total(const std::vector<std::int64_t>& counts, std::int64_t otherwise) const {
    if (counts.empty()) {
      return otherwise;
    }
    if (counts.size() != static_cast<std::size_t>(group_.size)) {
      refuse(std::to_string(counts.size()) + " counts for a group of " +
             std::to_string(group_.size));
    }
    for (const auto count : counts) {
      if (count < 0) {
        refuse("a count is negative: " + to_text(at::IntArrayRef(counts)));
      }
    }
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  }

  void numel(const at::Tensor& tensor, const char* name, std::int64_t expected) const {
    if (tensor.numel() != expected) {
      refuse(std::string(name) + " " + to_text(tensor.sizes()) + " has " +
             std::to_string(tensor.numel()) + " elements, expected " + std::to_string(expected) +
             " in a group of " + std::to_string(group_.size));
    }
  }

  std::int64_t own(const std::vector<std::int64_t>& counts, std::int64_t otherwise) const {
    return counts.empty() ? otherwise : counts[static_cast<std::size_t>(group_.rank)];
  }

  void all_reduce() const {
    tensor(operation_.input, "input");
    tensor(operation_.output, "output");
    reducible();
    if (operation_.output.sizes() != operation_.input.sizes()) {
      refuse("input " + to_text(operation_.input.sizes()) + " and output " +
             to_text(operation_.output.sizes()) + " differ in shape");
    }
    if (operation_.divided != 0 || operation_.count != 0) {
      mean();
    }
  }

  void reduce_scatter() const {
    tensor(operation_.input, "input");
    tensor(operation_.output, "output");
    reducible();
    const auto& counts = operation_.input_counts;
    numel(operation_.input, "input", total(counts, operation_.output.numel() * group_.size));
    numel(operation_.output, "output", own(counts, operation_.output.numel()));
  }

  void all_gather() const {
    tensor(operation_.input, "input");
    tensor(operation_.output, "output");
    same_dtype();
    const auto& counts = operation_.output_counts;
    numel(operation_.output, "output", total(counts, operation_.input.numel() * group_.size));
    numel(operation_.input, "input", own(counts, operation_.input.numel()));
  }

  void broadcast() const {
    tensor(operation_.output, "tensor");
    member("root");
  }

  void all_to_all() const {
    tensor(operation_.input, "input");
    tensor(operation_.output, "output");
    same_dtype();
    divided(operation_.input, "input", operation_.input_counts);
    divided(operation_.output, "output", operation_.output_counts);
    if (operation_.input.numel() > 0 &&
        operation_.input.data_ptr() == operation_.output.data_ptr()) {
      refuse("input and output are the same memory");
    }
  }

  void divided(const at::Tensor& tensor, const char* name,
               const std::vector<std::int64_t>& counts) const {
    numel(tensor, name, total(counts, tensor.numel()));
    if (counts.empty() && tensor.numel() % group_.size != 0) {
      refuse(std::string(name) + " " + to_text(tensor.sizes()) + " has " +
             std::to_string(tensor.numel()) + " elements, which " + std::to_string(group_.size) +
             " ranks cannot share equally; pass counts");
    }
  }

  void member(const char* name) const {
    if (operation_.peer < 0 || operation_.peer >= group_.size) {
      refuse(std::string(name) + " is " + std::to_string(operation_.peer) +
             ", the group has ranks 0 to " + std::to_string(group_.size - 1));
    }
  }

  void point_to_point(const at::Tensor& value, const char* name) const {
    tensor(value, name);
    member("peer");
    if (operation_.peer == group_.rank) {
      refuse("peer is this rank itself, " + std::to_string(group_.rank));
    }
    if (operation_.tag < 0 || operation_.tag > largest_tag) {
      refuse("tag is " + std::to_string(operation_.tag) + ", expected 0 to " +
             std::to_string(largest_tag));
    }
  }

  const Operation& operation_;
  const GroupShape& group_;
};

}  // namespace

void check_arguments(const Operation& operation, const GroupShape& group) {
  Check(operation, group).run();
}

}  // namespace muster

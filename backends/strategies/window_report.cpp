#include "window_report.hpp"

#include <algorithm>

namespace muster {
namespace {

/// Calls visit with each number, in the order in which they lie in the tail.
template <class Report, class Visit>
void for_each_number(Report& report, Visit visit) {
  visit(report.left);
  for (auto* agreed : {&report.steps, &report.closings}) {
    visit(agreed->number);
    visit(agreed->square);
  }
  for (auto* list : {&report.micro_steps, &report.used, &report.late}) {
    std::ranges::for_each(*list, visit);
  }
}

}  // namespace

WindowReport::WindowReport(std::size_t buckets, std::size_t slots)
    : micro_steps(buckets), used(slots), late(slots) {}

std::int64_t WindowReport::numel(std::size_t buckets, std::size_t slots) {
  return static_cast<std::int64_t>(5 + buckets + 2 * slots);
}

void WindowReport::write(const at::Tensor& tail) const {
  if (tail.device() != at::kCPU || tail.scalar_type() != at::kFloat) {
    const auto host = tail.new_empty(tail.sizes(), at::TensorOptions(at::kFloat).device(at::kCPU));
    write(host);
    tail.copy_(host);
    return;
  }
  auto* next = tail.mutable_data_ptr<float>();
  for_each_number(*this, [&](double number) { *next++ = static_cast<float>(number); });
}

void WindowReport::read(const at::Tensor& tail) {
  if (tail.device() != at::kCPU || tail.scalar_type() != at::kFloat) {
    return read(tail.to(at::TensorOptions(at::kFloat).device(at::kCPU)));
  }
  const auto* next = tail.const_data_ptr<float>();
  for_each_number(*this, [&](double& number) { number = *next++; });
}

void WindowReport::Agreed::set(std::uint64_t value) {
  number = static_cast<double>(value % 61);
  square = number * number;
}

bool WindowReport::Agreed::holds(int ranks) const {
  // The variance is zero exactly if all are equal.
  return ranks * square == number * number;
}

}  // namespace muster

#include "window_report.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace muster {
namespace {

constexpr double sum_part = 4096;  // Of up to 4096 ranks the sum is below 2^24.

/// Calls visit with each number, in the order in which they lie in the tail.
template <class Report, class Visit>
void for_each_number(Report& report, Visit visit) {
  for (auto* flag : {&report.left, &report.plain, &report.weighed, &report.scaled, &report.scale}) {
    visit(*flag);
  }
  for (auto* agreed : {&report.steps, &report.closings, &report.scale_bits}) {
    visit(agreed->number);
    visit(agreed->square);
  }
  for (auto& weight : report.weights) {
    visit(weight.high);
    visit(weight.low);
  }
  for (auto* list : {&report.used, &report.late}) std::ranges::for_each(*list, visit);
}

}  // namespace

WindowReport::WindowReport(std::size_t buckets, std::size_t slots)
    : weights(buckets), used(slots), late(slots) {}

std::int64_t WindowReport::numel(std::size_t buckets, std::size_t slots) {
  return static_cast<std::int64_t>(11 + 2 * buckets + 2 * slots);
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

void WindowReport::set_scale(double value) {
  scaled = 1;
  scale = value;
  scale_bits.set(std::bit_cast<std::uint64_t>(value));
}

void WindowReport::Sum::set(double value) {
  high = std::floor(value / sum_part);
  low = value - high * sum_part;
}

double WindowReport::Sum::value() const { return high * sum_part + low; }

void WindowReport::Agreed::set(std::uint64_t value) {
  number = static_cast<double>(value % 61);
  square = number * number;
}

bool WindowReport::Agreed::holds(int ranks) const {
  // The variance is zero exactly if all are equal.
  return ranks * square == number * number;
}

}  // namespace muster

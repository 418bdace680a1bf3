#include "check/bench.hpp"

#include <utility>

namespace muster::check {

Bench::Bench(World world, Settings settings)
    : world_(std::move(world)), settings_(std::move(settings)) {
  world_.timeout = std::chrono::ceil<std::chrono::milliseconds>(settings_.launch.comm_timeout);
}

void Bench::join() {
  session_ = Session::join(world_, settings_.train.communicator, settings_.train.debug);
}

AcceleratorOptions Bench::options() const {
  AcceleratorOptions options;
  options.gradient_accumulation_steps = 1;
  return options;
}

void Bench::fault(std::string where, std::string expected, std::string found) {
  constexpr std::size_t most = 3;  // The first explain the others.
  if (findings_.faults.size() < most) {
    findings_.faults.push_back({std::move(where), std::move(expected), std::move(found)});
  }
  ++findings_.fault_count;
}

void Bench::expect(bool holds, std::string where, std::string expected, std::string found) {
  if (!holds) fault(std::move(where), std::move(expected), std::move(found));
}

void Bench::expect_same(const std::string& where, const at::Tensor& expected,
                        const at::Tensor& found, const at::Tensor& bound) {
  auto difference = first_difference(expected, found, bound);
  if (difference.place.empty()) return;
  fault(where + ", " + difference.place, std::move(difference.expected),
        std::move(difference.found));
}

Findings Bench::take_findings() { return std::exchange(findings_, {}); }

}  // namespace muster::check

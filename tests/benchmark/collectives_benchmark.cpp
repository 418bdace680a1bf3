#include "collectives_benchmark.hpp"

#include <muster/communicators.hpp>

#include "timing.hpp"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstdio>
#include <functional>

namespace muster::benchmark {
namespace {

constexpr int not_counted = 3;

class Collectives {
 public:
  Collectives(Communicator& group, int repeats, std::int64_t bytes)
      : group_(group),
        repeats_(static_cast<int>(std::clamp<std::int64_t>(
            repeats * (std::int64_t{1} << 20) / bytes, std::min(5, repeats), repeats))),
        whole_(at::ones({bytes / 4})),
        part_(at::ones({bytes / 4 / group.size()})),
        copy_(at::zeros({bytes / 4})) {}

  double all_reduce() {
    return measure([&] { group_.all_reduce(whole_, ReduceOp::sum, "all_reduce").wait(); });
  }
  double all_gather() {
    return measure([&] { group_.all_gather(whole_, part_, "all_gather").wait(); });
  }
  double reduce_scatter() {
    return measure([&] { group_.reduce_scatter(part_, whole_, "reduce_scatter").wait(); });
  }
  double copy() {
    return measure([&] { copy_.copy_(whole_); });
  }

 private:
  double measure(const std::function<void()>& work) {
    std::vector<double> times;
    for (int i = 0; i < not_counted + repeats_; ++i) {
      group_.barrier("together").wait();
      const double ms = time_ms(work);
      if (i >= not_counted) times.push_back(ms);
    }
    return median(times);
  }

  Communicator& group_;
  int repeats_;
  at::Tensor whole_, part_, copy_;
};

}  // namespace

void measure_collectives(const std::string& communicator, int repeats,
                         std::span<const std::int64_t> sizes) {
  const World world = World::from_environment(current_environment());
  Endpoint endpoint;
  endpoint.rank = world.rank;
  endpoint.size = world.size;
  endpoint.rendezvous = Rendezvous::open(world);
  const auto group = connect(communicator, endpoint).communicator;
  std::string line = "{";
  for (const std::int64_t bytes : sizes) {
    Collectives of(*group, repeats, bytes);
    char text[256];
    std::snprintf(
        text, sizeof text,
        R"(%s"%lld": {"all_reduce": %.5f, "all_gather": %.5f, "reduce_scatter": %.5f, "copy": %.5f})",
        line.size() > 1 ? ", " : "", static_cast<long long>(bytes), of.all_reduce(),
        of.all_gather(), of.reduce_scatter(), of.copy());
    line += text;
  }
  if (world.rank == 0) std::printf("%s}\n", line.c_str());
}

}  // namespace muster::benchmark

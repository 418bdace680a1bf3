// send and receive around the ring of ranks: by peer and tag, in the order of their calls.

#include "check/checks.hpp"
#include "check/lists.hpp"

#include <ATen/ops/zeros.h>

namespace muster::check {
namespace {

void ring(Bench& bench, at::ScalarType dtype, std::int64_t numel) {
  auto& group = bench.group();
  const int next = (group.rank() + 1) % group.size();
  const int previous = (group.rank() + group.size() - 1) % group.size();
  constexpr int tags[] = {4, 4, 9};
  std::vector<at::Tensor> received;
  std::vector<Work> works;
  for (const int tag : tags) {
    received.push_back(at::zeros({numel}, dtype).to(group.device()));
    works.push_back(group.receive(received.back(), previous, tag, "check"));
  }
  const auto message = [&](int rank, int which) {
    return bench.numbers().of(3 * rank + which, numel, dtype);
  };
  for (const int which : {2, 0, 1}) {  // The other tag goes first.
    const auto tensor = message(group.rank(), which).to(group.device());
    works.push_back(group.send(tensor, next, tags[which], "check"));
  }
  for (auto& work : works) work.wait();
  for (int which = 0; which < 3; ++which) {
    bench.expect_same(which == 2   ? "another tag"
                      : which == 0 ? "first message"
                                   : "second message",
                      message(previous, which), received[static_cast<std::size_t>(which)]);
  }
}

}  // namespace

void check_send_receive(Bench& bench) {
  if (bench.group().size() == 1) {
    bench.not_checked("send, receive: one rank talks to nobody; -n 2 checks it");
    return;
  }
  const auto dtypes = dtypes_here(bench, {at::kFloat, at::kBFloat16, at::kLong});
  for (const auto numel : lengths) {
    for (const auto dtype : dtypes) ring(bench, dtype, numel);
  }
  bench.looked_at("around the ring, two tags; " + count_text(dtypes));
}

}  // namespace muster::check

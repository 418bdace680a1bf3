#include <muster/loop_state.hpp>

#include <catch2/catch_test_macros.hpp>

namespace muster::test {

TEST_CASE("the loop state tells of the innermost loader") {
  LoopState loop;
  const int outer = 0;
  const int inner = 0;
  CHECK_FALSE(loop.in_loader());
  CHECK_FALSE(loop.end_of_loader());
  CHECK(loop.real_samples() == -1);

  loop.enter(&outer);
  CHECK(loop.in_loader());
  CHECK_FALSE(loop.end_of_loader());
  loop.update(&outer, true, 3);
  CHECK(loop.end_of_loader());
  CHECK(loop.real_samples() == 3);

  loop.enter(&inner);
  CHECK_FALSE(loop.end_of_loader());
  CHECK(loop.real_samples() == -1);
  loop.update(&inner, true, 1);
  CHECK(loop.real_samples() == 1);
  loop.leave(&inner);
  CHECK(loop.end_of_loader());
  CHECK(loop.real_samples() == 3);
  CHECK(loop.batches() == 2);
  loop.leave(&outer);
  CHECK_FALSE(loop.in_loader());
}

TEST_CASE("a loader may leave before one that began later") {
  LoopState loop;
  const int outer = 0;
  const int inner = 0;
  loop.enter(&outer);
  loop.enter(&inner);
  loop.update(&inner, true, 2);
  loop.leave(&outer);
  CHECK(loop.end_of_loader());
  CHECK(loop.real_samples() == 2);
  loop.leave(&outer);
  CHECK(loop.in_loader());
  loop.leave(&inner);
  CHECK_FALSE(loop.in_loader());
}

}  // namespace muster::test

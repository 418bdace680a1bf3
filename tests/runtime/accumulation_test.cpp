#include "accumulation.hpp"

#include <muster/loop_state.hpp>
#include <muster/split.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string>

using muster::Accumulation;
using muster::LoopState;

namespace {

/// '1' for each micro-step that closes its window, '0' for others; spaces between epochs.
struct Loop {
  int epochs = 1, batches = 1, slices = 1, steps = 1;
  bool at_end_of_loader = true;
  int last_slices = slices;  ///< Of the last batch.

  std::string flags() const {
    LoopState state;
    Accumulation accumulation;
    std::string result;
    for (int epoch = 0; epoch < epochs; ++epoch) {
      if (epoch > 0) result += ' ';
      state.enter(this);
      for (int batch = 0; batch < batches; ++batch) {
        state.update(this, batch + 1 == batches, -1);
        const bool last = batch + 1 == batches;
        for (int slice = 0; slice < (last ? last_slices : slices); ++slice) {
          const bool closes = accumulation.next(steps, at_end_of_loader, state);
          if (closes) accumulation.close();
          result += closes ? '1' : '0';
        }
      }
      state.leave(this);
    }
    return result;
  }
};

}  // namespace

TEST_CASE("every micro-step closes its window without accumulation") {
  CHECK(Loop{.epochs = 2, .batches = 3}.flags() == "111 111");
}

TEST_CASE("the end of the loader closes the window") {
  CHECK(Loop{.epochs = 2, .batches = 10, .steps = 4}.flags() == "0001000101 0001000101");
  CHECK(Loop{.epochs = 2, .batches = 5, .steps = 2}.flags() == "01011 01011");
}

TEST_CASE("this can be switched off, and windows go on over epochs") {
  CHECK(Loop{.epochs = 2, .batches = 10, .steps = 4, .at_end_of_loader = false}.flags() ==
        "0001000100 0100010001");
  CHECK(Loop{.epochs = 2, .batches = 5, .steps = 3, .at_end_of_loader = false}.flags() ==
        "00100 10010");
}

TEST_CASE("micro-steps cut from one batch do not each count as the loader's last") {
  CHECK(Loop{.batches = 3, .slices = 4, .steps = 4}.flags() == "000100010001");
  CHECK(Loop{.batches = 3, .slices = 2, .steps = 4}.flags() == "000101");
}

TEST_CASE("a last batch that is cut otherwise than the one before") {
  // With fewer parts the next micro-step closes the window, whichever it is.
  CHECK(Loop{.epochs = 3, .batches = 3, .slices = 2, .steps = 8, .last_slices = 1}.flags() ==
        "00000 10000 10000");
  CHECK(Loop{.epochs = 2,
             .batches = 2,
             .slices = 2,
             .steps = 8,
             .at_end_of_loader = false,
             .last_slices = 1}
            .flags() == "000 000");
  // With more, each further one has a window of its own.
  CHECK(Loop{.batches = 2, .slices = 2, .steps = 8, .last_slices = 4}.flags() == "000111");
}

TEST_CASE("how often a loader's only batch is cut is known from the second epoch on") {
  CHECK(Loop{.epochs = 2, .batches = 1, .slices = 4, .steps = 4}.flags() == "1111 0001");
}

TEST_CASE("a window that may not close closes later") {
  const LoopState state;
  Accumulation accumulation;
  CHECK_FALSE(accumulation.next(2, true, state));
  CHECK(accumulation.next(2, true, state));
  CHECK(accumulation.next(2, true, state));
  accumulation.close();
  CHECK_FALSE(accumulation.next(2, true, state));
}

TEST_CASE("without a loader only the number of micro-steps counts") {
  const LoopState state;
  Accumulation accumulation;
  std::string flags;
  for (int i = 0; i < 7; ++i) {
    const bool closes = accumulation.next(3, true, state);
    if (closes) accumulation.close();
    flags += closes ? '1' : '0';
  }
  CHECK(flags == "0010010");
}

TEST_CASE("a part of items for each rank") {
  using muster::split_range;
  CHECK(split_range(7, 0, 3).begin == 0);
  CHECK(split_range(7, 0, 3).end == 3);
  CHECK(split_range(7, 1, 3).end == 5);
  CHECK(split_range(7, 2, 3).begin == 5);
  CHECK(split_range(7, 2, 3).end == 7);
  CHECK(split_range(7, 2, 3).longest == 3);
  CHECK(split_range(2, 2, 3).begin == split_range(2, 2, 3).end);
  CHECK(split_range(0, 0, 3).longest == 0);
}

#include <muster/device.hpp>
#include <muster/error.hpp>

#include "backends/catch.hpp"
#include "backends/values.hpp"
#include "devices/cpu/narrow.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace muster::test {
namespace {

const Kernels& kernels() { return device_kind(at::kCPU).kernels(); }

bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

TEST_CASE("float16 and bfloat16 become float32 as in LibTorch, all of them") {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto raw = static_cast<std::uint16_t>(bits);
    if (!same(cpu::widen(cpu::Float16{raw}),
              static_cast<float>(c10::Half(raw, c10::Half::from_bits()))) ||
        !same(cpu::widen(cpu::Bfloat16{raw}),
              static_cast<float>(c10::BFloat16(raw, c10::BFloat16::from_bits())))) {
      FAIL("bits " << bits);
    }
  }
  SUCCEED();
}

TEST_CASE("float32 rounds to float16 and bfloat16 as in LibTorch") {
  std::mt19937 random(7);
  for (std::uint32_t i = 0; i < 3'000'000; ++i) {
    // All exponents in turn, and near every border between two float16.
    const auto near = (i << 12) + static_cast<std::uint32_t>(random() % 3) - 1;
    const auto bits = i < 1'000'000 ? static_cast<std::uint32_t>(random()) : near;
    const auto value = std::bit_cast<float>(bits);
    if (std::isnan(value)) {
      continue;
    }
    if (cpu::to_float16(value).bits != c10::Half(value).x ||
        cpu::to_bfloat16(value).bits != c10::BFloat16(value).x) {
      FAIL("value " << value << " bits " << bits);
    }
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(cpu::widen(cpu::to_float16(nan))));
  CHECK(std::isnan(cpu::widen(cpu::to_bfloat16(nan))));
}

TEST_CASE("sum_into adds as LibTorch does, and takes narrow sources") {
  for (const auto dtype : {at::kFloat, at::kDouble, at::kLong, at::kInt, at::kByte}) {
    for (const std::int64_t numel : {0, 1, 1025, 40000}) {
      auto ours = values(0, {numel}, dtype);
      const auto theirs = ours.clone().add_(values(1, {numel}, dtype));
      kernels().sum_into(ours, values(1, {numel}, dtype));
      CHECK(same_bits(ours, theirs));
    }
  }
  for (const auto dtype : {at::kBFloat16, at::kHalf}) {
    auto ours = values(0, {5000}, at::kFloat);
    const auto theirs = ours.clone().add_(values(1, {5000}, dtype).to(at::kFloat));
    kernels().sum_into(ours, values(1, {5000}, dtype));
    CHECK(same_bits(ours, theirs));
  }
  CHECK_THROWS_AS(kernels().sum_into(at::zeros({2}), at::zeros({3})), ConfigError);
  CHECK_THROWS_AS(kernels().sum_into(at::zeros({2}, at::kHalf), at::zeros({2})), UnsupportedError);
}

TEST_CASE("a NaN makes minimum and maximum NaN, infinities stay") {
  const float infinity = std::numeric_limits<float>::infinity();
  auto tensor = at::zeros({2});
  tensor.mutable_data_ptr<float>()[0] = infinity;
  CHECK(kernels().square_sum(tensor) == static_cast<double>(infinity));
  tensor.mutable_data_ptr<float>()[1] = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(kernels().square_sum(tensor)));
}

TEST_CASE("a sum of squares, rounded once, does not depend on how it is cut") {
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  for (int round = 0; round < 30; ++round) {
    const std::int64_t numel = 1 + static_cast<std::int64_t>(random() % 60000);
    auto tensor = at::empty({numel});
    auto* const data = tensor.mutable_data_ptr<float>();
    for (std::int64_t i = 0; i < numel; ++i) {
      data[i] = std::ldexp(normal(random), static_cast<int>(random() % 41) - 20);
    }
    const auto whole = static_cast<float>(kernels().square_sum(tensor));
    for (int cuts = 0; cuts < 20; ++cuts) {
      const auto parts = static_cast<std::int64_t>(2 + random() % 16);
      const auto share = (numel + parts - 1) / parts;
      double sum = 0.0;
      for (std::int64_t begin = 0; begin < numel; begin += share) {
        sum += kernels().square_sum(tensor.narrow(0, begin, std::min(share, numel - begin)));
      }
      REQUIRE(same(static_cast<float>(sum), whole));
    }
  }
}

TEST_CASE("a sum of squares keeps what plain addition loses") {
  // Squares of 2^-30 beside one of 1: each alone vanishes next to 1 in fp64.
  auto tensor = at::empty({1 << 16}).fill_(std::ldexp(1.0, -30));
  tensor.mutable_data_ptr<float>()[0] = 1.0F;
  const double expected = 1.0 + 65535.0 * std::ldexp(1.0, -60);
  CHECK(kernels().square_sum(tensor) == expected);
  CHECK(kernels().square_sum(at::zeros({0})) == 0.0);
  CHECK(kernels().square_sum(at::zeros({3}, at::kBFloat16).fill_(3)) == 27.0);
  CHECK_THROWS_AS(kernels().square_sum(at::zeros({3}, at::kLong)), UnsupportedError);
}

TEST_CASE("scale multiplies, cast converts") {
  auto tensor = values(0, {1001}, at::kFloat);
  const auto scaled = tensor.mul(0.3F);
  kernels().scale(tensor, 0.3F);
  CHECK(same_bits(tensor, scaled));
  CHECK_THROWS_AS(kernels().scale(at::zeros({2}, at::kLong), 2.0), UnsupportedError);
  const std::vector<at::ScalarType> dtypes{at::kFloat, at::kDouble, at::kHalf, at::kBFloat16,
                                           at::kLong};
  for (const auto from : dtypes) {
    for (const auto to : dtypes) {
      const auto source = values(2, {1003}, from);
      auto output = at::zeros({1003}, to);
      kernels().cast(output, source);
      CHECK(same_bits(output, source.to(to)));
    }
  }
}

TEST_CASE("loops over memory refuse tensors that are not contiguous") {
  const auto turned = at::zeros({4, 3}).t();
  const auto every_other = at::zeros({8}).slice(0, 0, 8, 2);
  for (const auto& tensor : {turned, every_other}) {
    const auto whole = at::zeros(tensor.sizes());
    CHECK_THROWS_AS(kernels().scale(tensor, 2.0), ConfigError);
    CHECK_THROWS_AS(kernels().square_sum(tensor), ConfigError);
    CHECK_THROWS_AS(kernels().sum_into(tensor, whole), ConfigError);
    CHECK_THROWS_AS(kernels().sum_into(whole, tensor), ConfigError);
    CHECK_THROWS_AS(kernels().cast(tensor, whole), ConfigError);
    CHECK_THROWS_AS(kernels().cast(whole, tensor), ConfigError);
  }
}

TEST_CASE("scale multiplies every dtype that gradients have, in the type that it is computed in") {
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    for (const std::int64_t numel : {0, 1, 31, 5003}) {
      auto tensor = values(1, {numel}, dtype);
      const auto wide = dtype == at::kDouble ? at::kDouble : at::kFloat;
      const auto expected = tensor.to(wide).mul(1.0 / 3.0).to(dtype);
      kernels().scale(tensor, 1.0 / 3.0);
      CHECK(same_bits(tensor, expected));
    }
  }
}

TEST_CASE("the kind of a device is found, and one that is missing is named") {
  CHECK(device_kind(at::kCPU).name() == "cpu");
  CHECK(device_kind(at::kCPU).count() == 1);
  CHECK(device_kind(at::kCPU).memory_bytes(0) > 1'000'000);
  const auto& cpu = device_kind(at::kCPU);
  const auto state = cpu.rng_state(0);
  const auto first = at::empty({5}).uniform_();
  cpu.set_rng_state(0, state);
  CHECK(at::equal(at::empty({5}).uniform_(), first));
  CHECK_THROWS_AS(device_kind(at::Device("xla:0")), UnsupportedError);
}

TEST_CASE("unscale multiplies and sees what is not finite, wherever it is") {
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    const auto values = at::zeros({1000}, dtype).fill_(6);
    CHECK(kernels().unscale(values, 0.5));
    CHECK(at::equal(values, at::zeros({1000}, dtype).fill_(3)));
    for (const double broken :
         {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::quiet_NaN()}) {
      for (const int place : {0, 7, 512, 999}) {
        const auto one = values.clone();
        one[place] = broken;
        CHECK_FALSE(kernels().unscale(one, 1));
        CHECK(one[1].item<double>() == 3);
      }
    }
    CHECK(kernels().unscale(values.narrow(0, 0, 0), 1));
  }
  // It overflows on the way.
  CHECK_FALSE(kernels().unscale(at::zeros({3}, at::kFloat).fill_(3e38), 2));
  CHECK_THROWS_AS(kernels().unscale(at::zeros({3}, at::kHalf), 1), UnsupportedError);
}

TEST_CASE("a CPU trains in bf16 and fp16, and in no other narrow dtype") {
  const auto& cpu = device_kind(at::kCPU);
  CHECK(cpu.autocasting(at::kBFloat16) != Autocasting::none);
  CHECK(cpu.autocasting(at::kHalf) != Autocasting::none);
  CHECK(cpu.autocasting(at::kFloat8_e4m3fn) == Autocasting::none);
}

}  // namespace
}  // namespace muster::test

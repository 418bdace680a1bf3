#include <muster/safetensors.hpp>

#include "runtime/command.hpp"
#include "temporary_folder.hpp"

#include <ATen/Functions.h>
#include <catch2/catch_test_macros.hpp>
#include <support/paths.hpp>

namespace muster::test {
namespace {

std::string hex(const at::Tensor& tensor) {
  const auto* bytes = static_cast<const unsigned char*>(tensor.const_data_ptr());
  std::string text;
  for (std::size_t i = 0; i < tensor.nbytes(); ++i) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[bytes[i] >> 4U];
    text += digits[bytes[i] & 15U];
  }
  return text;
}

}  // namespace

TEST_CASE("Python's safetensors reads what we write, and we what it writes") {
  const std::string here = std::string(source_dir) + "/tests/runtime/checkpoint/";
  const auto python = python_package("safetensors 0.8.0");

  const std::vector<std::pair<std::string, at::ScalarType>> dtypes = {
      {"BF16", at::kBFloat16},
      {"BOOL", at::kBool},
      {"C64", at::kComplexFloat},
      {"F16", at::kHalf},
      {"F32", at::kFloat},
      {"F64", at::kDouble},
      {"F8_E4M3", at::kFloat8_e4m3fn},
      {"F8_E5M2", at::kFloat8_e5m2},
      {"F8_E8M0", at::kFloat8_e8m0fnu},
      {"I16", at::kShort},
      {"I32", at::kInt},
      {"I64", at::kLong},
      {"I8", at::kChar},
      {"U16", at::kUInt16},
      {"U32", at::kUInt32},
      {"U64", at::kUInt64},
      {"U8", at::kByte}};
  std::vector<NamedTensor> tensors;
  std::string expected;
  for (const auto& [name, dtype] : dtypes) {
    tensors.push_back({name, at::arange(6).reshape({3, 2}).to(dtype)});
    expected += name + " " + name + " [3, 2] " + hex(tensors.back().tensor) + "\n";
  }
  tensors.push_back({"empty", at::empty({0, 2})});
  tensors.push_back({"scalar", at::scalar_tensor(2.0F)});
  tensors.push_back({"transposed", at::arange(4.0F).reshape({2, 2}).t()});
  tensors.push_back({"tied", tensors.back().tensor});
  expected += "empty F32 [0, 2] \nscalar F32 [] 00000040\n";
  expected +=
      "transposed F32 [2, 2] 0000000000000040"
      "0000803f00004040\n";

  const TemporaryFolder folder;
  save_safetensors(folder / "ours", tensors);
  const auto exchange =
      run_command("PYTHONPATH='" + python + "' python3 '" + here + "exchange.py' '" +
                  (folder / "ours").string() + "' '" + (folder / "theirs").string() + "' 2>&1");
  CHECK(exchange.text == expected);
  REQUIRE(exchange.status == 0);

  const Safetensors read = load_safetensors(folder / "theirs");
  CHECK(read.metadata.at("written by") == "python");
  CHECK(read.tensors.size() == tensors.size() - 1);
  for (const NamedTensor& named : tensors) {
    if (named.name == "tied") continue;
    CAPTURE(named.name);
    const at::Tensor* found = read.find(named.name);
    REQUIRE(found != nullptr);
    CHECK(found->scalar_type() == named.tensor.scalar_type());
    CHECK(hex(*found) == hex(named.tensor.contiguous()));
  }
}

}  // namespace muster::test

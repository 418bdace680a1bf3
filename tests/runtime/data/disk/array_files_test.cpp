#include <muster/array_files.hpp>

#include "made_files.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <random>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// A .npy file of format 1.
std::string npy(const std::string& header, std::size_t data_bytes) {
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header +
         std::string(data_bytes, '\0');
}

std::string description(const std::string& descr, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }\n";
}

void check_refused(const std::string& bytes, const std::string& reason) {
  const TemporaryFolder folder;
  write_bytes(folder / "a.npy", bytes);
  CHECK_THROWS_MATCHES(map_npy(folder / "a.npy"), DataError,
                       MessageMatches(ContainsSubstring("a.npy: ") && ContainsSubstring(reason)));
}

}  // namespace

TEST_CASE("arrays that NumPy has saved are read, of every dtype") {
  const std::vector<std::pair<std::string, at::ScalarType>> dtypes{
      {"bool", at::kBool},
      {"uint8", at::kByte},
      {"int8", at::kChar},
      {"uint16", at::kUInt16},
      {"int16", at::kShort},
      {"uint32", at::kUInt32},
      {"int32", at::kInt},
      {"uint64", at::kUInt64},
      {"int64", at::kLong},
      {"float16", at::kHalf},
      {"float32", at::kFloat},
      {"float64", at::kDouble},
      {"complex64", at::kComplexFloat},
      {"complex128", at::kComplexDouble}};
  for (const auto& [name, dtype] : dtypes) {
    CAPTURE(name);
    const at::Tensor array = map_npy(made_files() / (name + ".npy"));
    CHECK(array.scalar_type() == dtype);
    CHECK(at::equal(array.to(at::kComplexDouble),
                    at::arange(6).reshape({2, 3}).to(dtype).to(at::kComplexDouble)));
  }
}

TEST_CASE("arrays keep their shape and their order in memory") {
  const at::Tensor counted = at::arange(6).reshape({2, 3});
  const at::Tensor columns = map_npy(made_files() / "fortran.npy");
  CHECK(columns.strides() == at::IntArrayRef{1, 2});
  CHECK(at::equal(columns, counted.to(at::kFloat)));
  const at::Tensor scalar = map_npy(made_files() / "scalar.npy");
  CHECK(scalar.dim() == 0);
  CHECK(scalar.item<float>() == 7);
  CHECK(map_npy(made_files() / "empty.npy").sizes() == at::IntArrayRef{0, 3});
  CHECK(at::equal(map_npy(made_files() / "version2.npy"), counted));
  CHECK(at::equal(map_npy(made_files() / "version3.npy"), counted));
}

TEST_CASE("a changed tensor changes no file, and outlives its name") {
  const TemporaryFolder folder;
  write_numbers<std::int32_t>(folder / "a.bin", {1, 2, 3});
  at::Tensor first = map_binary(folder / "a.bin", at::kInt);
  first.mul_(10);
  const at::Tensor second = map_binary(folder / "a.bin", at::kInt);
  std::filesystem::remove(folder / "a.bin");
  CHECK(at::equal(first, at::tensor({10, 20, 30}, at::kInt)));
  CHECK(at::equal(second, at::tensor({1, 2, 3}, at::kInt)));
}

TEST_CASE("numbers after a header of any length are read") {
  const TemporaryFolder folder;
  write_bytes(folder / "a.bin", std::string("abc") + std::string("\x01\x00\x02\x00", 4));
  CHECK(at::equal(map_binary(folder / "a.bin", at::kShort, 3), at::tensor({1, 2}, at::kShort)));
  CHECK(map_binary(folder / "a.bin", at::kShort, 7).numel() == 0);
  CHECK_THROWS_MATCHES(map_binary(folder / "a.bin", at::kShort), DataError,
                       MessageMatches(ContainsSubstring("7 bytes less 0 are no whole number")));
  CHECK_THROWS_AS(map_binary(folder / "a.bin", at::kShort, 9), DataError);
  CHECK_THROWS_AS(map_binary(folder / "a.bin", at::kShort, -1), ConfigError);
  CHECK_THROWS_MATCHES(map_binary(folder / "none", at::kShort), DataError,
                       MessageMatches(ContainsSubstring("No such file")));
  CHECK_THROWS_MATCHES(map_binary(folder.path(), at::kShort), DataError,
                       MessageMatches(ContainsSubstring("it is a folder")));
}

TEST_CASE("what is no .npy file, or holds what no tensor can, is refused with the reason") {
  check_refused("", "no .npy file");
  check_refused("\x93NUMPY\x01", "no .npy file");
  check_refused(std::string("\x93NUMPY\x09\x00\x00\x00", 10), "format 9");
  check_refused(std::string("\x93NUMPY\x01\x00\xff\xff", 10), "header is cut off");
  check_refused(npy("{'descr': '<f4'}", 0), "no description of an array");
  check_refused(npy(description("'<f4'", "(2, -3)"), 100), "no description of an array");
  check_refused(npy(description("'<f4'", "(2, 3)"), 23), "should be 24 bytes long, there are 23");
  check_refused(npy(description("'<f4'", "(4611686018427387904, 4)"), 8), "over 2^64");
  check_refused(npy(description("'O'", "(1,)"), 8), "no tensor can hold its dtype 'O'");
  CHECK_THROWS_MATCHES(map_npy(made_files() / "big_endian.npy"), DataError,
                       MessageMatches(ContainsSubstring("big-endian ('>i4')")));
  CHECK_THROWS_MATCHES(map_npy(made_files() / "records.npy"), DataError,
                       MessageMatches(ContainsSubstring("records with fields")));
  CHECK_THROWS_MATCHES(map_npy(made_files() / "text.npy"), DataError,
                       MessageMatches(ContainsSubstring("dtype '<U2'")));
}

TEST_CASE("a damaged .npy file is read or refused, and nothing else") {
  const std::string sound = bytes_of(made_files() / "float32.npy");
  const TemporaryFolder folder;
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = sound.substr(0, 1 + random() % sound.size());
    for (int change = 0; change < 2; ++change) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    write_bytes(folder / "a.npy", damaged);
    try {
      (void)map_npy(folder / "a.npy").sum();
    } catch (const DataError&) {
      ++refused;
    } catch (const c10::Error&) {  // No sum of this dtype.
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("mapped safetensors equal those that are loaded") {
  const TemporaryFolder folder;
  const at::Tensor shared = at::arange(5.0F);
  save_safetensors(folder / "a.safetensors",
                   std::vector<NamedTensor>{{"a", at::arange(6).reshape({2, 3})},
                                            {"b", shared.to(at::kBFloat16)},
                                            {"none", at::empty({0, 4})},
                                            {"c", shared},
                                            {"tied", shared}},
                   {{"step", "7"}});
  const Safetensors loaded = load_safetensors(folder / "a.safetensors");
  Safetensors mapped = map_safetensors(folder / "a.safetensors");
  CHECK(mapped.metadata == loaded.metadata);
  REQUIRE(mapped.tensors.size() == loaded.tensors.size());
  for (std::size_t i = 0; i < mapped.tensors.size(); ++i) {
    CHECK(mapped.tensors[i].name == loaded.tensors[i].name);
    CHECK(mapped.tensors[i].tensor.scalar_type() == loaded.tensors[i].tensor.scalar_type());
    CHECK(at::equal(mapped.tensors[i].tensor, loaded.tensors[i].tensor));
  }
  const std::string before = bytes_of(folder / "a.safetensors");
  mapped.tensors[0].tensor.zero_();
  CHECK(bytes_of(folder / "a.safetensors") == before);
  write_bytes(folder / "short", "abc");
  CHECK_THROWS_MATCHES(map_safetensors(folder / "short"), CheckpointError,
                       MessageMatches(ContainsSubstring("it is 3 bytes long")));
  write_bytes(folder / "long", std::string("\xff\x00\x00\x00\x00\x00\x00\x00{}", 10));
  CHECK_THROWS_MATCHES(map_safetensors(folder / "long"), CheckpointError,
                       MessageMatches(ContainsSubstring("header should be 255 bytes")));
}

}  // namespace muster::test

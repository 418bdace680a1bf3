#include <muster/error.hpp>
#include <muster/safetensors.hpp>

#include "temporary_folder.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/stat.h>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Tensors = std::vector<NamedTensor>;

/// Equal bit by bit, whatever the dtype.
bool same_bits(const at::Tensor& one, const at::Tensor& other) {
  return one.scalar_type() == other.scalar_type() && one.sizes() == other.sizes() &&
         std::string_view(static_cast<const char*>(one.contiguous().const_data_ptr()),
                          one.nbytes()) ==
             std::string_view(static_cast<const char*>(other.const_data_ptr()), other.nbytes());
}

void check_round_trip(const Tensors& tensors) {
  const TemporaryFolder folder;
  save_safetensors(folder / "a.safetensors", tensors);
  const Safetensors read = load_safetensors(folder / "a.safetensors");
  REQUIRE(read.tensors.size() == tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    CAPTURE(tensors[i].name);
    CHECK(read.tensors[i].name == tensors[i].name);
    CHECK(same_bits(tensors[i].tensor, read.tensors[i].tensor));
  }
}

}  // namespace

TEST_CASE("the bytes of a safetensors file") {
  const TemporaryFolder folder;
  const Tensors tensors = {{"n", at::tensor({1, 0}).to(at::kBool)},
                           {"w", at::tensor({1.0F, -2.0F}).reshape({1, 2})}};
  save_safetensors(folder / "a", tensors, {{"format", "pt"}});
  // Wide elements come first in the data, names in the order given.
  const std::string header = R"({"__metadata__":{"format":"pt"},)"
                             R"("n":{"dtype":"BOOL","shape":[2],"data_offsets":[8,10]},)"
                             R"("w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";
  REQUIRE(header.size() == 142);
  using namespace std::string_literals;
  const std::string golden =
      "\x90\0\0\0\0\0\0\0"s + header + "  " + "\x00\x00\x80\x3f\x00\x00\x00\xc0"s + "\x01\x00"s;
  CHECK(bytes_of(folder / "a") == golden);
}

TEST_CASE("every dtype of the format survives") {
  Tensors tensors;
  for (const at::ScalarType dtype :
       {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kFloat8_e4m3fn, at::kFloat8_e5m2,
        at::kFloat8_e8m0fnu, at::kLong, at::kInt, at::kShort, at::kChar, at::kByte, at::kBool,
        at::kUInt16, at::kUInt32, at::kUInt64, at::kComplexFloat}) {
    tensors.push_back({c10::toString(dtype), at::arange(6).reshape({2, 3}).to(dtype)});
  }
  check_round_trip(tensors);
}

TEST_CASE("every shape survives") {
  const at::Tensor square = at::arange(12.0).reshape({3, 4});
  check_round_trip(
      {{"scalar", at::scalar_tensor(3.5)},
       {"none", at::empty({0})},
       {"no rows", at::empty({0, 3, 0})},
       {"transposed", square.t()},
       {"strided", square.slice(1, 0, 4, 2)},
       {"expanded", at::ones({1, 3}).expand({2, 3})},
       {"second none", at::empty({2, 0}, at::TensorOptions(at::kByte))},
       {"conjugated", at::complex(square, square).to(at::kComplexFloat).conj().resolve_conj()},
       {"name \"with\" \n \xc3\xa9", square}});
}

TEST_CASE("lazily conjugated and negated values are written out") {
  const TemporaryFolder folder;
  const at::Tensor value = at::complex(at::ones({2}), at::ones({2}));
  save_safetensors(folder / "a", Tensors{{"a", value.conj()}, {"b", at::imag(value.conj())}});
  const Safetensors read = load_safetensors(folder / "a");
  CHECK(at::equal(*read.find("a"), value.conj().resolve_conj()));
  CHECK(at::equal(*read.find("b"), -at::ones({2})));
}

TEST_CASE("a file without tensors") {
  const TemporaryFolder folder;
  save_safetensors(folder / "a", {});
  CHECK(load_safetensors(folder / "a").tensors.empty());
  save_safetensors(folder / "a", {}, {{"k", "v"}});
  CHECK(load_safetensors(folder / "a").metadata.at("k") == "v");
}

TEST_CASE("tied tensors are written once and found under every name") {
  const TemporaryFolder folder;
  const at::Tensor shared = at::rand({100, 10});
  const at::Tensor detached = shared.detach();
  save_safetensors(folder / "a", Tensors{{"embedding", shared},
                                         {"bias", at::ones({10})},
                                         {"head", detached},
                                         {"view", shared.narrow(0, 0, 50)},
                                         {"flipped", shared.t()}});
  const Safetensors read = load_safetensors(folder / "a");
  CHECK(read.tensors.size() == 4);
  CHECK(read.metadata == std::map<std::string, std::string>{{"head", "embedding"}});
  CHECK(read.find("head") == read.find("embedding"));
  CHECK(at::equal(*read.find("head"), shared));
  CHECK(at::equal(*read.find("view"), shared.narrow(0, 0, 50)));
  CHECK(at::equal(*read.find("flipped"), shared.t()));
  CHECK(read.find("tail") == nullptr);
}

TEST_CASE("metadata that names no tensor is no alias") {
  const TemporaryFolder folder;
  save_safetensors(folder / "a", Tensors{{"a", at::ones({1})}, {"b", at::ones({1})}},
                   {{"format", "pt"}, {"b", "a"}});
  const Safetensors read = load_safetensors(folder / "a");
  CHECK(read.find("format") == nullptr);
  CHECK(read.find("b") != read.find("a"));
}

TEST_CASE("what the format cannot hold is refused by name, and the old file stays") {
  const TemporaryFolder folder;
  write_bytes(folder / "a", "old");
  const auto refused = [&](const Tensors& tensors, const std::string& text,
                           const std::map<std::string, std::string>& metadata = {}) {
    CHECK_THROWS_WITH(save_safetensors(folder / "a", tensors, metadata),
                      ContainsSubstring((folder / "a").string()) && ContainsSubstring(text));
    CHECK_THROWS_AS(save_safetensors(folder / "a", tensors, metadata), CheckpointError);
  };
  const at::Tensor one = at::ones({2, 2});
  refused({{"x", at::Tensor()}}, "'x' is undefined");
  refused({{"x", at::complex(at::ones({2}, at::kDouble), at::ones({2}, at::kDouble))}},
          "'x' is of ComplexDouble");
  refused({{"x", one.to_sparse()}}, "'x' is not dense");
  refused({{"x", one.to(at::kMeta)}}, "'x' is on the meta device");
  refused({{"x", one}, {"x", at::ones({2})}}, "two tensors have the name 'x'");
  refused({{"__metadata__", one}}, "__metadata__");
  refused({{"\xff", one}}, "UTF-8");
  refused({{"x", one}, {"y", one}}, "'y'", {{"y", "something else"}});
  CHECK(bytes_of(folder / "a") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("a saved file has ordinary permissions, and links are followed") {
  const TemporaryFolder folder;
  const mode_t before = umask(0027);
  save_safetensors(folder / "a", Tensors{{"x", at::ones({1})}});
  umask(before);
  struct stat found {};
  REQUIRE(stat((folder / "a").c_str(), &found) == 0);
  CHECK((found.st_mode & 07777) == 0640);
  std::filesystem::create_symlink("a", folder / "link");
  save_safetensors(folder / "link", Tensors{{"y", at::ones({1})}});
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(load_safetensors(folder / "a").find("y") != nullptr);
}

}  // namespace muster::test

#include <muster/error.hpp>
#include <muster/safetensors.hpp>

#include "checkpoint/safetensors_header.hpp"
#include "temporary_folder.hpp"

#include <ATen/core/Tensor.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <random>
#include <sys/stat.h>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;

std::string file_of(std::uint64_t length, const std::string& rest) {
  std::string bytes(8, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(length & 0xffU);
    length >>= 8U;
  }
  return bytes + rest;
}
std::string file_of(const std::string& header, std::size_t data_bytes) {
  return file_of(header.size(), header + std::string(data_bytes, '\1'));
}

/// A tensor's entry of the header.
std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}
std::string header(const std::string& entries) { return "{" + entries + "}"; }

class Reader {
 public:
  void accepts(const std::string& bytes) const {
    write_bytes(folder_ / "a.st", bytes);
    CHECK_NOTHROW(load_safetensors(folder_ / "a.st"));
  }
  void refuses(const std::string& bytes, const std::string& why) const {
    write_bytes(folder_ / "a.st", bytes);
    CHECK_THROWS_AS(load_safetensors(folder_ / "a.st"), CheckpointError);
    CHECK_THROWS_WITH(load_safetensors(folder_ / "a.st"),
                      ContainsSubstring("a.st") && ContainsSubstring(why));
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("valid files that our own writer does not make") {
  const Reader reader;
  reader.accepts(file_of("{}", 0));
  reader.accepts(file_of("{}      ", 0));
  reader.accepts(file_of(header(entry("a", "F32", "[]", "[0,4]")), 4));
  reader.accepts(file_of(
      header(entry("a", "F32", "[0]", "[4,4]") + "," + entry("b", "F32", "[1]", "[0,4]")), 4));
  reader.accepts(file_of(
      header(entry("b", "U8", "[1]", "[2,3]") + "," + entry("a", "BF16", "[1,1]", "[0,2]")), 3));
  reader.accepts(
      file_of(R"({"__metadata__":{"x":"y","z":""},"a":{"shape":[1],"future":{"k":[1,{"l":null}]},)"
              R"("other":[[]],"more":3,"data_offsets":[0,1],"dtype":"I8"}})",
              1));
}

TEST_CASE("files that are too short") {
  const Reader reader;
  reader.refuses("", "0 bytes long");
  reader.refuses("1234567", "7 bytes long");
  reader.refuses(file_of(2, "{"), "should be 2 bytes");
  reader.refuses(file_of(header(entry("a", "F32", "[2]", "[0,8]")), 7), "outside of the data");
}

TEST_CASE("lengths beyond the file are not allocated") {
  const Reader reader;
  for (const std::uint64_t length :
       {std::uint64_t{99'000'000}, std::uint64_t{100'000'001}, std::uint64_t{1} << 40U,
        std::uint64_t{1} << 63U, ~std::uint64_t{0}, ~std::uint64_t{7}}) {
    reader.refuses(file_of(length, "{}"), "header should be");
  }
  reader.refuses(file_of(header(entry("a", "U8", "[4000000000000]", "[0,4000000000000]")), 4),
                 "outside of the data");
  reader.refuses(file_of(header(entry("a", "F64", "[4611686018427387904,4]", "[0,0]")), 0),
                 "too many to count");
  reader.refuses(file_of(header(entry("a", "F64", "[0,4611686018427387904,4]", "[0,0]")), 0),
                 "too many to count");
  reader.refuses(file_of(header(entry("a", "U8", "[18446744073709551615]", "[0,0]")), 0),
                 "dimension");
}

TEST_CASE("offsets that do not cover the data exactly") {
  const Reader reader;
  const auto two = [](const std::string& first, const std::string& second) {
    return header(entry("a", "U8", "[2]", first) + "," + entry("b", "U8", "[2]", second));
  };
  reader.accepts(file_of(two("[0,2]", "[2,4]"), 4));
  reader.refuses(file_of(two("[0,2]", "[1,3]"), 4), "inside the one before");
  reader.refuses(file_of(two("[0,2]", "[0,2]"), 2), "inside the one before");
  reader.refuses(file_of(two("[0,2]", "[3,5]"), 5), "gap");
  reader.refuses(file_of(two("[1,3]", "[3,5]"), 5), "gap");
  reader.refuses(file_of(two("[0,2]", "[2,4]"), 5), "end at byte 4");
  reader.refuses(file_of(two("[0,2]", "[4,2]"), 4), "outside");
  reader.refuses(file_of("{}", 1), "end at byte 0");
}

TEST_CASE("sizes that do not fit shape and dtype") {
  const Reader reader;
  reader.refuses(file_of(header(entry("a", "F32", "[2]", "[0,4]")), 4), "take 8");
  reader.refuses(file_of(header(entry("a", "F16", "[2]", "[0,8]")), 8), "take 4");
  reader.refuses(file_of(header(entry("a", "F4", "[2]", "[0,1]")), 1), "dtype 'F4'");
}

TEST_CASE("headers that are not what they should be") {
  const Reader reader;
  reader.refuses(file_of("[]", 0), "does not begin with '{'");
  reader.refuses(file_of(" {}", 0), "does not begin with '{'");
  reader.refuses(file_of("{", 0), "no valid JSON");
  reader.refuses(file_of("{}x", 0), "no valid JSON");
  reader.refuses(file_of("{\"\xff\":{}}", 0), "no valid JSON");
  reader.refuses(file_of(R"({"a":3})", 0), "'a' is a number");
  reader.refuses(file_of(R"({"a":[]})", 0), "'a' is a list");
  reader.refuses(file_of(R"({"a":{}})", 0), "'a' lacks its dtype");
  reader.refuses(file_of(R"({"a":{"dtype":"U8","shape":[1]}})", 1), "lacks its data_offsets");
  reader.refuses(file_of(header(entry("a", "U8", "[-1]", "[0,1]")), 1), "has -1 in its shape");
  reader.refuses(file_of(header(entry("a", "U8", "[1.5]", "[0,1]")), 1), "has 1.5 in its shape");
  reader.refuses(file_of(header(entry("a", "U8", "[[1]]", "[0,1]")), 1), "has a list in its shape");
  reader.refuses(file_of(header(entry("a", "U8", "3", "[0,1]")), 1), "has a number in its shape");
  reader.refuses(file_of(header(entry("a", "U8", "[1]", "[0,1,2]")), 1), "two numbers");
  reader.refuses(file_of(header(entry("a", "U8", "[99999999999999999999]", "[0,1]")), 1),
                 "in its shape");
  reader.refuses(file_of(R"({"__metadata__":{"a":1}})", 0), "metadata 'a' is a number");
  reader.refuses(file_of(R"({"__metadata__":{"a":{}}})", 0), "metadata 'a' is an object");
}

TEST_CASE("names that stand twice") {
  const Reader reader;
  const std::string a = entry("a", "U8", "[0]", "[0,0]");
  reader.refuses(file_of(header(a + "," + a), 0), "'a' stands twice");
  reader.refuses(file_of(R"({"__metadata__":{},"__metadata__":{}})", 0),
                 "'__metadata__' stands twice");
  reader.refuses(file_of(R"({"__metadata__":{"k":"1","k":"2"}})", 0), "'k' stands twice");
  reader.refuses(file_of(R"({"a":{"dtype":"U8","dtype":"U8"}})", 0), "has 'dtype' twice");
}

TEST_CASE("deep nesting does not exhaust the stack") {
  const Reader reader;
  const std::string open(1'000'000, '[');
  reader.refuses(file_of(R"({"a":{"x":)" + open, 0), "no valid JSON");
}

TEST_CASE("files that are no files") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(load_safetensors(folder / "none"),
                    ContainsSubstring("none") && ContainsSubstring("No such file"));
  CHECK_THROWS_WITH(load_safetensors(folder.path()), ContainsSubstring("it is a folder"));
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_WITH(load_safetensors(folder / "pipe"), ContainsSubstring("no regular file"));
}

TEST_CASE("bytes changed at random give an error or a sound header, never more") {
  const std::string good =
      header(R"("__metadata__":{"k":"v"},)" + entry("a", "F32", "[2,1]", "[0,8]") + "," +
             entry("b", "I16", "[3]", "[8,14]"));
  std::mt19937 random(11);
  int sound = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    std::string changed = good;
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      changed[random() % changed.size()] = static_cast<char>(random() % 128);
    }
    try {
      const SafetensorsHeader read = parse_safetensors_header(changed, 14, "a.st");
      for (const SafetensorsEntry& tensor : read.entries) CHECK(tensor.end <= 14);
      ++sound;
    } catch (const CheckpointError&) {
      continue;
    }
  }
  CHECK(sound > 0);
}

}  // namespace muster::test

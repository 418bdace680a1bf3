#include <muster/array_files.hpp>
#include <muster/data_loader.hpp>
#include <muster/image_folder.hpp>

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

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

/// root/cat/{b,sub/a,skipped}, root/dog/c, and what is passed over.
void make_folder(const std::filesystem::path& root) {
  const auto put = [&](const char* from, const char* to) {
    std::filesystem::create_directories((root / to).parent_path());
    std::filesystem::copy_file(made_files() / from, root / to);
  };
  put("rgb.png", "dog/c.PNG");
  put("rgb.bmp", "cat/b.bmp");
  put("grey.png", "cat/sub/a.png");
  put("rgb.npy", "cat/no_image.npy");
  put("rgb.png", "cat/.hidden.png");
  put("rgb.png", "cat/.cache/d.png");
  put("rgb.png", ".cache/d.png");
}

}  // namespace

TEST_CASE("images without loss are read exactly") {
  const at::Tensor rgb = map_npy(made_files() / "rgb.npy");
  for (const char* name : {"rgb.png", "rgb.bmp", "rgb.ppm", "rgba.png"}) {
    CAPTURE(name);
    CHECK(at::equal(load_image(made_files() / name), rgb));
  }
  const at::Tensor grey = map_npy(made_files() / "grey.npy");
  CHECK(at::equal(load_image(made_files() / "grey.png", {.channels = 1}), grey));
  CHECK(at::equal(load_image(made_files() / "grey.png"), grey.expand({3, 40, 60})));
  const at::Tensor opaque = load_image(made_files() / "rgb.png", {.channels = 4});
  CHECK(at::equal(opaque.narrow(0, 0, 3), rgb));
  CHECK(opaque[3].min().item<int>() == 255);
  CHECK(load_image(made_files() / "rgb.gif").sizes() == rgb.sizes());
}

TEST_CASE("JPEG is read as another decoder reads it, but for rounding") {
  for (const std::string name : {"baseline", "progressive"}) {
    CAPTURE(name);
    const at::Tensor image = load_image(made_files() / (name + ".jpg"));
    const at::Tensor theirs = map_npy(made_files() / (name + ".npy"));
    REQUIRE(image.sizes() == theirs.sizes());
    CHECK((image.to(at::kDouble) - theirs.to(at::kDouble)).abs().mean().item<double>() < 1);
  }
}

TEST_CASE("an image of another size is scaled to cover what is asked for, and cut in the middle") {
  const at::Tensor rgb = load_image(made_files() / "rgb.png");
  CHECK(at::equal(load_image(made_files() / "rgb.png", {.height = 40, .width = 60}), rgb));
  CHECK(at::equal(load_image(made_files() / "rgb.png", {.height = 40, .width = 20}),
                  rgb.narrow(2, 20, 20)));
  const at::Tensor half = load_image(made_files() / "rgb.png", {.height = 20, .width = 20});
  REQUIRE(half.sizes() == at::IntArrayRef{3, 20, 20});
  CHECK(half.is_contiguous());
  // The middle 40 columns at half the size: each pixel near the mean of four.
  const at::Tensor means = at::avg_pool2d(rgb.narrow(2, 10, 40).to(at::kDouble), {2, 2});
  CHECK(largest_difference(half.narrow(0, 0, 2), means.narrow(0, 0, 2)) < 6);
  CHECK(load_image(made_files() / "rgb.png", {.height = 100, .width = 7}).sizes() ==
        at::IntArrayRef{3, 100, 7});
}

TEST_CASE("what is no image is refused by name, and damage never does more") {
  const TemporaryFolder folder;
  write_bytes(folder / "a.png", "no image");
  CHECK_THROWS_MATCHES(load_image(folder / "a.png"), DataError,
                       MessageMatches(ContainsSubstring("a.png: no image that can be read")));
  write_bytes(folder / "empty.png", "");
  CHECK_THROWS_AS(load_image(folder / "empty.png"), DataError);
  CHECK_THROWS_AS(load_image(folder / "none.png"), DataError);
  CHECK_THROWS_MATCHES(decode_image({}, {}, "shard: 'a'"), DataError,
                       MessageMatches(ContainsSubstring("shard: 'a': no image")));
  for (const ImageOptions& options : {ImageOptions{.channels = 2}, ImageOptions{.height = 5},
                                      ImageOptions{.height = -1, .width = -1}}) {
    CHECK_THROWS_AS(load_image(made_files() / "rgb.png", options), ConfigError);
  }
  std::mt19937 random(2);
  for (const char* name : {"rgb.png", "baseline.jpg", "progressive.jpg", "rgb.gif", "rgb.bmp"}) {
    const std::string sound = bytes_of(made_files() / name);
    for (int i = 0; i < 200; ++i) {
      std::string damaged = sound.substr(0, 1 + random() % sound.size());
      damaged[random() % damaged.size()] = static_cast<char>(random());
      try {
        (void)decode_image(std::as_bytes(std::span(damaged)));
      } catch (const DataError&) {
      }
    }
  }
}

TEST_CASE("an image folder's classes and samples are in the order of their names") {
  const TemporaryFolder folder;
  make_folder(folder.path());
  const ImageFolder images(folder.path());
  CHECK(images.classes() == std::vector<std::string>{"cat", "dog"});
  REQUIRE(images.size() == 3);
  CHECK(images.path(0) == folder / "cat/b.bmp");
  CHECK(images.path(1) == folder / "cat/sub/a.png");
  CHECK(images.path(2) == folder / "dog/c.PNG");
  CHECK_THROWS_AS(images.path(3), ConfigError);

  DataLoader loader(images, {.batch_size = 3, .num_workers = 2});
  int batches = 0;
  for (const auto& batch : loader) {
    ++batches;
    CHECK(batch.data.sizes() == at::IntArrayRef{3, 3, 40, 60});
    CHECK(at::equal(batch.target, at::tensor({0, 0, 1}, at::kLong)));
    CHECK(at::equal(batch.data[0], load_image(made_files() / "rgb.png")));
  }
  CHECK(batches == 1);
}

TEST_CASE("a transform's random numbers depend on seed, epoch and sample only") {
  const TemporaryFolder folder;
  make_folder(folder.path());
  const ImageFolder images(folder.path(), {}, [](const at::Tensor&, at::Generator& generator) {
    return at::rand({1}, generator);
  });
  const auto epoch = [&](int workers, std::int64_t batch_size, std::int64_t number) {
    DataLoader loader(images, {.batch_size = batch_size, .num_workers = workers});
    loader.set_epoch(number);
    std::vector<at::Tensor> drawn;
    for (const auto& batch : loader) drawn.push_back(batch.data);
    return at::cat(drawn);
  };
  CHECK(at::equal(epoch(0, 1, 0), epoch(2, 2, 0)));
  CHECK_FALSE(at::equal(epoch(0, 1, 0), epoch(0, 1, 1)));
}

TEST_CASE("folders that hold no classes, and classes without images, are refused") {
  const TemporaryFolder folder;
  CHECK_THROWS_MATCHES(ImageFolder(folder.path()), DataError,
                       MessageMatches(ContainsSubstring("no class")));
  CHECK_THROWS_MATCHES(ImageFolder(folder / "none"), DataError,
                       MessageMatches(ContainsSubstring("No such file")));
  std::filesystem::create_directory(folder / "cat");
  CHECK_THROWS_MATCHES(ImageFolder(folder.path()), DataError,
                       MessageMatches(ContainsSubstring("cat: a class without images")));
  write_bytes(folder / "cat/a.png", "no image");
  const ImageFolder images(folder.path());
  DataLoader loader(images);
  CHECK_THROWS_WITH(*loader.begin(), ContainsSubstring("cat/a.png: no image"));
  CHECK_THROWS_AS(ImageFolder(folder.path(), {.channels = 7}), ConfigError);
}

}  // namespace muster::test

#pragma once

#include <muster/data_error.hpp>
#include <muster/dataset.hpp>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// The form that every image gets.
struct ImageOptions {
  int channels = 3;  ///< 1 grey, 3 RGB, 4 RGB and opacity; an image with others is converted.
  /// In pixels. An image of another size is scaled (bilinear, antialiased) until it covers them,
  /// and what juts out is cut off, as much on either side. 0, both: every image as large as it is.
  std::int64_t height = 0, width = 0;
};

/// [channels, height, width] uint8 of a JPEG, PNG, BMP, GIF (the first picture) or PNM (binary) in
/// memory. `name`: what errors call it. Throws DataError for anything else and for damaged files,
/// ConfigError for options that cannot be.
at::Tensor decode_image(std::span<const std::byte> bytes, const ImageOptions& options = {},
                        std::string_view name = "image");

/// The same of a file.
at::Tensor load_image(const std::filesystem::path& path, const ImageOptions& options = {});

/// What a data set does with an image, [channels, height, width] uint8, before it gives it out:
/// augmentation, normalising. The generator's numbers are a function of (seed, epoch, sample). It
/// is called by several threads.
using ImageTransform = std::function<at::Tensor(at::Tensor image, at::Generator& generator)>;

/// Images sorted into folders by what they show: root/CLASS/.../FILE. A class's number is its place
/// in the sorted list of names; samples are sorted by path, so all machines agree. Files that are
/// no images by their ending (jpg, jpeg, png, bmp, gif, ppm, pgm; in any case), and what begins
/// with a dot, are passed over. Decoding takes time: give the DataLoader num_workers. Any thread
/// may read it.
class ImageFolder {
 public:
  /// Lists the files, reads none. Throws DataError if there is no such folder, no class in it, or a
  /// class without images.
  explicit ImageFolder(const std::filesystem::path& root, const ImageOptions& options = {},
                       ImageTransform transform = {});

  const std::vector<std::string>& classes() const noexcept { return classes_; }
  const std::filesystem::path& path(std::int64_t index) const;
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(samples_.size()); }
  /// data: the image, through the transform; target: its class. Throws DataError with the path.
  Example<at::Tensor, std::int64_t> get(std::int64_t index, at::Generator generator) const;

 private:
  struct Sample {
    std::filesystem::path path;
    std::int64_t target;
  };

  const Sample& sample(std::int64_t index) const;

  std::vector<std::string> classes_;
  std::vector<Sample> samples_;
  ImageOptions options_;
  ImageTransform transform_;
};

}  // namespace muster

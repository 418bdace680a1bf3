#include <muster/image_folder.hpp>

#include "data/disk/image_options.hpp"
#include "data/disk/mapped_file.hpp"

#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

// Of the library, what is asked for here: in memory, 8 bits a channel.
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_ONLY_GIF
#define STBI_ONLY_PNM
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace muster {
namespace {

/// [height, width, channels], as the file has them.
at::Tensor decoded(std::span<const std::byte> bytes, int channels, std::string_view name) {
  int width = 0, height = 0, found = 0;
  stbi_uc* pixels = nullptr;
  const char* reason = "too large";
  if (bytes.size() <= INT_MAX) {
    pixels =
        stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()),
                              static_cast<int>(bytes.size()), &width, &height, &found, channels);
    reason = stbi_failure_reason();
  }
  if (!pixels) {
    throw DataError(std::string(name) + ": no image that can be read (" +
                    (reason ? reason : "unknown") + "); known are JPEG, PNG, BMP, GIF and PNM");
  }
  return at::from_blob(
      pixels, {height, width, channels}, [](void* memory) { stbi_image_free(memory); },
      at::TensorOptions(at::kByte));
}

/// `image` [channels, h, w], scaled to cover height and width and cut to them.
at::Tensor fitted(const at::Tensor& image, std::int64_t height, std::int64_t width) {
  const auto h = image.size(1), w = image.size(2);
  if (h == height && w == width) return image;
  const double scale = std::max(static_cast<double>(height) / static_cast<double>(h),
                                static_cast<double>(width) / static_cast<double>(w));
  const auto scaled = [scale](std::int64_t side, std::int64_t least) {
    return std::max<std::int64_t>(std::llround(static_cast<double>(side) * scale), least);
  };
  const std::int64_t tall = scaled(h, height), wide = scaled(w, width);
  const at::Tensor large =
      at::_upsample_bilinear2d_aa(image.unsqueeze(0), {tall, wide}, /*align_corners=*/false)
          .squeeze(0);
  return large.narrow(1, (tall - height) / 2, height).narrow(2, (wide - width) / 2, width);
}

}  // namespace

void require_valid(const ImageOptions& options) {
  const auto sides = [&] { return std::pair(options.height, options.width); };
  const bool channels = options.channels == 1 || options.channels == 3 || options.channels == 4;
  const bool size = sides() == std::pair<std::int64_t, std::int64_t>(0, 0) ||
                    (options.height > 0 && options.width > 0);
  if (channels && size) return;
  throw ConfigError("ImageOptions: channels " + std::to_string(options.channels) + ", height " +
                    std::to_string(options.height) + ", width " + std::to_string(options.width) +
                    "; expected 1, 3 or 4 channels, and both sides over 0 or both 0");
}

at::Tensor decode_image(std::span<const std::byte> bytes, const ImageOptions& options,
                        std::string_view name) {
  require_valid(options);
  const at::Tensor image = decoded(bytes, options.channels, name).permute({2, 0, 1}).contiguous();
  if (options.height == 0) return image;
  return fitted(image, options.height, options.width).contiguous();
}

at::Tensor load_image(const std::filesystem::path& path, const ImageOptions& options) {
  const MappedFile file(path);
  return decode_image(file.bytes(), options, file.name());
}

}  // namespace muster

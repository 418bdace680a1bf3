#include <muster/image_folder.hpp>

#include "data/disk/image_options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <system_error>
#include <utility>

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> endings{".jpg", ".jpeg", ".png", ".bmp",
                                                  ".gif", ".ppm",  ".pgm"};

bool is_hidden(const fs::path& path) { return path.filename().native().starts_with('.'); }

bool is_image(const fs::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return !is_hidden(path) && std::ranges::find(endings, ending) != endings.end();
}

std::vector<std::string> class_names(const fs::path& root) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.is_directory() && !is_hidden(entry.path())) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::ranges::sort(names);
  if (names.empty()) {
    throw DataError(root.string() + ": no class: expected a folder of images for each class in it");
  }
  return names;
}

std::vector<fs::path> images_below(const fs::path& folder) {
  std::vector<fs::path> images;
  const auto options = fs::directory_options::follow_directory_symlink;
  for (auto at = fs::recursive_directory_iterator(folder, options);
       at != fs::recursive_directory_iterator(); ++at) {
    if (at->is_directory()) {
      if (is_hidden(at->path())) at.disable_recursion_pending();
    } else if (is_image(at->path())) {
      images.push_back(at->path());
    }
  }
  std::ranges::sort(images);
  if (images.empty()) {
    throw DataError(folder.string() + ": a class without images, which end in .jpg, .jpeg, .png," +
                    " .bmp, .gif, .ppm or .pgm");
  }
  return images;
}

}  // namespace

ImageFolder::ImageFolder(const fs::path& root, const ImageOptions& options,
                         ImageTransform transform)
    : options_(options), transform_(std::move(transform)) {
  require_valid(options_);
  try {
    classes_ = class_names(root);
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      for (fs::path& image : images_below(root / classes_[i])) {
        samples_.push_back({std::move(image), static_cast<std::int64_t>(i)});
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw DataError(error.path1().string() + ": cannot be listed: " + error.code().message());
  }
}

const ImageFolder::Sample& ImageFolder::sample(std::int64_t index) const {
  if (index < 0 || index >= size()) {
    throw ConfigError("ImageFolder: image " + std::to_string(index) + " of " +
                      std::to_string(size()));
  }
  return samples_[static_cast<std::size_t>(index)];
}

const fs::path& ImageFolder::path(std::int64_t index) const { return sample(index).path; }

Example<at::Tensor, std::int64_t> ImageFolder::get(std::int64_t index,
                                                   at::Generator generator) const {
  const auto& [path, target] = sample(index);
  at::Tensor image = load_image(path, options_);
  if (transform_) image = transform_(std::move(image), generator);
  return {std::move(image), target};
}

}  // namespace muster

#include "drawing.hpp"

#include <ATen/ops/clamp.h>

#include <string_view>

namespace gan {

std::string drawing(const at::Tensor& images) {
  constexpr std::string_view shades = " .:-=+*#%@";
  const auto pixels = images.clamp(0, 1).to(at::kCPU, at::kFloat).contiguous();
  const auto values = pixels.accessor<float, 4>();
  std::string text;
  for (std::int64_t row = 0; row < pixels.size(2); ++row) {
    for (std::int64_t image = 0; image < pixels.size(0); ++image) {
      for (std::int64_t column = 0; column < pixels.size(3); ++column) {
        const auto shade = static_cast<std::size_t>(values[image][0][row][column] *
                                                    static_cast<float>(shades.size() - 1));
        text.append(2, shades[shade]);
      }
      text += ' ';
    }
    text += '\n';
  }
  return text;
}

}  // namespace gan

#include "steps_log.hpp"

#include <stdexcept>

namespace digits {

StepsLog::StepsLog(const muster::Accelerator& accelerator, const std::filesystem::path& path)
    : accelerator_(accelerator), wanted_(!path.empty()) {
  if (!wanted_ || !accelerator.is_main_process()) return;
  file_.open(path);
  if (!file_) throw std::runtime_error("cannot write " + path.string());
  file_ << std::hexfloat;
}

void StepsLog::add(const at::Tensor& loss) {
  if (!wanted_) return;
  const auto losses =
      accelerator_.gather(loss);  // [ranks], of micro-batches count_, count_ + 1, ...
  for (std::int64_t rank = 0; rank < losses.size(0); ++rank) {
    file_ << count_++ << ' ' << losses[rank].item<float>() << '\n';
  }
}

}  // namespace digits

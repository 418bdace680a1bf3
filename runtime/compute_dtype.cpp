#include "compute_dtype.hpp"

#include <muster/device.hpp>
#include <muster/error.hpp>

namespace muster {

std::optional<at::ScalarType> compute_dtype(const std::string& mixed_precision) {
  if (mixed_precision == "bf16") return at::kBFloat16;
  if (mixed_precision == "fp16") return at::kHalf;
  return std::nullopt;
}

void require_autocast(const std::string& mixed_precision, at::Device device,
                      const std::function<void(const std::string&)>& say) {
  const auto dtype = compute_dtype(mixed_precision);
  if (!dtype) return;
  const auto& kind = device_kind(device);
  const auto offers = [&](at::ScalarType other, Autocasting least) {
    return *dtype != other && kind.autocasting(other) >= least;
  };
  const std::string name(kind.name());
  switch (kind.autocasting(*dtype)) {
    case Autocasting::fast:
      return;
    case Autocasting::slow: {
      const char* faster = offers(at::kBFloat16, Autocasting::fast) ? "bf16 or fp32" : "fp32";
      say("mixed precision " + mixed_precision + " is slow here: this " + name +
          " has no instructions for it; " + faster + " (--mixed-precision) is faster");
      return;
    }
    case Autocasting::none:
      throw UnsupportedError("mixed precision " + mixed_precision + ": a " + name +
                             " cannot train in it; there " +
                             (offers(at::kBFloat16, Autocasting::slow) ? "are no and bf16"
                              : offers(at::kHalf, Autocasting::slow)   ? "are no and fp16"
                                                                       : "is no"));
  }
}

}  // namespace muster

#pragma once

namespace muster::test {

/// Whether this is built with a sanitizer, whose own memory would be measured with ours.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace muster::test

#pragma once

#include <cerrno>
#include <sys/syscall.h>
#include <type_traits>
#include <unistd.h>

/// System calls that write nothing but what they are asked for: not errno either, which belongs to
/// the parent where a child runs in its memory.
namespace muster::launcher {

#if defined(__x86_64__)

inline constexpr bool raw_calls_are_bare = true;

inline long raw_words(long number, const long (&words)[5]) noexcept {
  long result = number;
  register long fourth asm("r10") = words[3];
  register long fifth asm("r8") = words[4];
  asm volatile("syscall"
               : "+a"(result)
               : "D"(words[0]), "S"(words[1]), "d"(words[2]), "r"(fourth), "r"(fifth)
               : "rcx", "r11", "memory");
  return result;
}

#elif defined(__aarch64__)

inline constexpr bool raw_calls_are_bare = true;

inline long raw_words(long number, const long (&words)[5]) noexcept {
  register long call asm("x8") = number;
  register long result asm("x0") = words[0];
  register long second asm("x1") = words[1];
  register long third asm("x2") = words[2];
  register long fourth asm("x3") = words[3];
  register long fifth asm("x4") = words[4];
  asm volatile("svc #0"
               : "+r"(result)
               : "r"(call), "r"(second), "r"(third), "r"(fourth), "r"(fifth)
               : "memory");
  return result;
}

#else

inline constexpr bool raw_calls_are_bare = false;

inline long raw_words(long number, const long (&words)[5]) noexcept {
  const long result = ::syscall(number, words[0], words[1], words[2], words[3], words[4]);
  return result < 0 ? -errno : result;
}

#endif

template <typename Word>
long to_word(Word word) noexcept {
  if constexpr (std::is_null_pointer_v<Word>) {
    return 0;
  } else if constexpr (std::is_pointer_v<Word>) {
    return reinterpret_cast<long>(word);
  } else {
    return static_cast<long>(word);
  }
}

/// What the kernel returns: below 0 it is an errno, negative.
template <typename... Words>
long raw_call(long number, Words... given) noexcept {
  const long words[5] = {to_word(given)...};
  return raw_words(number, words);
}

}  // namespace muster::launcher

#pragma once

// A function with MUSTER_CLONES is compiled for several vector instruction sets; the best that the
// processor has is taken when the program is loaded. Results do not depend on which: nothing is
// contracted and no sum is reordered. What it calls must be inlined: MUSTER_INLINE. Sanitizers do
// not bear functions that are chosen while a program is loaded.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define MUSTER_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define MUSTER_CLONES
#endif
#define MUSTER_INLINE [[gnu::always_inline]] inline

// Before a loop whose rounds do not touch each other's elements. Clang finds out while it runs.
#ifdef __clang__
#define MUSTER_INDEPENDENT_ROUNDS
#else
#define MUSTER_INDEPENDENT_ROUNDS _Pragma("GCC ivdep")
#endif

// Runs a loop compiled for the vector instructions of the machine at hand.
//
// Only the width changes: contraction into fused operations is switched off (CMakeLists.txt), so
// that every variant gives the same bits.
#pragma once

#include <cstdint>

#if defined(__GNUC__) || defined(__clang__)
#define SUBMIN_INLINE __attribute__((always_inline))
#else
#define SUBMIN_INLINE
#endif

// The iterations of the next loop are independent although the compiler cannot see it.
#if defined(__clang__)
#define SUBMIN_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define SUBMIN_INDEPENDENT _Pragma("GCC ivdep")
#else
#define SUBMIN_INDEPENDENT
#endif

// Compiler attributes do the multiversioning rather than target_clones, whose resolvers run before
// the sanitizers are ready and which do not apply to templates.
#if defined(__x86_64__) && defined(__linux__) && (defined(__GNUC__) || defined(__clang__))
#define SUBMIN_MULTIVERSION 1
#define SUBMIN_AVX2 __attribute__((target("avx2")))
#define SUBMIN_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq")))
#endif

namespace submin {

#ifdef SUBMIN_MULTIVERSION

enum class VectorWidth { portable, avx2, avx512 };

inline VectorWidth vector_width() {
  static const VectorWidth width = [] {
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512dq");
    if (avx512) return VectorWidth::avx512;
    return __builtin_cpu_supports("avx2") ? VectorWidth::avx2 : VectorWidth::portable;
  }();
  return width;
}

template <class Loop>
SUBMIN_AVX512 void loop_avx512(const Loop& loop, std::int64_t begin, std::int64_t end) {
  loop(begin, end);
}

template <class Loop>
SUBMIN_AVX2 void loop_avx2(const Loop& loop, std::int64_t begin, std::int64_t end) {
  loop(begin, end);
}

// `loop` and all that it calls must be SUBMIN_INLINE, to be compiled once for each width.
template <class Loop>
void vectorized(const Loop& loop, std::int64_t begin, std::int64_t end) {
  switch (vector_width()) {
    case VectorWidth::avx512:
      return loop_avx512(loop, begin, end);
    case VectorWidth::avx2:
      return loop_avx2(loop, begin, end);
    default:
      return loop(begin, end);
  }
}

#else

template <class Loop>
void vectorized(const Loop& loop, std::int64_t begin, std::int64_t end) {
  loop(begin, end);
}

#endif

}  // namespace submin

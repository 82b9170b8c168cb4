// Runs a loop compiled for the vector instructions of the machine at hand.
//
// Only the width changes: contraction into fused operations is switched off (CMakeLists.txt), so
// that every variant gives the same bits. The environment variable SUBMIN_VECTORS (portable, avx2
// or avx512) chooses a narrower width than the machine's widest, for tests and comparisons.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

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
// the sanitizers are ready and which do not apply to templates. Linux alone: on Windows, GCC keeps
// such vectors on the stack in places that are not aligned for them.
#if defined(__x86_64__) && defined(__linux__) && (defined(__GNUC__) || defined(__clang__))
#define SUBMIN_MULTIVERSION 1
#define SUBMIN_AVX2 __attribute__((target("avx2")))
#define SUBMIN_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq")))
#endif

namespace submin {

enum class VectorWidth { portable, avx2, avx512 };

constexpr const char* kVectorNames[] = {"portable", "avx2", "avx512"};

inline VectorWidth widest_vectors() {
#ifdef SUBMIN_MULTIVERSION
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq");
  if (avx512) return VectorWidth::avx512;
  if (__builtin_cpu_supports("avx2")) return VectorWidth::avx2;
#endif
  return VectorWidth::portable;
}

// The widest vectors of the machine, or those that SUBMIN_VECTORS names when it is first asked for.
inline VectorWidth chosen_vectors() {
  const VectorWidth widest = widest_vectors();
  const char* name = std::getenv("SUBMIN_VECTORS");
  if (name == nullptr || *name == 0) return widest;
  std::string known;
  for (int width = 0; width <= static_cast<int>(widest); ++width) {
    if (kVectorNames[width] == std::string(name)) return static_cast<VectorWidth>(width);
    known += (width == 0 ? "" : ", ") + std::string(kVectorNames[width]);
  }
  throw std::invalid_argument("SUBMIN_VECTORS must be one of those that this machine has (" +
                              known + "), not " + name);
}

inline VectorWidth vector_width() {
  static const VectorWidth width = chosen_vectors();
  return width;
}

#ifdef SUBMIN_MULTIVERSION

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

// Orders of all elements: ranks by decreasing value, and the best prefix of an order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/compensated.hpp"
#include "core/sorting.hpp"

namespace submin {

constexpr std::int64_t kFewWords = 256;  // fewer are sorted faster by comparisons

// Keys that ascend where the numbers descend; both zeros have the same.
inline std::uint64_t descending_key(double value) {
  const double number = value + 0.0;  // -0 becomes 0
  std::uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits >> 63 ? bits : ~bits & ~(std::uint64_t{1} << 63);
}

// The place of each number when they descend; equal numbers keep their order. Sorts by the upper
// halves of the keys first, then each run of equal ones by the lower halves.
inline void descending_ranks(const double* values, std::int64_t count, std::int32_t* rank) {
  constexpr std::uint64_t lower = 0xffffffffu;
  std::vector<std::uint64_t> buffer(2 * static_cast<std::size_t>(count));
  std::uint64_t* const words = buffer.data();
  for (std::int64_t k = 0; k < count; ++k)
    words[k] = (descending_key(values[k]) & ~lower) | static_cast<std::uint64_t>(k);
  radix_sort(words, words + count, count, 4);
  for (std::int64_t begin = 0, end = 0; begin < count; begin = end) {
    const std::uint64_t upper = words[begin] >> 32;
    while (end < count && words[end] >> 32 == upper) ++end;
    if (end - begin == 1) continue;
    for (std::int64_t k = begin; k < end; ++k)
      words[k] = descending_key(values[words[k] & lower]) << 32 | (words[k] & lower);
    if (std::is_sorted(words + begin, words + end)) continue;
    if (end - begin < kFewWords)
      std::sort(words + begin, words + end);
    else
      radix_sort(words + begin, words + count, end - begin, 4);
  }
  for (std::int64_t k = 0; k < count; ++k) rank[words[k] & lower] = static_cast<std::int32_t>(k);
}

// How many elements, added by their ranks, have the least sum of gains: the fewest such, or none if
// no sum is below 0.
inline std::int64_t best_prefix(const std::int32_t* rank, const double* gains, std::int64_t count) {
  std::vector<double> sorted(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) sorted[static_cast<std::size_t>(rank[k])] = gains[k];
  Compensated sum;
  double least = 0.0;
  std::int64_t best = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    sum.add(sorted[static_cast<std::size_t>(k)]);
    if (sum.rounded() >= least) continue;
    least = sum.rounded();
    best = k + 1;
  }
  return best;
}

}  // namespace submin

// Sorting for the cardinality kernels: permutations of a few hundred entries, often nearly in
// order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/indices.hpp"

namespace submin {

// Sorts `words` by the `bytes` lowest bytes of their upper halves, ascending and stable; `spare` is
// of the same size.
inline void radix_sort(std::uint64_t* words, std::uint64_t* spare, std::int64_t count, int bytes) {
  if (count == 0) return;
  std::uint64_t* from = words;
  std::uint64_t* to = spare;
  for (int byte = 0; byte < bytes; ++byte) {
    const int shift = 32 + 8 * byte;
    std::array<std::uint32_t, 256> places{};
    for (std::int64_t k = 0; k < count; ++k) ++places[(from[k] >> shift) & 255];
    if (places[(from[0] >> shift) & 255] == count) continue;  // all have the same byte
    std::uint32_t sum = 0;
    for (std::uint32_t& place : places) {
      const std::uint32_t size = place;
      place = sum;
      sum += size;
    }
    for (std::int64_t k = 0; k < count; ++k) to[places[(from[k] >> shift) & 255]++] = from[k];
    std::swap(from, to);
  }
  if (from != words) std::copy_n(from, count, words);
}

// Sorts a permutation so that `sorted[k] = values[order[k]]` descends; equal values keep their
// order. Insertion where little is out of place, else a radix sort of the values rounded to 16 or
// 24 bits and insertion for what the rounding made equal, else (outliers) a comparison sort.
// The refusal of a number that is out of range counts places from `first` on.
class DescendingSorter {
 public:
  void sort(const double* values, std::int32_t* order, double* sorted, std::int64_t count,
            std::int64_t first = 0) {
    for (std::int64_t k = 0; k < count; ++k)
      sorted[k] = values[checked_index(order, k, count, "order", first)];
    std::int64_t ascents = 0;
    for (std::int64_t k = 1; k < count; ++k) ascents += sorted[k - 1] < sorted[k];
    if (ascents == 0) return;
    const bool nearly = count <= kSmall || kFewAscents * ascents <= count;
    if (nearly && insert(order, sorted, count)) return;
    if (sort_rounded(values, order, sorted, count) && insert(order, sorted, count)) return;
    std::stable_sort(order, order + count, [=](auto i, auto j) { return values[i] > values[j]; });
    for (std::int64_t k = 0; k < count; ++k) sorted[k] = values[order[k]];
  }

 private:
  static constexpr std::int64_t kSmall = 32;
  static constexpr std::int64_t kFewAscents = 16;
  static constexpr std::int64_t kMovesEach = 4;
  static constexpr std::int64_t kLarge = 4096;

  // Gives up, with a valid permutation, when it has moved too many entries.
  static bool insert(std::int32_t* order, double* sorted, std::int64_t count) {
    std::int64_t moves = kMovesEach * std::max(count, kSmall);
    for (std::int64_t k = 1; k < count; ++k) {
      const double value = sorted[k];
      if (!(sorted[k - 1] < value)) continue;
      const std::int32_t index = order[k];
      std::int64_t place = k;
      for (; place > 0 && sorted[place - 1] < value; --place) {
        sorted[place] = sorted[place - 1];
        order[place] = order[place - 1];
      }
      sorted[place] = value;
      order[place] = index;
      moves -= k - place;
      if (moves < 0) return false;
    }
    return true;
  }

  // Rounding to a position between the extremes is monotone. False if their distance is extreme.
  bool sort_rounded(const double* values, std::int32_t* order, double* sorted, std::int64_t count) {
    const int bytes = count > kLarge ? 3 : 2;
    const double last = static_cast<double>((1 << 8 * bytes) - 1);
    double most = sorted[0];
    double least = sorted[0];
    for (std::int64_t k = 1; k < count; ++k) {
      most = most < sorted[k] ? sorted[k] : most;
      least = sorted[k] < least ? sorted[k] : least;
    }
    const double scale = last / (most - least);
    if (!(scale > 0.0 && scale <= std::numeric_limits<double>::max())) return false;
    words_.resize(std::max<std::size_t>(words_.size(), 2 * count));
    std::uint64_t* const words = words_.data();
    for (std::int64_t k = 0; k < count; ++k) {
      const double position = (most - sorted[k]) * scale;
      const auto key = static_cast<std::uint64_t>(position < last ? position : last);
      words[k] = key << 32 | static_cast<std::uint32_t>(order[k]);
    }
    radix_sort(words, words + count, count, bytes);
    for (std::int64_t k = 0; k < count; ++k) {
      order[k] = static_cast<std::int32_t>(words[k] & 0xffffffffu);
      sorted[k] = values[order[k]];
    }
    return true;
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace submin

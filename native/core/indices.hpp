// Refusals of numbers that are out of range: kernels that jump through index arrays look at each
// number as they come to it, which costs a comparison; others have theirs looked at before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "core/vectorize.hpp"

namespace submin {

[[noreturn]] inline void refuse_index(const char* name, std::int64_t place, std::int64_t number,
                                      std::int64_t bound) {
  const std::string range = bound > 0 ? "outside of 0, ..., " + std::to_string(bound - 1)
                                      : "out of range, which is empty";
  throw std::invalid_argument(std::string(name) + "[" + std::to_string(place) +
                              "] = " + std::to_string(number) + " is " + range);
}

// How many numbers of 32 bits are not negative: arrays that they point into are no longer to them.
constexpr std::int64_t kMostIndices = std::int64_t{1} << 31;

// numbers[k], which must be one of 0, ..., bound - 1, with bound up to kMostIndices; negative
// numbers are large ones without sign. The refusal counts places from `first` on.
inline std::int64_t checked_index(const std::int32_t* numbers, std::int64_t k, std::int64_t bound,
                                  const char* name, std::int64_t first = 0) {
  const std::int64_t number = static_cast<std::uint32_t>(numbers[k]);
  if (number >= bound) refuse_index(name, first + k, numbers[k], bound);
  return number;
}

// Refuses the first number that is not one of 0, ..., bound - 1. A sign says that a number is
// negative, or that the last one less it is; none says that all are well, without a branch.
inline void require_below(const std::int32_t* numbers, std::int64_t count, std::int64_t bound,
                          const char* name) {
  bound = std::min(bound, kMostIndices);
  const auto last = static_cast<std::uint32_t>(bound - 1);
  std::uint32_t signs = 0;
  const auto loop = [&signs, numbers, last](std::int64_t begin, std::int64_t end) SUBMIN_INLINE {
    std::uint32_t some = 0;
    for (std::int64_t k = begin; k < end; ++k) {
      const auto number = static_cast<std::uint32_t>(numbers[k]);
      some |= number | (last - number);
    }
    signs |= some;
  };
  vectorized(loop, 0, count);
  if (signs >> 31 == 0) return;
  for (std::int64_t k = 0; k < count; ++k) checked_index(numbers, k, bound, name);
}

}  // namespace submin

// Sums of many numbers with their rounding errors (TwoSum: Ogita, Rump, Oishi, SIAM J. Sci. Comput.
// 2005), in pieces that do not depend on the threads.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "core/vectorize.hpp"

namespace submin {

// sum + error is exact up to the rounding of the errors themselves; beside an infinite sum the
// error means nothing.
struct Compensated {
  double sum = 0.0, error = 0.0;

  SUBMIN_INLINE void add(double value) {
    const double total = sum + value;
    const double part = total - sum;
    error += (sum - (total - part)) + (value - part);
    sum = total;
  }
  Compensated& operator+=(const Compensated& other) {
    add(other.sum);
    error += other.error;
    return *this;
  }
  double rounded() const { return std::isinf(sum) ? sum : sum + error; }
};

// Independent sums side by side, for vector loops.
class CompensatedLanes {
 public:
  static constexpr std::int64_t kLanes = 16;

  // Adds value(begin), ..., value(end - 1).
  template <class Value>
  SUBMIN_INLINE void add(std::int64_t begin, std::int64_t end, const Value& value) {
    Lanes sums = sums_, errors = errors_;  // in registers
    for (; begin + kLanes <= end; begin += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        const double term = value(begin + lane);
        const double total = sums[lane] + term;
        const double part = total - sums[lane];
        errors[lane] += (sums[lane] - (total - part)) + (term - part);
        sums[lane] = total;
      }
    }
    sums_ = sums;
    errors_ = errors;
    for (; begin < end; ++begin) rest_.add(value(begin));
  }
  Compensated total() const {
    Compensated total = rest_;
    for (std::int64_t lane = 0; lane < kLanes; ++lane) total += {sums_[lane], errors_[lane]};
    return total;
  }

 private:
  using Lanes = std::array<double, kLanes>;
  Lanes sums_{}, errors_{};
  Compensated rest_;
};

// The sum of piece(begin, end) over pieces of [0, count), the same for any number of threads.
template <class Piece>
double sum_of_pieces(std::int64_t count, std::int64_t grain, int threads, const Piece& piece) {
  const std::int64_t pieces = (count + grain - 1) / grain;
  std::vector<Compensated> parts(static_cast<std::size_t>(pieces));
  parallel_for(pieces, 1, threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; ++k) {
      parts[static_cast<std::size_t>(k)] = piece(k * grain, std::min((k + 1) * grain, count));
    }
  });
  Compensated total;
  for (const Compensated& part : parts) total += part;
  return total.rounded();
}

constexpr std::int64_t kSumGrain = 1 << 14;  // numbers in a piece of parallel work

// The sum of value(0), ..., value(count - 1).
template <class Value>
double compensated_sum(std::int64_t count, int threads, const Value& value) {
  return sum_of_pieces(count, kSumGrain, threads, [&](std::int64_t begin, std::int64_t end) {
    CompensatedLanes lanes;
    const auto loop = [&](std::int64_t first, std::int64_t last)
                          SUBMIN_INLINE { lanes.add(first, last, value); };
    vectorized(loop, begin, end);
    return lanes.total();
  });
}

}  // namespace submin

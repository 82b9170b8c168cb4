// How far the values of edges are out of their bounds: the violation of a cut's dual.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/compensated.hpp"
#include "graph/edges.hpp"

namespace submin {

// The largest of value(begin), ..., value(end - 1), and at least 0.
template <class Value>
SUBMIN_INLINE inline double largest_in(std::int64_t begin, std::int64_t end, const Value& value) {
  constexpr std::int64_t lanes = CompensatedLanes::kLanes;
  std::array<double, lanes> most{};
  for (; begin + lanes <= end; begin += lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      most[lane] = std::max(most[lane], value(begin + lane));
  }
  for (; begin < end; ++begin) most[0] = std::max(most[0], value(begin));
  return *std::max_element(most.begin(), most.end());
}

// The same of all values from 0 to count - 1.
template <class Value>
double largest(std::int64_t count, int threads, const Value& value) {
  const std::int64_t pieces = (count + kSumGrain - 1) / kSumGrain;
  std::vector<double> parts(static_cast<std::size_t>(pieces) + 1, 0.0);
  parallel_for(count, kSumGrain, threads, [&](std::int64_t begin, std::int64_t end) {
    const auto loop = [&](std::int64_t first, std::int64_t last) SUBMIN_INLINE {
      parts[static_cast<std::size_t>(begin / kSumGrain)] = largest_in(first, last, value);
    };
    vectorized(loop, begin, end);
  });
  return *std::max_element(parts.begin(), parts.end());
}

// The sum of (t - forward)_+ + (-backward - t)_+.
inline double edges_excess(WeightArray backward, WeightArray forward, const double* flow,
                           std::int64_t edges, int threads) {
  double excess = 0.0;
  with_weights(backward, forward, [&](auto lower, auto upper) {
    const auto beyond = [=](std::int64_t e) SUBMIN_INLINE {
      return std::max(flow[e] - upper[e], 0.0) + std::max(-lower[e] - flow[e], 0.0);
    };
    // Values are within bounds as a rule, and a look at the largest is cheaper than the sum.
    if (largest(edges, threads, beyond) > 0.0) excess = compensated_sum(edges, threads, beyond);
  });
  return excess;
}

}  // namespace submin

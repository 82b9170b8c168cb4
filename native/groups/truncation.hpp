// Truncated modular functions: a box of which one slice with a given sum is the base polytope.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/piecewise_root.hpp"
#include "groups/groups.hpp"

namespace submin {

struct Truncations {
  const double* lower;
  const double* upper;
  const double* totals;
};

// G(theta) = sum of clip(a - theta, lower, upper)  -  target.
struct ClippedSum {
  const double* a;
  const double* lower;
  const double* upper;
  std::int64_t count;
  double target;

  Level operator()(double theta) const {
    const Sums sums = sum_items(count, [&](std::int64_t k) SUBMIN_INLINE {
      const double free = a[k] - theta;
      const double raised = free > lower[k] ? free : lower[k];
      return Sums{raised < upper[k] ? raised : upper[k], free > lower[k] ? 1.0 : 0.0,
                  free >= upper[k] ? 1.0 : 0.0};
    });
    return {sums.value - target, sums.first - sums.second, sums.first, sums.second};
  }

  void knots(double low, double high, std::vector<double>& out) const {
    for (std::int64_t k = 0; k < count; ++k)
      for (const double knot : {a[k] - lower[k], a[k] - upper[k]})
        if (low < knot && knot < high) out.push_back(knot);
  }
};

// The theta for which clip(a - theta, lower, upper) sums to `total`. Members with y inside of their
// bounds are the first guess at those that theta moves.
inline double truncation_level(const ClippedSum& sum, const double* y) {
  thread_local std::vector<double> knots;
  const Sums ends = sum_items(sum.count, [&](std::int64_t k) SUBMIN_INLINE {
    return Sums{0.0, sum.lower[k], sum.upper[k]};
  });
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (sum.target >= ends.second) return -infinity;
  if (sum.target <= ends.first) return infinity;
  const Sums guess = sum_items(sum.count, [&](std::int64_t k) SUBMIN_INLINE {
    const bool inside = sum.lower[k] < y[k] && y[k] < sum.upper[k];
    return Sums{inside ? sum.a[k] : y[k], inside ? 1.0 : 0.0, 0.0};
  });
  const double start = guess.first > 0.0 ? (guess.value - sum.target) / guess.first : 0.0;
  return piecewise_root(sum, -infinity, infinity, start, knots);
}

// a := clip(a - theta, lower, upper), theta such that the sum is `total`.
inline void truncation_project(const double* lower, const double* upper, double total,
                               const double* y, double* a, std::int64_t count) {
  if (count == 0) return;
  const double theta = truncation_level({a, lower, upper, count, total}, y);
  for (std::int64_t k = 0; k < count; ++k) {
    const double free = a[k] - theta;
    const double raised = free > lower[k] ? free : lower[k];
    a[k] = raised < upper[k] ? raised : upper[k];
  }
}

// Projects one group in place, for project_selected and sweep_selected.
inline auto truncation_projection(const Truncations& all) {
  return [=](std::int64_t group, std::int64_t begin, std::int64_t count, const double* y,
             double* values) {
    truncation_project(all.lower + begin, all.upper + begin, all.totals[group], y, values, count);
  };
}

// The larger of the sums of (z - mass)_+ and of z_+ less the cap, where z = y - modular.
inline Excess truncation_excess(const double* modular, const double* masses, double cap,
                                const double* y, std::int64_t count) {
  Compensated above, whole;
  double magnitude = 0.0;
  for (std::int64_t k = 0; k < count; ++k) {
    Compensated z{y[k]};
    z.add(-modular[k]);
    magnitude += std::abs(z.sum);
    if (z.sum <= 0.0) continue;
    whole += z;
    z.add(-masses[k]);
    if (z.rounded() > 0.0) above += z;
  }
  const double excess = larger(above.rounded(), (whole.sum - cap) + whole.error);
  return with_error(excess, 3 * count, magnitude);
}

}  // namespace submin

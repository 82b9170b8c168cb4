// Roots of nonincreasing piecewise-linear functions: Newton steps inside a bracket, and medians of
// the knots where Newton does not get along (Cominetti, Mascarenhas, Silva 2014,
// doi:10.1007/s12532-013-0066-y; Kiwiel 2008, doi:10.1007/s10107-006-0050-z).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/vectorize.hpp"

namespace submin {

struct Sums {
  double value;
  double first;
  double second;
};

constexpr std::int64_t kLanes = 8;

// The sums of item(0), ..., item(count - 1), in lanes whose number does not depend on the machine.
template <class Item>
Sums sum_items(std::int64_t count, const Item& item) {
  Sums sums{0.0, 0.0, 0.0};
  std::int64_t done = 0;
  if (count >= 2 * kLanes) {
    done = count - count % kLanes;
    const auto loop = [&](std::int64_t begin, std::int64_t end) SUBMIN_INLINE {
      double value[kLanes] = {};
      double first[kLanes] = {};
      double second[kLanes] = {};
      for (std::int64_t k = begin; k < end; k += kLanes)
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
          const Sums each = item(k + lane);
          value[lane] += each.value;
          first[lane] += each.first;
          second[lane] += each.second;
        }
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        sums.value += value[lane];
        sums.first += first[lane];
        sums.second += second[lane];
      }
    };
    vectorized(loop, 0, done);
  }
  for (std::int64_t k = done; k < count; ++k) {
    const Sums each = item(k);
    sums.value += each.value;
    sums.first += each.first;
    sums.second += each.second;
  }
  return sums;
}

// A function G at one point: its value, minus its slope, and two counts of knots on one side of the
// point. Points with equal counts have no knot between them, so that G is linear there.
struct Level {
  double value;
  double descent;
  double first;
  double second;
};

// A root of G between `low`, where G >= 0, and `high`, where G <= 0, up to rounding; both may be
// infinite. `G(theta)` is its Level there, `G.knots(low, high, out)` appends its knots strictly
// between to `out`. Where Newton does not end it, every second point halves the number of knots
// left, so that it takes O(log knots) evaluations.
template <class Function>
double piecewise_root(const Function& G, double low, double high, double theta,
                      std::vector<double>& knots) {
  constexpr int kNewtonSteps = 12;
  double first = -1.0;  // counts at the point from which a Newton step led to theta
  double second = -1.0;
  theta = std::max(low, std::min(theta, high));
  for (int step = 0;; ++step) {
    const Level level = G(theta);
    const double newton = theta + level.value / level.descent;
    if (level.value == 0.0 || newton == theta) return theta;
    if (level.descent > 0.0 && level.first == first && level.second == second)
      return std::max(low, std::min(newton, high));
    (level.value > 0.0 ? low : high) = theta;
    if (newton > low && newton < high && (step < kNewtonSteps || step % 2 == 1)) {
      first = level.first;
      second = level.second;
      theta = newton;
      continue;
    }
    knots.clear();
    G.knots(low, high, knots);
    if (knots.empty()) break;
    const auto middle = knots.begin() + static_cast<std::ptrdiff_t>(knots.size() / 2);
    std::nth_element(knots.begin(), middle, knots.end());
    theta = *middle;
    first = second = -1.0;
  }
  // G is linear between low and high: one step from a point inside.
  const double inside = std::isinf(low) ? high : std::isinf(high) ? low : low + 0.5 * (high - low);
  const Level level = G(inside);
  if (!(level.descent > 0.0)) return inside;
  return std::max(low, std::min(inside + level.value / level.descent, high));
}

}  // namespace submin

// Projections in a diagonal metric, argmin of sum (y - a)^2 / (2 d) over a base polytope, of groups
// and of chains. kernels/metric.py has the mathematics.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "groups/hyperedge.hpp"

namespace submin {

// The terms slope (knot - t)_+ of a nonincreasing function G.
class Hinges {
 public:
  void clear() { hinges_.clear(); }
  void add(double knot, double slope) { hinges_.push_back({knot, slope}); }

  // A t with G(t) = constant >= 0: from above the largest knot down to the first piece that is high
  // enough.
  double root(double constant) {
    std::stable_sort(hinges_.begin(), hinges_.end(),
                     [](const Hinge& one, const Hinge& other) { return one.knot > other.knot; });
    double value = -constant;
    double descent = 0.0;
    double t = hinges_.front().knot;
    for (const Hinge& hinge : hinges_) {
      const double next = value + descent * (t - hinge.knot);
      if (next >= 0.0) break;
      value = next;
      t = hinge.knot;
      descent += hinge.slope;
    }
    return descent > 0.0 ? t + value / descent : t;
  }

 private:
  struct Hinge {
    double knot;
    double slope;
  };
  std::vector<Hinge> hinges_;
};

// Hyperedges w (max over tails - min over heads)_+: y = d ((b - u)_+ on tails - (l - b)_+ on heads)
// with b = a / d.
class WeightedHyperedge {
 public:
  static WeightedHyperedge& of_this_thread() {
    thread_local WeightedHyperedge projector;
    return projector;
  }

  void project(double weight, const std::uint8_t* roles, const double* a, const double* d,
               double* y, std::int64_t count) {
    std::fill_n(y, count, 0.0);
    if (!balance(roles, a, d, count)) return;
    double upper = hinges_.root(drop_);
    double lower = upper;
    if (sent(upper, roles, a, d, count) > weight) {
      upper = level(kTail, 1.0, weight, roles, a, d, count);
      lower = -level(kHead, -1.0, weight, roles, a, d, count);
    }
    for (std::int64_t k = 0; k < count; ++k) {
      if ((roles[k] & kTail) != 0) y[k] += std::max(a[k] - d[k] * upper, 0.0);
      if ((roles[k] & kHead) != 0) y[k] -= std::max(d[k] * lower - a[k], 0.0);
    }
  }

 private:
  // Makes the root of sum_T d (b - t)_+ - sum_H d (t - b)_+ = 0 that of the hinges at `drop_`, as
  // -(t - b)_+ = (top - t) - (top - b) - (b - t)_+ below the top; false without tails or heads.
  bool balance(const std::uint8_t* roles, const double* a, const double* d, std::int64_t count) {
    hinges_.clear();
    bool sending = false;
    double top = -std::numeric_limits<double>::infinity();
    double taking = 0.0;
    for (std::int64_t k = 0; k < count; ++k) {
      const double b = a[k] / d[k];
      top = std::max(top, b);
      if ((roles[k] & kTail) != 0) hinges_.add(b, d[k]);
      if ((roles[k] & kHead) != 0) hinges_.add(b, -d[k]);
      sending = sending || (roles[k] & kTail) != 0;
      taking += (roles[k] & kHead) != 0 ? d[k] : 0.0;
    }
    hinges_.add(top, taking);
    drop_ = 0.0;
    for (std::int64_t k = 0; k < count; ++k)
      if ((roles[k] & kHead) != 0) drop_ += d[k] * (top - a[k] / d[k]);
    return sending && taking > 0.0;
  }

  static double sent(double level, const std::uint8_t* roles, const double* a, const double* d,
                     std::int64_t count) {
    double sum = 0.0;
    for (std::int64_t k = 0; k < count; ++k)
      if ((roles[k] & kTail) != 0) sum += std::max(a[k] - d[k] * level, 0.0);
    return sum;
  }

  // The t at which the members of a role have sum d (sign b - t)_+ = weight.
  double level(std::uint8_t role, double sign, double weight, const std::uint8_t* roles,
               const double* a, const double* d, std::int64_t count) {
    hinges_.clear();
    for (std::int64_t k = 0; k < count; ++k)
      if ((roles[k] & role) != 0) hinges_.add(sign * a[k] / d[k], d[k]);
    return hinges_.root(weight);
  }

  Hinges hinges_;
  double drop_ = 0.0;
};

// y := clip(a - t d, lower, upper) with the t for which the sum is `total`.
inline void weighted_slice(const double* lower, const double* upper, double total, const double* a,
                           const double* d, double* y, std::int64_t count) {
  thread_local Hinges hinges;
  const double least = std::accumulate(lower, lower + count, 0.0);
  const double most = std::accumulate(upper, upper + count, 0.0);
  if (total >= most || total <= least) {
    std::copy_n(total >= most ? upper : lower, count, y);
    return;
  }
  hinges.clear();
  for (std::int64_t k = 0; k < count; ++k) {
    hinges.add((a[k] - lower[k]) / d[k], d[k]);
    hinges.add((a[k] - upper[k]) / d[k], -d[k]);
  }
  const double t = hinges.root(total - least);
  for (std::int64_t k = 0; k < count; ++k)
    y[k] = std::min(std::max(a[k] - t * d[k], lower[k]), upper[k]);
}

// Concave functions of the cardinality, by decomposition. A minor is a range of places of `order_`,
// whose members have the gains of these places among them.
class WeightedCardinality {
 public:
  static WeightedCardinality& of_this_thread() {
    thread_local WeightedCardinality projector;
    return projector;
  }

  void project(const double* gains, const double* a, const double* d, double* y,
               std::int64_t count) {
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0);
    pending_.assign(1, {0, count});
    while (!pending_.empty()) {
      const Minor minor = pending_.back();
      pending_.pop_back();
      const double rounding = project_hyperplane(minor, gains, a, d, y);
      if (!std::isfinite(rounding)) continue;  // what is not a number has no order
      const std::int64_t split = most_violated(minor, gains, y, rounding);
      if (split == minor.first) continue;
      pending_.push_back({minor.first, split});
      pending_.push_back({split, minor.last});
    }
  }

 private:
  struct Minor {
    std::int64_t first, last;
  };

  // Returns the rounding error of sums of y.
  double project_hyperplane(const Minor& minor, const double* gains, const double* a,
                            const double* d, double* y) const {
    double excess = 0.0;
    double width = 0.0;
    for (std::int64_t k = minor.first; k < minor.last; ++k) {
      excess += gains[k] - a[order_[k]];
      width += d[order_[k]];
    }
    double magnitude = 0.0;
    for (std::int64_t k = minor.first; k < minor.last; ++k) {
      const std::int64_t j = order_[k];
      y[j] = a[j] + d[j] * (excess / width);
      magnitude += std::abs(y[j]);
    }
    return 4.0 * std::numeric_limits<double>::epsilon() *
           static_cast<double>(minor.last - minor.first) * magnitude;
  }

  // Sorts the members by y and returns the end of the first ones that exceed their gains most, or
  // the first place if none do.
  std::int64_t most_violated(const Minor& minor, const double* gains, const double* y,
                             double rounding) {
    const auto before = [y](std::int64_t i, std::int64_t j) {
      return y[i] > y[j] || (y[i] == y[j] && i < j);
    };
    std::sort(order_.begin() + minor.first, order_.begin() + minor.last, before);
    double most = rounding;
    double sum = 0.0;
    std::int64_t split = minor.first;
    for (std::int64_t k = minor.first; k + 1 < minor.last; ++k) {
      sum += y[order_[k]] - gains[k];
      if (sum <= most) continue;
      most = sum;
      split = k + 1;
    }
    return split;
  }

  std::vector<std::int64_t> order_;
  std::vector<Minor> pending_;
};

// Johnson's dynamic programme for a chain (2013, doi:10.1080/10618600.2012.681238). The derivative
// of the best cost of the nodes so far, as a function of x at the last of them, is increasing and
// piecewise linear: its outermost lines, and its knots, which are pushed and popped at both ends.
class WeightedChain {
 public:
  static WeightedChain& of_this_thread() {
    thread_local WeightedChain projector;
    return projector;
  }

  // The target is y - step, with the y of the duals t. Edges are one fewer than nodes; `out`
  // becomes the duals of the projection.
  void project(const double* step, const double* d, const double* backward, const double* forward,
               const double* flow, double* out, std::int64_t count) {
    reserve(count);
    first_ = last_ = count;
    Line left{0.0, 0.0};
    Line right{0.0, 0.0};
    for (std::int64_t j = 0; j < count; ++j) {
      a_[j] = (j + 1 < count ? flow[j] : 0.0) - (j > 0 ? flow[j - 1] : 0.0) - step[j];
      left = {left.slope + d[j], left.intercept - a_[j]};
      right = {right.slope + d[j], right.intercept - a_[j]};
      if (j + 1 == count) break;
      // Without a limit on a side, the line of that side goes on.
      low_[j] = forward[j] < kFree ? pop_left(left, -forward[j]) : -kFree;
      high_[j] = backward[j] < kFree ? std::max(low_[j], pop_right(right, backward[j])) : kFree;
      if (forward[j] < kFree) {
        knots_[--first_] = {low_[j], left.slope, left.intercept + forward[j]};
        left = {0.0, -forward[j]};
      }
      if (backward[j] < kFree) {
        knots_[last_++] = {high_[j], -right.slope, backward[j] - right.intercept};
        right = {0.0, backward[j]};
      }
    }
    trace(pop_left(left, 0.0), d, backward, forward, out, count);
  }

 private:
  struct Line {
    double slope, intercept;
  };
  struct Knot {
    double place, slope, intercept;  // and what is added to the line to the left of it
  };

  void reserve(std::int64_t count) {
    if (static_cast<std::int64_t>(a_.size()) >= count) return;
    a_.resize(count);
    low_.resize(count);
    high_.resize(count);
    knots_.resize(2 * count + 1);
  }

  // Where the derivative is `value`; the knots to the left of that are gone.
  double pop_left(Line& left, double value) {
    for (; first_ < last_; ++first_) {
      const Knot& knot = knots_[first_];
      if (left.slope * knot.place + left.intercept > value) break;
      left = {left.slope + knot.slope, left.intercept + knot.intercept};
    }
    return (value - left.intercept) / left.slope;
  }

  double pop_right(Line& right, double value) {
    for (; first_ < last_; --last_) {
      const Knot& knot = knots_[last_ - 1];
      if (right.slope * knot.place + right.intercept < value) break;
      right = {right.slope - knot.slope, right.intercept - knot.intercept};
    }
    return (value - right.intercept) / right.slope;
  }

  // Goes back from x at the last node, and marks the edges at their limits; then sums the duals.
  void trace(double x, const double* d, const double* backward, const double* forward, double* out,
             std::int64_t count) {
    for (std::int64_t j = count - 1; j >= 0; --j) {
      if (j + 1 < count) {
        out[j] = x < low_[j] ? forward[j] : x > high_[j] ? -backward[j] : kFree;
        x = std::min(std::max(x, low_[j]), high_[j]);
      }
      a_[j] -= d[j] * x;
    }
    double flow = 0.0;
    for (std::int64_t j = 0; j + 1 < count; ++j) {
      if (out[j] == kFree) out[j] = std::min(std::max(flow + a_[j], -backward[j]), forward[j]);
      flow = out[j];
    }
  }

  static constexpr double kFree = std::numeric_limits<double>::infinity();

  std::vector<double> a_, low_, high_;
  std::vector<Knot> knots_;
  std::int64_t first_ = 0, last_ = 0;
};

}  // namespace submin

// Projections in a diagonal metric, argmin of sum (y - a)^2 / (2 d) over a base polytope: groups and
// chains whose weights vary. kernels/diagonal_metric.py has the mathematics.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "hyperedge.hpp"

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

// y := the projection for functions w (max over tails - min over heads)_+.
inline void project_hyperedge(double weight, const std::uint8_t* roles, const double* a,
                              const double* d, double* y, std::int64_t count) {
  thread_local Hinges hinges;
  double top = -std::numeric_limits<double>::infinity();
  std::int64_t tails = 0;
  double taking = 0.0;
  for (std::int64_t k = 0; k < count; ++k) {
    top = std::max(top, a[k] / d[k]);
    tails += (roles[k] & kTail) != 0;
    taking += (roles[k] & kHead) != 0 ? d[k] : 0.0;
  }
  std::fill_n(y, count, 0.0);
  if (tails == 0 || taking == 0.0) return;
  // Tails send what heads take.
  hinges.clear();
  double drop = 0.0;
  for (std::int64_t k = 0; k < count; ++k) {
    const double b = a[k] / d[k];
    if ((roles[k] & kTail) != 0) hinges.add(b, d[k]);
    if ((roles[k] & kHead) == 0) continue;
    hinges.add(b, -d[k]);
    drop += d[k] * (top - b);
  }
  hinges.add(top, taking);
  double upper = hinges.root(drop);
  double lower = upper;
  double sent = 0.0;
  for (std::int64_t k = 0; k < count; ++k)
    if ((roles[k] & kTail) != 0) sent += d[k] * std::max(a[k] / d[k] - upper, 0.0);
  if (sent > weight) {
    hinges.clear();
    for (std::int64_t k = 0; k < count; ++k)
      if ((roles[k] & kTail) != 0) hinges.add(a[k] / d[k], d[k]);
    upper = hinges.root(weight);
    hinges.clear();
    for (std::int64_t k = 0; k < count; ++k)
      if ((roles[k] & kHead) != 0) hinges.add(-a[k] / d[k], d[k]);
    lower = -hinges.root(weight);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    if ((roles[k] & kTail) != 0) y[k] += std::max(a[k] - d[k] * upper, 0.0);
    if ((roles[k] & kHead) != 0) y[k] -= std::max(d[k] * lower - a[k], 0.0);
  }
}

// y := clip(a - t d, lower, upper) with the t for which the sum is `total`.
inline void project_slice(const double* lower, const double* upper, double total, const double* a,
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

// y := the projection for a concave function of the cardinality, by decomposition: members
// first, ..., last - 1 of `order` are a minor with the gains of these places.
inline void project_cardinality(const double* gains, const double* a, const double* d, double* y,
                                std::int64_t count) {
  struct Minor {
    std::int64_t first, last;
  };
  thread_local std::vector<std::int64_t> order;
  thread_local std::vector<Minor> pending;
  order.resize(std::max<std::size_t>(order.size(), count));
  std::iota(order.begin(), order.begin() + count, 0);
  pending.assign(1, {0, count});
  while (!pending.empty()) {
    const auto [first, last] = pending.back();
    pending.pop_back();
    double excess = 0.0;
    double width = 0.0;
    for (std::int64_t k = first; k < last; ++k) {
      excess += gains[k] - a[order[k]];
      width += d[order[k]];
    }
    double magnitude = 0.0;
    for (std::int64_t k = first; k < last; ++k) {
      y[order[k]] = a[order[k]] + d[order[k]] * (excess / width);
      magnitude += std::abs(y[order[k]]);
    }
    std::sort(order.begin() + first, order.begin() + last,
              [&](std::int64_t i, std::int64_t j) { return y[i] > y[j] || (y[i] == y[j] && i < j); });
    double most = 4.0 * std::numeric_limits<double>::epsilon() *
                  static_cast<double>(last - first) * magnitude;
    double sum = 0.0;
    std::int64_t split = first;
    for (std::int64_t k = first; k + 1 < last; ++k) {
      sum += y[order[k]] - gains[k];
      if (sum > most) {
        most = sum;
        split = k + 1;
      }
    }
    if (split == first) continue;
    pending.push_back({first, split});
    pending.push_back({split, last});
  }
}

// Johnson's dynamic programme for a chain (2013, doi:10.1080/10618600.2012.681238). The derivative
// of the best cost of the nodes so far, as a function of x at the last of them, is increasing and
// piecewise linear: its outermost lines, and its knots, which are pushed and popped at both ends.
class ChainProgramme {
 public:
  static ChainProgramme& of_this_thread() {
    thread_local ChainProgramme programme;
    return programme;
  }

  // The target is y - step, with the y of the flows. Edges are one fewer than nodes; `out` becomes
  // the flows of the projection.
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
      low_[j] = pop_left(left, -forward[j]);
      high_[j] = std::max(low_[j], pop_right(right, backward[j]));
      knots_[--first_] = {low_[j], left.slope, left.intercept + forward[j]};
      knots_[last_++] = {high_[j], -right.slope, backward[j] - right.intercept};
      left = {0.0, -forward[j]};
      right = {0.0, backward[j]};
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

  // Goes back from x at the last node, and marks the edges at their limits; then sums the flows.
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

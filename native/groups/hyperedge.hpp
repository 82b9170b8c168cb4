// Hyperedges w (max over tails - min over heads)_+: a flow from high tails to low heads.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/piecewise_root.hpp"
#include "groups/groups.hpp"

namespace submin {

constexpr std::uint8_t kTail = 1;
constexpr std::uint8_t kHead = 2;

struct Hyperedges {
  const double* weights;
  const std::uint8_t* roles;  // null: every member is both
};

// G(theta) = sum over tails of (b - theta)_+  -  sum over heads of (theta - b)_+  -  target.
struct Balance {
  const double* tails;
  std::int64_t tail_count;
  const double* heads;
  std::int64_t head_count;
  double target;

  Level operator()(double theta) const {
    const Sums up = sum_items(tail_count, [&](std::int64_t k) SUBMIN_INLINE {
      const double above = tails[k] - theta;
      return Sums{above > 0.0 ? above : 0.0, above > 0.0 ? 1.0 : 0.0, 0.0};
    });
    const Sums down = sum_items(head_count, [&](std::int64_t k) SUBMIN_INLINE {
      const double below = theta - heads[k];
      return Sums{below > 0.0 ? below : 0.0, 0.0, below > 0.0 ? 1.0 : 0.0};
    });
    return {up.value - down.value - target, up.first + down.second, up.first, down.second};
  }

  void knots(double low, double high, std::vector<double>& out) const {
    for (std::int64_t k = 0; k < tail_count; ++k)
      if (low < tails[k] && tails[k] < high) out.push_back(tails[k]);
    for (std::int64_t k = 0; k < head_count; ++k)
      if (low < heads[k] && heads[k] < high) out.push_back(heads[k]);
  }
};

// Buffers of one thread.
class HyperedgeProjector {
 public:
  static HyperedgeProjector& of_this_thread() {
    thread_local HyperedgeProjector projector;
    return projector;
  }

  // b := (b - u)_+ on tails minus (l - b)_+ on heads. At the level theta tails send as much as
  // heads take; if that is w or less, u = l = theta, else tails send and heads take w each.
  // Members with y > 0 are the first guess at those that send, with y < 0 at those that take.
  void project(double weight, const std::uint8_t* roles, const double* y, double* b,
               std::int64_t count) {
    if (count == 0) return;
    const Balance ends =
        roles == nullptr ? Balance{b, count, b, count, 0.0} : split(roles, b, count);
    const double theta = roles == nullptr ? mean(b, count) : level(ends, y, b, count);
    const Balance sent{ends.tails, ends.tail_count, nullptr, 0, weight};
    double upper = theta;
    double lower = theta;
    if (sent(theta).value > 0.0) {
      const Balance taken{nullptr, 0, ends.heads, ends.head_count, -weight};
      const Guess guess = guessed(y, b, count);
      const double above = guess.senders > 0.0 ? (guess.sent - weight) / guess.senders : theta;
      const double below = guess.takers > 0.0 ? (guess.taken + weight) / guess.takers : theta;
      constexpr double infinity = std::numeric_limits<double>::infinity();
      upper = piecewise_root(sent, theta, infinity, above, knots_);
      lower = piecewise_root(taken, -infinity, theta, below, knots_);
    }
    if (roles == nullptr)
      cut(upper, lower, b, count);
    else
      cut(upper, lower, roles, b, count);
  }

 private:
  struct Guess {
    double sent;
    double senders;
    double taken;
    double takers;
  };

  static Guess guessed(const double* y, const double* b, std::int64_t count) {
    const Sums up = sum_items(count, [&](std::int64_t k) SUBMIN_INLINE {
      return Sums{y[k] > 0.0 ? b[k] : 0.0, y[k] > 0.0 ? 1.0 : 0.0, 0.0};
    });
    const Sums down = sum_items(count, [&](std::int64_t k) SUBMIN_INLINE {
      return Sums{y[k] < 0.0 ? b[k] : 0.0, y[k] < 0.0 ? 1.0 : 0.0, 0.0};
    });
    return {up.value, up.first, down.value, down.first};
  }

  static double mean(const double* b, std::int64_t count) {
    const Sums sums =
        sum_items(count, [&](std::int64_t k) SUBMIN_INLINE { return Sums{b[k], 0.0, 0.0}; });
    return sums.value / static_cast<double>(count);
  }

  Balance split(const std::uint8_t* roles, const double* b, std::int64_t count) {
    ends_.resize(std::max<std::size_t>(ends_.size(), 2 * count));
    double* const tails = ends_.data();
    double* const heads = tails + count;
    std::int64_t tail_count = 0;
    std::int64_t head_count = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      tails[tail_count] = heads[head_count] = b[k];
      tail_count += (roles[k] & kTail) != 0;
      head_count += (roles[k] & kHead) != 0;
    }
    return {tails, tail_count, heads, head_count, 0.0};
  }

  double level(const Balance& ends, const double* y, const double* b, std::int64_t count) {
    const Guess guess = guessed(y, b, count);
    const auto [least, most] = std::minmax_element(b, b + count);
    const double active = guess.senders + guess.takers;
    const double start = active > 0.0 ? (guess.sent + guess.taken) / active : mean(b, count);
    return piecewise_root(ends, *least, *most, start, knots_);
  }

  static void cut(double upper, double lower, double* b, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) {
      const double up = b[k] - upper;
      const double down = b[k] - lower;
      b[k] = (up > 0.0 ? up : 0.0) + (down < 0.0 ? down : 0.0);
    }
  }

  static void cut(double upper, double lower, const std::uint8_t* roles, double* b,
                  std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) {
      const double up = b[k] - upper;
      const double down = b[k] - lower;
      b[k] = ((roles[k] & kTail) != 0 && up > 0.0 ? up : 0.0) +
             ((roles[k] & kHead) != 0 && down < 0.0 ? down : 0.0);
    }
  }

  std::vector<double> ends_;
  std::vector<double> knots_;
};

// Projects one group in place, for project_selected and sweep_selected.
inline auto hyperedge_projection(const Hyperedges& all) {
  return [=](std::int64_t group, std::int64_t begin, std::int64_t count, const double* y,
             double* values) {
    const std::uint8_t* const roles = all.roles == nullptr ? nullptr : all.roles + begin;
    HyperedgeProjector::of_this_thread().project(all.weights[group], roles, y, values, count);
  };
}

// The largest of y(S) over the sets without a tail, over those with all heads, and of y(S) - w.
inline Excess hyperedge_excess(double weight, const std::uint8_t* roles, const double* y,
                               std::int64_t count) {
  Compensated without_tails, with_heads, all;
  double magnitude = 0.0;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::uint8_t role = roles == nullptr ? kTail | kHead : roles[k];
    const double positive = y[k] > 0.0 ? y[k] : 0.0;
    all.add(positive);
    if (!(role & kTail)) without_tails.add(positive);
    with_heads.add(role & kHead ? y[k] : positive);
    magnitude += std::abs(y[k]);
  }
  const double free = larger(without_tails.rounded(), with_heads.rounded());
  const double cut = (all.sum - weight) + all.error;
  return with_error(larger(free, cut), count, magnitude);
}

}  // namespace submin

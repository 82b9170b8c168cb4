// What a dual of the edges proves, and what a labelling costs; both in double precision.
//
//     sum over v of min over p of (D_v(p) + sum of the duals at v)
//     + sum over e of min over p, q of (weight_e d(p, q) - dual at the tail(p) - dual at the
//     head(q))
//
// is a lower bound whatever the dual is. Each least value is taken of values less their rounding
// errors. A label whose dual is -infinity is forbidden at that end.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/compensated.hpp"
#include "labels/distances.hpp"
#include "labels/fusion.hpp"
#include "labels/node_edges.hpp"

namespace submin {
namespace labels {

constexpr double kRoundoff = 0x1p-53;

// A term of a sum, less what the sum may round up.
inline double surely(double term) { return term - 2.0 * kRoundoff * std::abs(term); }

// A dual in single or in double precision.
template <class Real>
struct DualRows {
  const Real* at_tail;
  const Real* at_head;
};

// Least sums of a node's costs and duals. `costs` has a row of nodes for each label.
template <class Cost, class Real>
double nodes_bound(const MoveEdges& edges, const DualRows<Real>& dual, const Cost* costs,
                   std::int64_t nodes, std::int64_t labels, int threads) {
  const NodeEdges around(edges.tails, edges.heads, edges.count, nodes);
  return sum_of_pieces(nodes, 4096, threads, [&](std::int64_t begin, std::int64_t end) {
    Compensated total;
    for (std::int64_t v = begin; v < end; ++v) {
      double sums[kMostLabels], sizes[kMostLabels];
      for (std::int64_t p = 0; p < labels; ++p) {
        sums[p] = static_cast<double>(costs[p * nodes + v]);
        sizes[p] = std::abs(sums[p]);
      }
      for (const std::int32_t* e = around.begin(v); e < around.end(v); ++e) {
        const Real* const row =
            (edges.tails[*e] == v ? dual.at_tail : dual.at_head) + *e * edges.padded;
        for (std::int64_t p = 0; p < labels; ++p) {
          sums[p] += static_cast<double>(row[p]);
          sizes[p] += std::abs(static_cast<double>(row[p]));
        }
      }
      const double lost =
          2.0 * static_cast<double>(around.end(v) - around.begin(v) + 1) * kRoundoff;
      double lowest = std::numeric_limits<double>::infinity();
      for (std::int64_t p = 0; p < labels; ++p) {
        if (std::isinf(static_cast<double>(costs[p * nodes + v]))) continue;
        lowest = std::min(lowest, sums[p] - lost * sizes[p]);
      }
      total.add(surely(lowest));
    }
    return total;
  });
}

// Least values of an edge: pairs whose distance is below the cap, and the best at either end.
template <class Real>
class EdgeBound {
 public:
  EdgeBound(const MoveEdges& edges, const DualRows<Real>& dual, std::int64_t kinds,
            std::int64_t labels)
      : edges_(edges), dual_(dual), labels_(labels) {
    for (std::int64_t kind = 0; kind < kinds; ++kind) add_kind(kind);
  }

  double operator()(std::int64_t e) const {
    const Real* const a = dual_.at_tail + e * edges_.padded;
    const Real* const b = dual_.at_head + e * edges_.padded;
    const double weight = edges_.weights[e];
    const Kind& kind = kinds_[edges_.kinds[e]];
    const Real most = *std::max_element(b, b + labels_);
    double lowest = less(weight * kind.cap, *std::max_element(a, a + labels_), most);
    for (std::int32_t p = 0; p < labels_; ++p) {
      if (std::isinf(a[p]) || less(0.0, a[p], most) >= lowest) continue;  // it costs more anyway
      for (const Near& near : kind.near[static_cast<std::size_t>(p)])
        if (!std::isinf(b[near.label]))
          lowest = std::min(lowest, less(weight * near.distance, a[p], b[near.label]));
    }
    return lowest;
  }

 private:
  struct Near {
    std::int32_t label;
    double distance;
  };
  struct Kind {
    double cap = 0.0;
    std::vector<std::vector<Near>> near;  // of each label, those below the cap
  };

  void add_kind(std::int64_t number) {
    const double* const d = edges_.distances + number * edges_.padded * edges_.padded;
    Kind kind;
    for (std::int64_t p = 0; p < labels_; ++p)
      kind.cap = std::max(
          kind.cap, *std::max_element(d + p * edges_.padded, d + p * edges_.padded + labels_));
    for (std::int64_t p = 0; p < labels_; ++p) {
      std::vector<Near> near;
      for (std::int64_t q = 0; q < labels_; ++q)
        if (d[p * edges_.padded + q] < kind.cap)
          near.push_back({static_cast<std::int32_t>(q), d[p * edges_.padded + q]});
      kind.near.push_back(std::move(near));
    }
    kinds_.push_back(std::move(kind));
  }

  static double less(double cost, Real a, Real b) {
    const double tail = static_cast<double>(a), head = static_cast<double>(b);
    return cost - tail - head - 4.0 * kRoundoff * (cost + std::abs(tail) + std::abs(head));
  }

  MoveEdges edges_;
  DualRows<Real> dual_;
  std::int64_t labels_;
  std::vector<Kind> kinds_;
};

template <class Real>
double edges_bound(const MoveEdges& edges, const DualRows<Real>& dual, std::int64_t kinds,
                   std::int64_t labels, int threads) {
  const EdgeBound<Real> bound(edges, dual, kinds, labels);
  return sum_of_pieces(edges.count, 4096, threads, [&](std::int64_t begin, std::int64_t end) {
    Compensated total;
    for (std::int64_t e = begin; e < end; ++e) total.add(surely(bound(e)));
    return total;
  });
}

// The sum of weighted distances of a labelling.
inline double edges_cost(const MoveEdges& edges, const std::int32_t* chosen, int threads) {
  return sum_of_pieces(edges.count, kSumGrain, threads, [&](std::int64_t begin, std::int64_t end) {
    Compensated total;
    for (std::int64_t e = begin; e < end; ++e)
      total.add(edges.distance(e, chosen[edges.tails[e]], chosen[edges.heads[e]]));
    return total;
  });
}

}  // namespace labels
}  // namespace submin

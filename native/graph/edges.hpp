// Edges of a graph, matchings or in turn: t+ = clip(t - (s_i - s_j) / (2 c), -backward, forward).
#pragma once

#include <cstdint>

#include "core/indices.hpp"
#include "core/parallel.hpp"
#include "core/vectorize.hpp"

namespace submin {

constexpr std::int64_t kEdgeGrain = 16384;  // edges in a piece of parallel work

// One weight for all edges, or one for each, of float64 or float32; known at compile time, for the
// sake of vector loops. All are float64 once they are read.
struct UniformWeight {
  double value;
  double operator[](std::int64_t) const { return value; }
};

template <class Scalar>
struct EdgeWeights {
  const Scalar* values;
  double operator[](std::int64_t edge) const { return values[edge]; }
};

struct WeightArray {
  const double* values;
  bool uniform;
  const float* singles = nullptr;  // in place of `values`, one for each edge

  double operator[](std::int64_t edge) const {
    if (singles != nullptr) return singles[edge];
    return values[uniform ? 0 : edge];
  }
  // The weights of the edges from `first` on.
  WeightArray from(std::int64_t first) const {
    if (singles != nullptr) return {nullptr, false, singles + first};
    return {values + (uniform ? 0 : first), uniform};
  }
};

template <class Lower, class Upper>
constexpr bool kMixed = false;
template <>
inline constexpr bool kMixed<EdgeWeights<double>, EdgeWeights<float>> = true;
template <>
inline constexpr bool kMixed<EdgeWeights<float>, EdgeWeights<double>> = true;

// Calls use(backward, forward) with the types of the two arrays resolved, which must not be of
// different precisions: that would double the code, and is rare.
template <class Use>
SUBMIN_INLINE inline void with_weights(WeightArray backward, WeightArray forward, const Use& use) {
  const auto resolve = [](WeightArray weights, const auto& next) SUBMIN_INLINE {
    if (weights.uniform) return next(UniformWeight{*weights.values});
    if (weights.singles != nullptr) return next(EdgeWeights<float>{weights.singles});
    return next(EdgeWeights<double>{weights.values});
  };
  resolve(backward, [&](auto lower) SUBMIN_INLINE {
    resolve(forward, [&](auto upper) SUBMIN_INLINE {
      if constexpr (!kMixed<decltype(lower), decltype(upper)>) use(lower, upper);
    });
  });
}

// Each comparison is one instruction, scalar or vector.
inline double clip(double value, double lower, double upper) {
  value = value < lower ? lower : value;
  return upper < value ? upper : value;
}

struct EdgeList {
  const std::int32_t* tails;
  const std::int32_t* heads;
  const std::int32_t* edges;
  std::int64_t count;       // of these edges
  std::int64_t all, nodes;  // of the graph

  // Refused if out of range, before anything is done to the edge.
  std::int64_t edge(std::int64_t k) const { return checked_index(edges, k, all, "edges"); }
  std::int64_t tail(std::int64_t e) const { return checked_index(tails, e, nodes, "tails"); }
  std::int64_t head(std::int64_t e) const { return checked_index(heads, e, nodes, "heads"); }
};

// The loops stay scalar: vector gathers and scatters measured twice as slow.

inline void edges_project(const EdgeList& list, WeightArray backward, WeightArray forward,
                          const double* flow, const double* s, double c, double* out, int threads) {
  const double half = 0.5 / c;
  with_weights(backward, forward, [=](auto lower, auto upper) {
    parallel_for(list.count, kEdgeGrain, threads, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t e = list.edge(k);
        const double difference = s[list.tail(e)] - s[list.head(e)];
        out[k] = clip(flow[e] - difference * half, -lower[e], upper[e]);
      }
    });
  });
}

// One edge with c = 1, in place.
template <class Lower, class Upper>
SUBMIN_INLINE inline void sweep_edge(std::int64_t e, std::int64_t i, std::int64_t j, Lower lower,
                                     Upper upper, double* flow, double* s) {
  const double old = flow[e];
  const double tail = s[i];
  const double head = s[j];
  const double updated = clip(old - (tail - head) * 0.5, -lower[e], upper[e]);
  flow[e] = updated;
  s[i] = tail + (updated - old);
  s[j] = head - (updated - old);
}

inline void edges_sweep(const EdgeList& list, WeightArray backward, WeightArray forward,
                        double* flow, double* s, int threads) {
  with_weights(backward, forward, [=](auto lower, auto upper) {
    parallel_for(list.count, kEdgeGrain, threads, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t e = list.edge(k);
        sweep_edge(e, list.tail(e), list.head(e), lower, upper, flow, s);
      }
    });
  });
}

// Edge after edge, which may share nodes: each finds what those before it have left.
inline void edges_sweep_in_turn(const std::int32_t* tails, const std::int32_t* heads,
                                std::int64_t edges, WeightArray backward, WeightArray forward,
                                double* flow, double* s) {
  with_weights(backward, forward, [=](auto lower, auto upper) {
    for (std::int64_t e = 0; e < edges; ++e)
      sweep_edge(e, tails[e], heads[e], lower, upper, flow, s);
  });
}

}  // namespace submin

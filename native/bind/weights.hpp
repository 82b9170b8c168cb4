// Checks of edge weights, shared by the bindings of edges, grids, chains and flows.
#pragma once

#include "bind/arrays.hpp"
#include "graph/edges.hpp"

namespace submin {

// In double or in single precision.
using Weights = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct Bounds {
  WeightArray backward, forward;
};

inline bool is_single(const Weights& weights) {
  if (weights.dtype() == nb::dtype<float>()) return true;
  if (weights.dtype() != nb::dtype<double>())
    throw nb::type_error("weights must have the type float64 or float32");
  return false;
}

inline WeightArray checked_weights(const Weights& weights, std::size_t edges, const char* name) {
  const bool single = is_single(weights);
  const void* const values = weights.data();
  if (weights.size() == 1 && !single) return {static_cast<const double*>(values), true};
  require_size(weights.size(), size_of(edges), name);
  if (single) return {nullptr, false, static_cast<const float*>(values)};
  return {static_cast<const double*>(values), false};
}

// One weight for all edges goes with every type.
inline Bounds checked_bounds(const Weights& backward, const Weights& forward, std::size_t edges) {
  const Bounds bounds = {checked_weights(backward, edges, "backward"),
                         checked_weights(forward, edges, "forward")};
  const bool uniform = bounds.backward.uniform || bounds.forward.uniform;
  if (!uniform && is_single(backward) != is_single(forward))
    throw nb::type_error("backward and forward must have the same type");
  return bounds;
}

}  // namespace submin

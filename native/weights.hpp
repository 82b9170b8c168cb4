// Size check of edge weights, shared by the bindings of edges and grids.
#pragma once

#include "bindings.hpp"
#include "edges.hpp"

namespace submin {

inline WeightArray checked_weights(const ConstValues& weights, std::size_t edges,
                                   const char* name) {
  if (weights.size() == 1) return {weights.data(), true};
  require_size(weights.size(), size_of(edges), name);
  return {weights.data(), false};
}

}  // namespace submin

// What a block of chains reads and writes.
#pragma once

#include <cstdint>

#include "graph/edges.hpp"

namespace submin {

constexpr std::int64_t kBatchChains = 64;  // the most chains that are solved together

// `new_s` is null for a projection.
struct ChainArrays {
  WeightArray backward, forward;
  const double* flow;
  const double* s;
  double c;
  double* new_flow;
  double* new_s;
};

}  // namespace submin

// Sums over the edges of a graph that is given by its list of edges.
#pragma once

#include <cstdint>
#include <vector>

#include "core/compensated.hpp"
#include "graph/edges.hpp"

namespace submin {

// Adds scale times the flow out of each node to s.
inline void edges_accumulate(const std::int32_t* tails, const std::int32_t* heads,
                             const double* flow, std::int64_t edges, double* s, double scale) {
  for (std::int64_t e = 0; e < edges; ++e) {
    const double amount = scale * flow[e];
    s[tails[e]] += amount;
    s[heads[e]] -= amount;
  }
}

// The same with scale 1 and compensated sums, for hubs of very many edges.
inline void edges_accumulate_compensated(const std::int32_t* tails, const std::int32_t* heads,
                                         const double* flow, std::int64_t edges, double* s,
                                         std::int64_t nodes) {
  std::vector<double> errors(static_cast<std::size_t>(nodes), 0.0);
  const auto add = [&](std::int32_t v, double amount) {
    Compensated total{s[v], errors[static_cast<std::size_t>(v)]};
    total.add(amount);
    s[v] = total.sum;
    errors[static_cast<std::size_t>(v)] = total.error;
  };
  for (std::int64_t e = 0; e < edges; ++e) {
    add(tails[e], flow[e]);
    add(heads[e], -flow[e]);
  }
  for (std::int64_t v = 0; v < nodes; ++v) s[v] += errors[static_cast<std::size_t>(v)];
}

// The weight of the edges that a set cuts.
inline double edges_cut_value(const std::int32_t* tails, const std::int32_t* heads,
                              std::int64_t edges, WeightArray backward, WeightArray forward,
                              const std::uint8_t* member, int threads) {
  return sum_of_pieces(edges, kSumGrain, threads, [=](std::int64_t begin, std::int64_t end) {
    Compensated total;
    for (std::int64_t e = begin; e < end; ++e) {
      const bool tail = member[tails[e]] != 0;
      if (tail == (member[heads[e]] != 0)) continue;
      total.add((tail ? forward : backward)[e]);
    }
    return total;
  });
}

}  // namespace submin

// The imbalance that a flow leaves at auxiliary nodes, moved to the other nodes along one edge
// each.
#pragma once

#include <cmath>

#include "flow/residual_graph.hpp"

namespace submin::flow {

// Nodes from `first` on are auxiliaries. What is moved is residual, so that a maximum flow stays
// one; the edges of an auxiliary are taken in their order, while it has an imbalance.
inline void settle(const GraphFlowProblem& problem, std::int64_t first) {
  for (std::int64_t e = 0; e < problem.edges; ++e) {
    const Index tail = problem.tails[e], head = problem.heads[e];
    const bool out = tail >= first;
    if (out == (head >= first)) continue;
    double& s = problem.imbalance[out ? tail : head];
    if (s == 0) continue;
    const bool excess = s < 0;
    const double moved = push_edge(problem.flow[e], problem.forward[e], problem.backward[e],
                                   excess == out, std::abs(s))
                             .amount;
    const double given = excess ? moved : -moved;
    s += given;
    problem.imbalance[out ? head : tail] -= given;
  }
}

}  // namespace submin::flow

// The residual arcs of a pseudoflow on a general sparse graph, on the caller's arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "flow/residual_search.hpp"
#include "graph/edges.hpp"

namespace submin::flow {

struct GraphFlowProblem {
  std::int64_t nodes, edges;
  const Index* tails;
  const Index* heads;
  WeightArray backward, forward;
  double* flow;
  double* imbalance;
};

// An arc is an edge and a direction, 2 * edge + (1 against the edge), so arc ^ 1 is its twin.
using ArcNumber = std::uint32_t;

struct HalfEdge {
  Index head;
  ArcNumber arc;
};

// Arcs by node; edges from a node to itself are left out.
class ResidualGraph {
 public:
  explicit ResidualGraph(const GraphFlowProblem& problem)
      : problem_(problem), starts_(static_cast<std::size_t>(problem.nodes) + 1, 0) {
    for_each_edge([&](Index tail, Index head, ArcNumber) {
      ++starts_[tail + 1];
      ++starts_[head + 1];
    });
    for (std::size_t v = 1; v < starts_.size(); ++v) starts_[v] += starts_[v - 1];
    arcs_.resize(static_cast<std::size_t>(starts_.back()));
    std::vector<Index> next(starts_.begin(), starts_.end() - 1);
    for_each_edge([&](Index tail, Index head, ArcNumber arc) {
      arcs_[next[tail]++] = {head, arc};
      arcs_[next[head]++] = {tail, arc ^ 1};
    });
  }

  Index size() const { return static_cast<Index>(problem_.nodes); }
  double& imbalance(Index v) const { return problem_.imbalance[v]; }
  Index first(Index v) const { return starts_[v]; }
  Index stop(Index v) const { return starts_[v + 1]; }
  HalfEdge at(Index position) const { return arcs_[position]; }

  bool residual(ArcNumber arc) const {
    const std::int64_t e = arc >> 1;
    return arc & 1 ? -problem_.flow[e] < problem_.backward[e]
                   : problem_.flow[e] < problem_.forward[e];
  }

  // Moves up to `wish` along an arc, and tells the change of the flow, which is what was wished for
  // up to rounding unless the arc is full then.
  Push push(ArcNumber arc, double wish) {
    const std::int64_t e = arc >> 1;
    const double sign = arc & 1 ? -1.0 : 1.0;
    const double bound = arc & 1 ? problem_.backward[e] : problem_.forward[e];
    const double now = sign * problem_.flow[e], raised = std::min(now + wish, bound);
    if (!(now < bound)) return {0.0, true};
    problem_.flow[e] = sign * raised;
    return {raised - now, !(raised < bound)};
  }

  // Calls found(v) once for each node that one with begins(v) reaches ...
  template <class Begins, class Found>
  void reached_from(Begins begins, Found found) const {
    reach(begins, [&](ArcNumber arc) { return residual(arc); }, found);
  }
  // ... or that reaches one.
  template <class Begins, class Found>
  void reaching(Begins begins, Found found) const {
    reach(begins, [&](ArcNumber arc) { return residual(arc ^ 1); }, found);
  }

 private:
  template <class Visit>
  void for_each_edge(Visit visit) const {
    for (std::int64_t e = 0; e < problem_.edges; ++e) {
      const Index tail = problem_.tails[e], head = problem_.heads[e];
      if (tail != head) visit(tail, head, static_cast<ArcNumber>(e) << 1);
    }
  }

  template <class Begins, class Passes, class Found>
  void reach(Begins begins, Passes passes, Found found) const {
    std::vector<bool> seen(static_cast<std::size_t>(size()), false);
    std::vector<Index> stack;
    const auto add = [&](Index v) {
      seen[v] = true;
      found(v);
      stack.push_back(v);
    };
    for (Index root = 0; root < size(); ++root) {
      if (!seen[root] && begins(root)) add(root);
      while (!stack.empty()) {
        const Index v = stack.back();
        stack.pop_back();
        for (Index k = first(v); k < stop(v); ++k) {
          if (!seen[arcs_[k].head] && passes(arcs_[k].arc)) add(arcs_[k].head);
        }
      }
    }
  }

  GraphFlowProblem problem_;
  std::vector<Index> starts_;
  std::vector<HalfEdge> arcs_;
};

}  // namespace submin::flow

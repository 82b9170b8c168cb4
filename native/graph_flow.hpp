// Max-flow on a general sparse graph, in place on the caller's flows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "residual_search.hpp"

namespace submin::flow {

struct GraphFlowProblem {
  std::int64_t nodes, edges;
  const Index* tails;
  const Index* heads;
  const double* backward;
  const double* forward;
  double* flow;
  std::int64_t backward_step, forward_step;  // 0 = one weight for all edges
  double* imbalance;
};

// Arcs by node; an edge is two arcs, twins of each other. Edges from a node to itself are left out.
class GraphNetwork {
 public:
  using Arc = Index;
  static constexpr Arc none = -1, root = -2, offered = -3;

  explicit GraphNetwork(const GraphFlowProblem& problem)
      : problem_(problem),
        starts_(static_cast<std::size_t>(problem.nodes) + 1, 0),
        labels_(static_cast<std::size_t>(problem.nodes), kFree),
        parents_(static_cast<std::size_t>(problem.nodes), none) {
    for (std::int64_t e = 0; e < problem.edges; ++e) {
      if (problem.tails[e] == problem.heads[e]) continue;
      ++starts_[problem.tails[e] + 1];
      ++starts_[problem.heads[e] + 1];
    }
    for (std::size_t v = 1; v < starts_.size(); ++v) starts_[v] += starts_[v - 1];
    arcs_.resize(static_cast<std::size_t>(starts_.back()));
    std::vector<Index> next(starts_.begin(), starts_.end() - 1);
    for (std::int64_t e = 0; e < problem.edges; ++e) {
      const Index tail = problem.tails[e], head = problem.heads[e];
      if (tail == head) continue;
      const Index there = next[tail]++, back = next[head]++;
      const std::uint32_t along = problem.forward[e * problem.forward_step] > problem.flow[e];
      const std::uint32_t against = problem.backward[e * problem.backward_step] > -problem.flow[e];
      const auto edge = static_cast<std::uint32_t>(e) << 2;
      arcs_[there] = {head, back, edge | along * kLeaves | against * kEnters};
      arcs_[back] = {tail, there, edge | against * kLeaves | along * kEnters};
    }
  }

  Index size() const { return static_cast<Index>(labels_.size()); }
  double& imbalance(Index v) { return problem_.imbalance[v]; }
  Label& label(Index v) { return labels_[v]; }
  Arc& parent(Index v) { return parents_[v]; }
  Index head(Index, Arc arc) const { return arcs_[arc].head; }
  // What a scan of v's arcs costs beyond the visit itself, in visits.
  std::int64_t scan_cost(Index v) const { return (starts_[v + 1] - starts_[v]) / 8; }

  // A residual arc from v to a node of this label.
  Arc find_parent(Index v, Label label) const {
    for (Arc arc = starts_[v]; arc < starts_[v + 1]; ++arc) {
      if ((arcs_[arc].edge & kLeaves) && labels_[arcs_[arc].head] == label) return arc;
    }
    return none;
  }

  // The residual arc from v to the lowest label.
  std::pair<Arc, Label> nearest(Index v) const {
    return nearest_where(v, kPending, [](Index) { return true; });
  }

  // The same among nodes of labels below `limit` that pass the test.
  template <class Test>
  std::pair<Arc, Label> nearest_where(Index v, Label limit, Test test) const {
    std::pair<Arc, Label> best{none, kFree};
    for (Arc arc = starts_[v]; arc < starts_[v + 1]; ++arc) {
      if (!(arcs_[arc].edge & kLeaves)) continue;
      const Label label = labels_[arcs_[arc].head];
      if (label < std::min(limit, best.second) && test(arcs_[arc].head)) best = {arc, label};
    }
    return best;
  }

  // f(u) for the nodes whose parent is v.
  template <class Visit>
  void children(Index v, Visit visit) const {
    for (Arc arc = starts_[v]; arc < starts_[v + 1]; ++arc) {
      if (parents_[arcs_[arc].head] == arcs_[arc].twin) visit(arcs_[arc].head);
    }
  }

  // f(u, arc u -> v) over residual arcs from outside the forest.
  template <class Visit>
  void outside(Index v, Visit visit) const {
    for (Arc arc = starts_[v]; arc < starts_[v + 1]; ++arc) {
      const HalfEdge& half = arcs_[arc];
      if ((half.edge & kEnters) && labels_[half.head] >= kPending) visit(half.head, half.twin);
    }
  }

  // f(u) over residual arcs v -> u to nodes whose parent is not `mark`.
  template <class Visit>
  void leaving_unless(Index v, Arc mark, Visit visit) const {
    for (Arc arc = starts_[v]; arc < starts_[v + 1]; ++arc) {
      const HalfEdge& half = arcs_[arc];
      if ((half.edge & kLeaves) && parents_[half.head] != mark) visit(half.head);
    }
  }

  Push push(Index, Arc arc, double wish) {
    HalfEdge& there = arcs_[arc];
    HalfEdge& back = arcs_[there.twin];
    const std::int64_t e = there.edge >> 2;
    const Push result = push_edge(problem_.flow[e], problem_.forward[e * problem_.forward_step],
                                  problem_.backward[e * problem_.backward_step],
                                  problem_.heads[e] == there.head, wish);
    if (result.saturated) {
      there.edge &= ~kLeaves;
      back.edge &= ~kEnters;
    }
    there.edge |= kEnters;
    back.edge |= kLeaves;
    return result;
  }

 private:
  static constexpr std::uint32_t kLeaves = 1, kEnters = 2;

  struct HalfEdge {
    Index head, twin;
    std::uint32_t edge;  // 4 * number + kLeaves if residual + kEnters if its twin is
  };

  GraphFlowProblem problem_;
  std::vector<Index> starts_;
  std::vector<HalfEdge> arcs_;
  std::vector<Label> labels_;
  std::vector<Arc> parents_;
};

// A resumable solve; s and the flow are a valid pseudoflow after every `advance`.
class GraphFlow {
 public:
  explicit GraphFlow(const GraphFlowProblem& problem) : network_(problem), search_(network_) {}
  GraphFlow(const GraphFlow&) = delete;
  GraphFlow& operator=(const GraphFlow&) = delete;

  // Works for about `budget` node visits; true when finished.
  bool advance(std::int64_t budget) { return finished_ = search_.advance(budget); }
  bool finished() const { return finished_; }

  // Only after `advance` has returned true.
  void members(bool largest, std::uint8_t* member) {
    if (largest) {
      mark_largest(network_, member);
    } else {
      mark_smallest(network_, member);
    }
  }
  Counts counts() const { return search_.counts(); }

 private:
  GraphNetwork network_;
  ResidualSearch<GraphNetwork> search_;
  bool finished_ = false;
};

}  // namespace submin::flow

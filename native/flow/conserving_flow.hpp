// A flow that conserves, from what a search for a maximum flow leaves: excess that reaches no sink
// stays at the nodes where it is stuck, and here goes back along the flow that brought it
// (second phase of push-relabel: Cherkassky and Goldberg, Algorithmica 1997,
// doi:10.1007/PL00009180).
//
//   Go through the arcs that carry flow, depth first. An arc to a node of the path closes a cycle:
//     take its least flow off all of its arcs, and go on from the first arc that is empty now.
//   Then no cycle carries flow, and the nodes that the search is done with come before those that
//   send them flow. In this order, take the excess of each node off the arcs that bring flow to it.
//
// O(nodes + edges), and the length of each cycle; every cycle empties an arc. Exact where the flow
// and its sums at nodes are integers of at most 53 bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "flow/residual_graph.hpp"

namespace submin::flow {

class ConservingFlow {
 public:
  // With weights of 0, the residual arcs are those against the flow, along which it is taken back.
  explicit ConservingFlow(const GraphFlowProblem& problem)
      : flow_(problem.flow),
        graph_(problem),
        marks_(static_cast<std::size_t>(graph_.size()), Mark::kNew),
        positions_(static_cast<std::size_t>(graph_.size())) {
    order_.reserve(static_cast<std::size_t>(graph_.size()));
    for (Index v = 0; v < graph_.size(); ++v) positions_[v] = graph_.first(v);
  }

  // The excess of the source and of the sink stays.
  void conserve(Index source, Index sink) {
    for (Index v = 0; v < graph_.size(); ++v)
      if (marks_[v] == Mark::kNew) descend(v);
    for (const Index v : order_)
      if (v != source && v != sink) give_back(v);
  }

 private:
  enum class Mark : std::uint8_t { kNew, kOnPath, kDone };

  bool carries(ArcNumber arc) const { return graph_.residual(arc ^ 1); }

  void descend(Index root) {
    extend(root);
    while (!path_.empty()) {
      const Index v = path_.back();
      Index& k = positions_[v];
      while (k < graph_.stop(v) && !leads_on(graph_.at(k))) ++k;
      if (k == graph_.stop(v)) {
        marks_[v] = Mark::kDone;
        order_.push_back(v);
        path_.pop_back();
      } else if (const Index w = graph_.at(k).head; marks_[w] == Mark::kNew) {
        extend(w);
      } else {
        cancel(w);
      }
    }
  }

  bool leads_on(HalfEdge half) const {
    return marks_[half.head] != Mark::kDone && carries(half.arc);
  }

  void extend(Index v) {
    marks_[v] = Mark::kOnPath;
    path_.push_back(v);
  }

  ArcNumber taken(std::size_t place) const { return graph_.at(positions_[path_[place]]).arc; }

  // The cycle from a node of the path to the path's end and back.
  void cancel(Index begin) {
    std::size_t first = path_.size();
    double amount = HUGE_VAL;
    do {
      --first;
      amount = std::min(amount, std::abs(flow_[taken(first) >> 1]));
    } while (path_[first] != begin);
    std::size_t kept = path_.size();
    for (std::size_t place = path_.size(); place-- > first;) {
      graph_.push(taken(place) ^ 1, amount);
      if (!carries(taken(place))) kept = place;
    }
    for (; path_.size() > kept + 1; path_.pop_back()) marks_[path_.back()] = Mark::kNew;
  }

  void give_back(Index v) {
    double& s = graph_.imbalance(v);
    for (Index k = graph_.first(v); k < graph_.stop(v) && s < 0; ++k) {
      const HalfEdge half = graph_.at(k);
      if (!graph_.residual(half.arc)) continue;
      const double moved = graph_.push(half.arc, -s).amount;
      s += moved;
      graph_.imbalance(half.head) -= moved;
    }
  }

  const double* flow_;
  ResidualGraph graph_;
  std::vector<Mark> marks_;
  std::vector<Index> positions_;  // of each node: the first arc that it has yet to go through
  std::vector<Index> path_, order_;
};

}  // namespace submin::flow

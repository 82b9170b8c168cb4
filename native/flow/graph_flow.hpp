// Max-flow on a general sparse graph, by the pseudoflow algorithm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "flow/pseudoflow.hpp"
#include "flow/residual_graph.hpp"
#include "flow/rooted_forest.hpp"

namespace submin::flow {

// The trees of a pseudoflow in a residual graph. A node goes on through its arcs and its children
// where it stopped.
class GraphTrees {
 public:
  explicit GraphTrees(const GraphFlowProblem& problem)
      : graph_(problem),
        forest_(graph_.size()),
        labels_(static_cast<std::size_t>(graph_.size())),
        positions_(static_cast<std::size_t>(graph_.size())) {
    for (Index v = 0; v < graph_.size(); ++v) positions_[v] = graph_.first(v);
  }

  Index size() const { return graph_.size(); }
  double deficit(Index v) const { return graph_.imbalance(v); }
  void set_deficit(Index v, double value) { graph_.imbalance(v) = value; }
  Label& label(Index v) { return labels_[v]; }
  Index& next(Index v) { return forest_[v].next; }
  Index parent(Index v) { return forest_[v].parent; }
  std::int64_t hang(Index v, HalfEdge half) { return forest_.hang(v, half.head, half.arc); }
  void cut(Index v) { forest_.cut(v); }
  Push push_up(Index v, double wish) { return graph_.push(forest_[v].arc, wish); }

  HalfEdge seek(Index v, Label label) {
    Index& k = positions_[v];
    const Index start = k, stop = graph_.stop(v);
    while (k < stop && !leads_to(graph_.at(k), label)) ++k;
    scans_ += k - start;
    return k < stop ? graph_.at(k) : HalfEdge{kNobody, 0};
  }

  template <class Visit>
  void entering(Index v, Visit visit) {
    for (Index k = graph_.first(v); k < graph_.stop(v); ++k) {
      if (graph_.residual(graph_.at(k).arc ^ 1)) visit(graph_.at(k).head);
    }
  }

  // The first that waits, once those of higher labels are passed.
  Index child(Index v, Label label) {
    const TreeNode& node = forest_[v];
    for (; node.waiting != kNobody && labels_[node.waiting] != label; ++passed_) forest_.pass(v);
    return node.waiting;
  }

  void rewind(Index v) {
    positions_[v] = graph_.first(v);
    forest_.pass_none(v);
  }

  template <class Visit>
  void take_apart(Index root, Visit visit) {
    forest_.take_apart(root, visit);
  }

  // Of a finished pseudoflow. The smallest minimiser is what excess still reaches, the largest what
  // reaches no deficit.
  void members(bool largest, std::uint8_t* member) const {
    std::fill(member, member + size(), largest);
    if (largest) {
      const auto deficit = [this](Index v) { return graph_.imbalance(v) > 0; };
      graph_.reaching(deficit, [=](Index v) { member[v] = 0; });
    } else {
      const auto excess = [this](Index v) { return graph_.imbalance(v) < 0; };
      graph_.reached_from(excess, [=](Index v) { member[v] = 1; });
    }
  }

  std::int64_t scans() const { return scans_; }
  std::int64_t passed() const { return passed_; }
  std::int64_t looks() const { return scans_ + 2 * passed_; }

 private:
  bool leads_to(HalfEdge half, Label label) const {
    return labels_[half.head] == label && graph_.residual(half.arc);
  }

  ResidualGraph graph_;
  RootedForest forest_;
  std::vector<Label> labels_;
  std::vector<Index> positions_;  // of each node: the first arc that it has yet to go through
  std::int64_t scans_ = 0;        // of one arc
  std::int64_t passed_ = 0;       // children of a higher label
};

// A resumable solve; s and the flow are a valid pseudoflow after every `advance`.
class GraphFlow {
 public:
  GraphFlow(const GraphFlowProblem& problem, bool warm) : trees_(problem), search_(trees_, warm) {}

  // Works for about `budget` node visits; true when finished.
  bool advance(std::int64_t budget) { return search_.advance(budget); }
  bool finished() const { return search_.finished(); }
  std::int64_t visits() const { return search_.visits(); }
  // Only after `advance` has returned true.
  void members(bool largest, std::uint8_t* member) const { trees_.members(largest, member); }
  const PseudoflowCounts& counts() const { return search_.counts(); }
  const GraphTrees& trees() const { return trees_; }

 private:
  GraphTrees trees_;
  Pseudoflow<GraphTrees> search_;
};

}  // namespace submin::flow

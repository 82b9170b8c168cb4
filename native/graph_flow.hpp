// Max-flow on a general sparse graph by the pseudoflow algorithm (Hochbaum, Operations Research
// 2008, doi:10.1287/opre.1080.0524; highest label first: Chandran and Hochbaum, Operations Research
// 2009, doi:10.1287/opre.1080.0572), in place on the caller's flows.
//
//   Trees of nodes: only roots have excess or deficits. At first, every node is a tree.
//   Labels: label(v) <= label(w) + 1 for residual arcs v -> w, and a child's label is not below its
//   parent's. At first 1 for excess, else 0.
//   Repeat: take the root with excess whose label L is highest. For the nodes v of label L in its
//   tree:
//     a residual arc to a node w of label L - 1? Turn the tree over to have v as its root, hang it
//       from w, and send its excess up to the root of w; where an arc is too small for that, the
//       tree below splits off with the rest of the excess.
//     no such arc, and the children of label L are done? Then label(v) <- L + 1.
//   If that leaves no node of label L, the tree can reach no deficit and retires.
//
// A node goes through its arcs once for each label. An arc joins two trees again only after a label
// at its ends has grown, whatever the rounding of the flow; this bounds the work on all data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "rooted_forest.hpp"

namespace submin::flow {

struct GraphCounts {
  std::int64_t pushes = 0;    // along one arc
  std::int64_t mergers = 0;   // of a tree with another
  std::int64_t splits = 0;    // of a tree at a full arc
  std::int64_t relabels = 0;  // of one node by 1
  std::int64_t scans = 0;     // of one arc
  std::int64_t passed = 0;    // children of a higher label
};

// A resumable solve; s and the flow are a valid pseudoflow after every `advance`.
class GraphFlow {
 public:
  // `warm` says that the flow may be a maximum already or nearly: what reaches no deficit is then
  // found at once, and left alone.
  GraphFlow(const GraphFlowProblem& problem, bool warm)
      : graph_(problem),
        forest_(graph_.size()),
        labels_(static_cast<std::size_t>(graph_.size()), kRetired),
        positions_(static_cast<std::size_t>(graph_.size())) {
    for (Index v = 0; v < graph_.size(); ++v) positions_[v] = graph_.first(v);
    label_nodes(warm);
  }
  GraphFlow(const GraphFlow&) = delete;
  GraphFlow& operator=(const GraphFlow&) = delete;

  // Works for about `budget` node visits; true when finished.
  bool advance(std::int64_t budget) {
    work_ = budget;
    while (work_ > 0 && (root_ != kNobody || take_root())) visit();
    return finished_ = root_ == kNobody && !has_roots();
  }
  bool finished() const { return finished_; }

  // Only after `advance` has returned true. The smallest minimiser is what excess still reaches,
  // the largest what reaches no deficit.
  void members(bool largest, std::uint8_t* member) const {
    std::fill(member, member + graph_.size(), largest);
    if (largest) {
      graph_.reaching_deficits([=](Index v) { member[v] = 0; });
    } else {
      graph_.reached_by_excess([=](Index v) { member[v] = 1; });
    }
  }
  const GraphCounts& counts() const { return counts_; }

 private:
  static constexpr Label kRetired = Label{1} << 31;

  // The nodes of a label, and first in, first out those that are roots with excess.
  struct Level {
    Index nodes = 0, first = kNobody, last = kNobody;
  };

  Level& level(Label label) {
    if (label >= levels_.size()) levels_.resize(label + 1 + label / 2);
    return levels_[label];
  }

  void label_nodes(bool warm) {
    if (warm) {
      graph_.reaching_deficits([&](Index v) { labels_[v] = 0; });
    } else {
      std::fill(labels_.begin(), labels_.end(), 0);
    }
    for (Index v = 0; v < graph_.size(); ++v) {
      if (labels_[v] == kRetired) continue;
      if (graph_.imbalance(v) < 0) labels_[v] = 1;
      ++level(labels_[v]).nodes;
      if (graph_.imbalance(v) < 0) add_root(v);
    }
  }

  void add_root(Index v) {
    Level& own = level(labels_[v]);
    if (own.first == kNobody) {
      own.first = v;
    } else {
      forest_[own.last].next = v;
    }
    own.last = v;
    highest_ = std::max(highest_, labels_[v]);
  }

  bool has_roots() {
    while (highest_ > 0 && level(highest_).first == kNobody) --highest_;
    return level(highest_).first != kNobody;
  }

  bool take_root() {
    if (!has_roots()) return false;
    node_ = root_ = level(highest_).first;
    level(highest_).first = forest_[root_].next;
    forest_[root_].next = kNobody;
    return true;
  }

  // One node of the tree: its arcs, and then its children.
  void visit() {
    const Label label = labels_[root_];
    Index& k = positions_[node_];
    const Index start = k, stop = graph_.stop(node_);
    while (k < stop && !is_merger(graph_.at(k), label)) ++k;
    counts_.scans += k - start;
    work_ -= 1 + (k - start) / 8;
    if (k < stop) {
      merge(graph_.at(k));
    } else {
      go_on(label);
    }
  }

  bool is_merger(HalfEdge half, Label label) const {
    return labels_[half.head] + 1 == label && graph_.residual(half.arc);
  }

  // To the next node of the label, children before what comes after; a node that has no more of
  // them to wait for gets the next label.
  void go_on(Label label) {
    while (!has_child(label)) {
      raise(node_, label);
      if (node_ == root_) return leave_tree(label);
      node_ = forest_[node_].parent;
    }
    node_ = forest_[node_].waiting;
  }

  // Whether a child of the label is the first that waits, once those of higher labels are passed.
  bool has_child(Label label) {
    const std::int64_t before = counts_.passed;
    const TreeNode& node = forest_[node_];
    while (node.waiting != kNobody && labels_[node.waiting] != label) {
      forest_.pass(node_);
      ++counts_.passed;
    }
    work_ -= (counts_.passed - before) / 4;
    return node.waiting != kNobody;
  }

  void raise(Index v, Label label) {
    ++counts_.relabels;
    --work_;
    ++level(label + 1).nodes;
    --level(label).nodes;
    labels_[v] = label + 1;
    positions_[v] = graph_.first(v);
    forest_.pass_none(v);
  }

  void leave_tree(Label label) {
    if (level(label).nodes > 0) {
      add_root(root_);
    } else {
      forest_.take_apart(root_, [&](Index v) {
        --level(labels_[v]).nodes;
        labels_[v] = kRetired;
        --work_;
      });
    }
    root_ = kNobody;
  }

  void merge(HalfEdge half) {
    ++counts_.mergers;
    work_ -= 1 + forest_.hang(node_, half.head, half.arc) / 8;
    send_up(std::exchange(root_, kNobody));
  }

  // Takes the excess of v, which has a parent now, as far up as it goes.
  void send_up(Index v) {
    double amount = -std::exchange(graph_.imbalance(v), 0.0);
    const std::int64_t before = counts_.pushes;
    for (Index parent; amount > 0 && (parent = forest_[v].parent) != kNobody; v = parent) {
      ++counts_.pushes;
      const double moved = graph_.push(forest_[v].arc, amount).amount;
      if (moved < amount) split(v, amount - moved);
      amount = moved;
    }
    work_ -= (counts_.pushes - before) / 8;
    if (amount > 0) receive(v, amount);
  }

  void split(Index v, double excess) {
    ++counts_.splits;
    forest_.cut(v);
    graph_.imbalance(v) = -excess;
    add_root(v);
  }

  void receive(Index root, double amount) {
    double& s = graph_.imbalance(root);
    const bool had_excess = s < 0;
    s -= amount;
    if (s < 0 && !had_excess) add_root(root);
  }

  ResidualGraph graph_;
  RootedForest forest_;
  std::vector<Label> labels_;
  std::vector<Index> positions_;  // of each node: the first arc that it has yet to go through
  std::vector<Level> levels_;
  Label highest_ = 0;
  Index root_ = kNobody, node_ = kNobody;  // where in which tree the search stands
  std::int64_t work_ = 0;
  bool finished_ = false;
  GraphCounts counts_;
};

}  // namespace submin::flow

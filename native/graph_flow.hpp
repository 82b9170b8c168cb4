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
//   If that leaves no node of label L, the tree can reach no deficit and retires. If no deficit is
//   left, all trees do.
//
// A node goes through its arcs and its children once for each label, so that a hub of very many
// costs no more than they do. An arc joins two trees again only after a label at its ends has
// grown, whatever the rounding of the flow; this bounds the work on all data. Where labels take
// long to grow, they are searched for: the largest that the two rules above allow.
//
// Rounding: what a push loses to the rounding of a flow stays at the node that it came from, and
// goes with the next push from there. So it does not add up in a million pushes along one edge.
// In the end it is forgotten, as it may be summed afresh from the flows.
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
  std::int64_t updates = 0;   // of all labels at once
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
    while (work_ > 0 && (root_ != kNobody || next_root())) visit();
    finished_ = root_ == kNobody && !has_roots();
    if (finished_) forget_rounding();
    return finished_;
  }
  bool finished() const { return finished_; }

  // Only after `advance` has returned true. The smallest minimiser is what excess still reaches,
  // the largest what reaches no deficit.
  void members(bool largest, std::uint8_t* member) const {
    std::fill(member, member + graph_.size(), largest);
    if (largest) {
      const auto deficit = [this](Index v) { return graph_.imbalance(v) > 0; };
      graph_.reaching(deficit, [=](Index v) { member[v] = 0; });
    } else {
      const auto excess = [this](Index v) { return graph_.imbalance(v) < 0; };
      graph_.reached_from(excess, [=](Index v) { member[v] = 1; });
    }
  }
  const GraphCounts& counts() const { return counts_; }

 private:
  static constexpr Label kRetired = Label{1} << 31;
  // Relabels of each node before the first search for labels; the next comes after twice as many.
  static constexpr std::int64_t kPatience = 16;

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
      graph_.reaching([this](Index v) { return graph_.imbalance(v) > 0; },
                      [this](Index v) { labels_[v] = 0; });
    } else {
      std::fill(labels_.begin(), labels_.end(), 0);
    }
    for (Index v = 0; v < graph_.size(); ++v) {
      deficits_ += graph_.imbalance(v) > 0;
      if (labels_[v] == 0 && graph_.imbalance(v) < 0) labels_[v] = 1;
    }
    fill_levels();
  }

  // Whoever is a root now: the imbalance of other nodes is what rounding has left there.
  bool is_root_with_excess(Index v) {
    return forest_[v].parent == kNobody && graph_.imbalance(v) < 0;
  }
  bool is_root_with_deficit(Index v) {
    return forest_[v].parent == kNobody && graph_.imbalance(v) > 0;
  }

  void fill_levels() {
    for (Index v = 0; v < graph_.size(); ++v) {
      if (labels_[v] == kRetired) continue;
      ++level(labels_[v]).nodes;
      if (is_root_with_excess(v)) add_root(v);
    }
  }

  // The largest labels: distances to deficits by residual arcs of length 1, and by arcs of length 0
  // from parents to children.
  void update_labels() {
    ++counts_.updates;
    update_at_ = counts_.relabels + (patience_ *= 2);
    std::vector<Index> now, next;
    clear_labels();
    for (Index v = 0; v < graph_.size(); ++v) {
      if (is_root_with_deficit(v)) set_label(v, 0, now);
    }
    for (Label label = 0; !now.empty(); ++label) {
      for (std::size_t i = 0; i < now.size(); ++i) {  // parents join while it runs
        if (labels_[now[i]] == label) set_labels_behind(now[i], label, now, next);
      }
      now.clear();
      now.swap(next);
    }
    fill_levels();
  }

  void clear_labels() {
    std::fill(labels_.begin(), labels_.end(), kRetired);
    levels_.clear();
    highest_ = 0;
    for (Index v = 0; v < graph_.size(); ++v) {
      if (forest_[v].parent == kNobody) forest_[v].next = kNobody;
      forest_.pass_none(v);
      positions_[v] = graph_.first(v);
    }
    work_ -= graph_.size() / 8;
  }

  void set_label(Index v, Label label, std::vector<Index>& found) {
    labels_[v] = label;
    found.push_back(v);
  }

  void set_labels_behind(Index v, Label label, std::vector<Index>& now, std::vector<Index>& next) {
    const Index parent = forest_[v].parent;
    if (parent != kNobody && labels_[parent] > label) set_label(parent, label, now);
    for (Index k = graph_.first(v); k < graph_.stop(v); ++k) {
      const HalfEdge half = graph_.at(k);
      if (labels_[half.head] > label + 1 && graph_.residual(half.arc ^ 1)) {
        set_label(half.head, label + 1, next);
      }
    }
    counts_.scans += graph_.stop(v) - graph_.first(v);
    work_ -= 1 + (graph_.stop(v) - graph_.first(v)) / 8;
  }

  void retire_all() {
    std::fill(labels_.begin(), labels_.end(), kRetired);
    levels_.clear();
    highest_ = 0;
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

  bool next_root() {
    if (deficits_ == 0) {
      retire_all();
    } else if (counts_.relabels > update_at_) {
      update_labels();
    }
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
        if (labels_[v] != kRetired) --level(labels_[v]).nodes;
        labels_[v] = kRetired;
        if (v != root_) graph_.imbalance(v) = 0;
        --work_;
      });
    }
    root_ = kNobody;
  }

  // What is left at nodes that are no roots, and would be excess and deficits to the next search.
  void forget_rounding() {
    for (Index v = 0; v < graph_.size(); ++v) {
      if (forest_[v].parent != kNobody) graph_.imbalance(v) = 0;
    }
  }

  void merge(HalfEdge half) {
    ++counts_.mergers;
    work_ -= 1 + forest_.hang(node_, half.head, half.arc) / 8;
    send_up(std::exchange(root_, kNobody));
  }

  // Takes the excess of v, which has a parent now, as far up as it goes, and what rounding has left
  // at the nodes on its way.
  void send_up(Index v) {
    double amount = -std::exchange(graph_.imbalance(v), 0.0);
    const std::int64_t before = counts_.pushes;
    for (Index parent; amount > 0 && (parent = forest_[v].parent) != kNobody; v = parent) {
      ++counts_.pushes;
      const Push moved = graph_.push(forest_[v].arc, amount);
      graph_.imbalance(v) = moved.amount - amount;
      if (forest_[parent].parent == kNobody) {
        receive(parent, moved.amount);
        amount = 0;
      } else {
        amount = moved.amount - std::exchange(graph_.imbalance(parent), 0.0);
        if (!(amount > 0)) graph_.imbalance(parent) = -amount;
      }
      if (moved.saturated && graph_.imbalance(v) < 0) split(v);
    }
    work_ -= (counts_.pushes - before) / 8;
  }

  void split(Index v) {
    ++counts_.splits;
    forest_.cut(v);
    add_root(v);
  }

  void receive(Index root, double amount) {
    double& s = graph_.imbalance(root);
    const double before = s;
    s -= amount;
    deficits_ -= before > 0 && !(s > 0);
    if (s < 0 && !(before < 0)) add_root(root);
  }

  ResidualGraph graph_;
  RootedForest forest_;
  std::vector<Label> labels_;
  std::vector<Index> positions_;  // of each node: the first arc that it has yet to go through
  std::vector<Level> levels_;
  Label highest_ = 0;
  Index root_ = kNobody, node_ = kNobody;  // where in which tree the search stands
  std::int64_t deficits_ = 0;              // nodes that have one
  std::int64_t patience_ = kPatience * std::int64_t{graph_.size()}, update_at_ = patience_;
  std::int64_t work_ = 0;
  bool finished_ = false;
  GraphCounts counts_;
};

}  // namespace submin::flow

// Maximum flow by the pseudoflow algorithm (Hochbaum, Operations Research 2008,
// doi:10.1287/opre.1080.0524; highest label first: Chandran and Hochbaum, Operations Research
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
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "flow/residual_search.hpp"

namespace submin::flow {

constexpr Label kRetired = kPending;  // the label of what can reach no deficit

struct PseudoflowCounts {
  std::int64_t pushes = 0;    // along one arc
  std::int64_t mergers = 0;   // of a tree with another
  std::int64_t splits = 0;    // of a tree at a full arc
  std::int64_t relabels = 0;  // of one node by 1
  std::int64_t updates = 0;   // of all labels at once

  PseudoflowCounts& operator+=(const PseudoflowCounts& other) {
    pushes += other.pushes;
    mergers += other.mergers;
    splits += other.splits;
    relabels += other.relabels;
    updates += other.updates;
    return *this;
  }
};

// A resumable solve; imbalances and flows are a valid pseudoflow after every `advance`.
//
// Trees: size(); deficit(v), an excess if negative; set_deficit(v, value); by reference label(v)
// and, for lists of roots, next(v); parent(v), a node or nobody; push_up(v, wish) to it; seek(v,
// label), a residual arc to a node of that label; entering(v, f) over the tails of residual arcs
// into v; hang(v, arc); cut(v); child(v, label), one of that label or nobody; rewind(v) when labels
// change; take_apart(root, f); looks() at arcs and children so far.
template <class Trees>
class Pseudoflow {
 public:
  // `warm` says that the flow may be a maximum already or nearly: what reaches no deficit is then
  // found at once, and left alone.
  Pseudoflow(Trees& trees, bool warm) : trees_(trees) { label_nodes(warm); }
  Pseudoflow(const Pseudoflow&) = delete;
  Pseudoflow& operator=(const Pseudoflow&) = delete;

  // Works for about `budget` node visits; true when finished.
  bool advance(std::int64_t budget) {
    const std::int64_t stop = visits_ + budget;
    while (visits_ < stop && (root_ != kNobody || next_root())) visit();
    finished_ = root_ == kNobody && !has_roots();
    if (finished_) forget_rounding();
    return finished_;
  }
  bool finished() const { return finished_; }
  std::int64_t visits() const { return visits_; }
  const PseudoflowCounts& counts() const { return counts_; }

 private:
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
    std::vector<Index> found;
    for (Index v = 0; v < trees_.size(); ++v) {
      const bool deficit = trees_.deficit(v) > 0;
      deficits_ += deficit;
      trees_.label(v) = deficit || !warm ? 0 : kRetired;
      if (deficit && warm) found.push_back(v);
    }
    while (!found.empty()) {
      const Index v = found.back();
      found.pop_back();
      trees_.entering(v, [&](Index u) {
        if (trees_.label(u) == kRetired) set_label(u, 0, found);
      });
    }
    for (Index v = 0; v < trees_.size(); ++v) {
      if (trees_.label(v) == 0 && trees_.deficit(v) < 0) trees_.label(v) = 1;
    }
    fill_levels();
  }

  // The imbalance of other nodes than roots is what rounding has left there.
  bool is_root(Index v) { return trees_.parent(v) == kNobody; }

  // At the end, rounding would be excess and deficits to the next search.
  void forget_rounding() {
    for (Index v = 0; v < trees_.size(); ++v)
      if (!is_root(v)) trees_.set_deficit(v, 0.0);
  }

  void fill_levels() {
    for (Index v = 0; v < trees_.size(); ++v) {
      if (trees_.label(v) == kRetired) continue;
      ++level(trees_.label(v)).nodes;
      if (trees_.deficit(v) < 0 && is_root(v)) add_root(v);
    }
  }

  // The largest labels: distances to deficits by residual arcs of length 1, and by arcs of length 0
  // from parents to children. Who has retired stays so, also with a deficit that is rounding.
  void update_labels() {
    ++counts_.updates;
    update_at_ = counts_.relabels + (patience_ *= 2);
    std::vector<Index> now, next;
    for (Index v = 0; v < trees_.size(); ++v) {
      if (trees_.deficit(v) > 0 && trees_.label(v) != kRetired && is_root(v)) now.push_back(v);
    }
    clear_labels();
    for (const Index v : now) trees_.label(v) = 0;
    for (Label label = 0; !now.empty(); ++label) {
      for (std::size_t i = 0; i < now.size(); ++i) {  // parents join while it runs
        if (trees_.label(now[i]) == label) set_labels_behind(now[i], label, now, next);
      }
      now.clear();
      now.swap(next);
    }
    fill_levels();
  }

  void clear_labels() {
    retire_all();
    for (Index v = 0; v < trees_.size(); ++v) {
      if (is_root(v)) trees_.next(v) = kNobody;
      trees_.rewind(v);
    }
    visits_ += trees_.size() / 8;
  }

  void set_label(Index v, Label label, std::vector<Index>& found) {
    trees_.label(v) = label;
    found.push_back(v);
  }

  void set_labels_behind(Index v, Label label, std::vector<Index>& now, std::vector<Index>& next) {
    const Index parent = trees_.parent(v);
    if (parent != kNobody && trees_.label(parent) > label) set_label(parent, label, now);
    trees_.entering(v, [&](Index u) {
      if (trees_.label(u) > label + 1) set_label(u, label + 1, next);
    });
    ++visits_;
  }

  void retire_all() {
    for (Index v = 0; v < trees_.size(); ++v) trees_.label(v) = kRetired;
    levels_.clear();
    highest_ = 0;
  }

  void add_root(Index v) {
    Level& own = level(trees_.label(v));
    if (own.first == kNobody) {
      own.first = v;
    } else {
      trees_.next(own.last) = v;
    }
    own.last = v;
    highest_ = std::max(highest_, trees_.label(v));
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
    level(highest_).first = std::exchange(trees_.next(root_), kNobody);
    return true;
  }

  // One node of the tree: its arcs, and then its children.
  void visit() {
    const Label label = trees_.label(root_);
    const std::int64_t before = trees_.looks();
    if (const auto half = trees_.seek(node_, label - 1); half.head != kNobody) {
      merge(half);
    } else {
      go_on(label);
    }
    visits_ += 1 + (trees_.looks() - before) / 8;
  }

  // To the next node of the label, children before what comes after; a node that has no more of
  // them to wait for gets the next label.
  void go_on(Label label) {
    Index child;
    while ((child = trees_.child(node_, label)) == kNobody) {
      raise(node_, label);
      if (node_ == root_) return leave_tree(label);
      node_ = trees_.parent(node_);
    }
    node_ = child;
  }

  void raise(Index v, Label label) {
    ++counts_.relabels;
    ++visits_;
    ++level(label + 1).nodes;
    --level(label).nodes;
    trees_.label(v) = label + 1;
    trees_.rewind(v);
  }

  void leave_tree(Label label) {
    if (level(label).nodes > 0) {
      add_root(root_);
    } else {
      trees_.take_apart(root_, [&](Index v) {
        if (trees_.label(v) != kRetired) --level(trees_.label(v)).nodes;
        trees_.label(v) = kRetired;
        if (v != root_) trees_.set_deficit(v, 0.0);
        ++visits_;
      });
    }
    root_ = kNobody;
  }

  template <class Half>
  void merge(Half half) {
    ++counts_.mergers;
    visits_ += 1 + trees_.hang(node_, half) / 8;
    send_up(std::exchange(root_, kNobody));
  }

  // Takes the excess of v, which has a parent now, as far up as it goes, and what rounding has left
  // at the nodes on its way.
  void send_up(Index v) {
    double amount = -trees_.deficit(v);
    const std::int64_t before = counts_.pushes;
    for (Index parent; amount > 0 && (parent = trees_.parent(v)) != kNobody; v = parent) {
      ++counts_.pushes;
      const Push moved = trees_.push_up(v, amount);
      const double rest = moved.amount - amount;
      trees_.set_deficit(v, rest);
      if (is_root(parent)) {
        receive(parent, moved.amount);
        amount = 0;
      } else {
        amount = moved.amount - trees_.deficit(parent);
        trees_.set_deficit(parent, -amount);
      }
      if (moved.saturated && rest < 0) split(v);
    }
    visits_ += (counts_.pushes - before) / 8;
  }

  void split(Index v) {
    ++counts_.splits;
    trees_.cut(v);
    add_root(v);
  }

  void receive(Index root, double amount) {
    const double before = trees_.deficit(root), after = before - amount;
    trees_.set_deficit(root, after);
    deficits_ -= before > 0 && !(after > 0);
    if (after < 0 && !(before < 0)) add_root(root);
  }

  Trees& trees_;
  std::vector<Level> levels_;
  Label highest_ = 0;
  Index root_ = kNobody, node_ = kNobody;  // where in which tree the search stands
  std::int64_t deficits_ = 0;              // nodes that have one
  std::int64_t patience_ = kPatience * std::int64_t{trees_.size()}, update_at_ = patience_;
  std::int64_t visits_ = 0;
  bool finished_ = false;
  PseudoflowCounts counts_;
};

}  // namespace submin::flow

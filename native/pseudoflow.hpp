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
//   If that leaves no node of label L, the tree can reach no deficit and retires.
//
// A node goes through its arcs once for each label. An arc joins two trees again only after a label
// at its ends has grown, whatever the rounding of the flow; this bounds the work on all data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "residual_search.hpp"

namespace submin::flow {

struct PseudoflowCounts {
  std::int64_t pushes = 0;    // along one arc
  std::int64_t mergers = 0;   // of a tree with another
  std::int64_t splits = 0;    // of a tree at a full arc
  std::int64_t relabels = 0;  // of one node by 1

  PseudoflowCounts& operator+=(const PseudoflowCounts& other) {
    pushes += other.pushes;
    mergers += other.mergers;
    splits += other.splits;
    relabels += other.relabels;
    return *this;
  }
};

// A resumable solve; imbalance and flow are a valid pseudoflow after every `advance`.
//
// Trees: size(); deficit(v) (an excess if negative), set_deficit(v, value); by reference label(v)
// and, free at roots, next(v); entering(v, f) over the tails of residual arcs into v; clear(v), a
// tree of its own; parent(v), a node or nobody; push_up(v, wish) to it; seek(v, label), a residual
// arc to a node of that label; hang(v, arc); cut(v); child(v, label), one of that label or nobody;
// rewind(v) after it got a new label; take_apart(root, f); looks() at arcs and children so far.
template <class Trees>
class Pseudoflow {
 public:
  // `warm` says that the flow may be a maximum already or nearly: what reaches no deficit is then
  // found at once, and left alone.
  Pseudoflow(Trees& trees, bool warm) : trees_(trees), warm_(warm) {}
  Pseudoflow(const Pseudoflow&) = delete;
  Pseudoflow& operator=(const Pseudoflow&) = delete;

  // Works for about `budget` node visits; true when finished.
  bool advance(std::int64_t budget) {
    stop_ = visits_ + budget;
    while (!is_over() && stage_ != Stage::done) {
      switch (stage_) {
        case Stage::clear: clear(); break;
        case Stage::doubt: doubt(); break;
        case Stage::reach: reach(); break;
        case Stage::enter: enter(); break;
        case Stage::merge: merge_trees(); break;
        case Stage::done: break;
      }
    }
    return finished();
  }
  bool finished() const { return stage_ == Stage::done; }
  std::int64_t visits() const { return visits_; }
  const PseudoflowCounts& counts() const { return counts_; }

 private:
  enum class Stage { clear, doubt, reach, enter, merge, done };
  static constexpr Label kRetired = kPending;
  static inline const std::int64_t kRenewal = std::getenv("GR") ? std::atoll(std::getenv("GR")) : 24;

  // The nodes of a label, and first in, first out those that are roots with excess.
  struct Level {
    Index nodes = 0, first = kNobody, last = kNobody;
  };

  bool is_over() const { return visits_ >= stop_; }

  Index slice_end() {
    const std::int64_t count = std::min<std::int64_t>(trees_.size() - cursor_, stop_ - visits_);
    visits_ += count;
    return cursor_ + static_cast<Index>(count);
  }

  void go_to(Stage stage) {
    cursor_ = 0;
    stage_ = stage;
  }

  void clear() {
    for (const Index stop = slice_end(); cursor_ < stop; ++cursor_) {
      trees_.clear(cursor_);
      trees_.label(cursor_) = trees_.deficit(cursor_) < 0 ? 1 : 0;
    }
    if (cursor_ == trees_.size()) go_to(warm_ ? Stage::doubt : Stage::enter);
  }

  // Labels of nodes that are not known to reach a deficit have kPending added.
  void doubt() {
    for (const Index stop = slice_end(); cursor_ < stop; ++cursor_) {
      trees_.label(cursor_) |= kPending;
      if (trees_.deficit(cursor_) > 0) find(cursor_);
    }
    if (cursor_ == trees_.size()) go_to(Stage::reach);
  }

  void find(Index v) {
    trees_.label(v) -= kPending;
    found_.push_back(v);
  }

  void reach() {
    while (!found_.empty()) {
      if (is_over()) return;
      ++visits_;
      const Index v = found_.back();
      found_.pop_back();
      trees_.entering(v, [&](Index u) {
        if (trees_.label(u) >= kPending) find(u);
      });
    }
    std::vector<Index>().swap(found_);
    go_to(Stage::enter);
  }

  // The others retire, and leave the trees.
  void enter() {
    for (const Index stop = slice_end(); cursor_ < stop; ++cursor_) enter(cursor_);
    if (cursor_ < trees_.size()) return;
    renewal_ = visits_ + kRenewal * trees_.size();
    go_to(Stage::merge);
  }

  void enter(Index v) {
    const bool retired = trees_.label(v) >= kPending;
    if (retired) trees_.label(v) = kRetired;
    const Index parent = trees_.parent(v);
    if (parent != kNobody && (retired || trees_.label(parent) >= kPending)) trees_.cut(v);
    if (retired) return;
    ++level(trees_.label(v)).nodes;
    if (trees_.deficit(v) < 0) add_root(v);
  }

  // Looks anew for what can reach no deficit: to learn it label by label may take long.
  void renew() {
    while (take_root()) continue;  // empties the lists
    root_ = kNobody;
    std::fill(levels_.begin(), levels_.end(), Level{});
    highest_ = 0;
    go_to(Stage::doubt);
  }

  void merge_trees() {
    while (root_ != kNobody || take_root()) {
      if (is_over()) return;
      if (visits_ >= renewal_) return renew();
      visit();
    }
    stage_ = Stage::done;
  }

  Level& level(Label label) {
    if (label >= levels_.size()) levels_.resize(label + 1 + label / 2);
    return levels_[label];
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

  bool take_root() {
    while (highest_ > 0 && level(highest_).first == kNobody) --highest_;
    Level& top = level(highest_);
    if (top.first == kNobody) return false;
    node_ = root_ = top.first;
    top.first = std::exchange(trees_.next(root_), kNobody);
    return true;
  }

  // One node of the tree: its arcs, and then its children.
  void visit() {
    const Label label = trees_.label(root_);
    const std::int64_t before = trees_.looks();
    if (const auto half = trees_.seek(node_, label - 1); half.head != kNobody) {
      ++counts_.mergers;
      visits_ += 1 + trees_.hang(node_, half) / 8;
      send_up(std::exchange(root_, kNobody));
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
        --level(trees_.label(v)).nodes;
        trees_.label(v) = kRetired;
        ++visits_;
      });
    }
    root_ = kNobody;
  }

  // Takes the excess of v, which has a parent now, as far up as it goes.
  void send_up(Index v) {
    double amount = -trees_.deficit(v);
    trees_.set_deficit(v, 0.0);
    const std::int64_t before = counts_.pushes;
    for (Index parent; amount > 0 && (parent = trees_.parent(v)) != kNobody; v = parent) {
      ++counts_.pushes;
      const double moved = trees_.push_up(v, amount);
      if (moved < amount) split(v, amount - moved);
      amount = moved;
    }
    visits_ += (counts_.pushes - before) / 8;
    if (amount > 0) receive(v, amount);
  }

  void split(Index v, double excess) {
    ++counts_.splits;
    trees_.cut(v);
    trees_.set_deficit(v, -excess);
    add_root(v);
  }

  void receive(Index root, double amount) {
    const double before = trees_.deficit(root), after = before - amount;
    trees_.set_deficit(root, after);
    if (after < 0 && !(before < 0)) add_root(root);
  }

  Trees& trees_;
  bool warm_;
  Stage stage_ = Stage::clear;
  Index cursor_ = 0;
  std::vector<Index> found_;
  std::vector<Level> levels_;
  Label highest_ = 0;
  Index root_ = kNobody, node_ = kNobody;  // where in which tree the search stands
  std::int64_t visits_ = 0, stop_ = 0, renewal_ = 0;
  PseudoflowCounts counts_;
};

}  // namespace submin::flow

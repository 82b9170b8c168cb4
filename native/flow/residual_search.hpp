// Exact finish of a pseudoflow: push excess to deficits until no residual path joins them.
//
// A forest of residual paths leads every node near a deficit to one; it grows outwards, excess
// inside it runs down the paths, and nodes whose path breaks look for another. The forest is kept,
// not rebuilt (incremental breadth-first search: Goldberg, Hed, Kaplan, Tarjan and Werneck, ESA
// 2011; from any pseudoflow: Goldberg, Hed, Kaplan, Kohli, Tarjan and Werneck, ESA 2015). Labels
// here have room between them: a node one arc further out gets label + kStep, and a residual arc
// v -> u only has to keep label(v) <= label(u) + kStep. So a broken path is mended by a small rise
// of few labels instead of one of the whole tree behind it. Labels never fall and divide into
// lower bounds of the distance, which bounds the work; on interruption the flow is a pseudoflow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace submin::flow {

using Index = std::int32_t;
using Label = std::uint32_t;

constexpr Index kNobody = -1;

constexpr Label kStep = 16;
constexpr Label kDeficit = 1;
// Labels of nodes outside the forest: kPending + last label while under repair, or kFree.
constexpr Label kPending = Label{1} << 31;
constexpr Label kFree = ~Label{0};

struct Push {
  double amount;
  bool saturated;
};

// Moves up to `wish` along an edge (or against it). A saturated edge sits exactly on its bound.
inline Push push_edge(double& flow, double forward, double backward, bool along, double wish) {
  const double sign = along ? 1.0 : -1.0;
  const double bound = along ? forward : backward;
  const double now = sign * flow;
  const double capacity = std::max(bound - now, 0.0);
  const double raised = wish < capacity ? std::min(now + wish, bound) : bound;
  flow = sign * raised;
  return {std::min(wish, capacity), !(raised < bound)};
}

struct Counts {
  std::int64_t pushes = 0;   // along one arc
  std::int64_t grown = 0;    // nodes that joined the forest
  std::int64_t adopted = 0;  // nodes whose path broke
  std::int64_t raised = 0;   // of these: mended by a small rise
  std::int64_t lost = 0;     // of these: taken out for repair

  Counts& operator+=(const Counts& other) {
    pushes += other.pushes;
    grown += other.grown;
    adopted += other.adopted;
    raised += other.raised;
    lost += other.lost;
    return *this;
  }
};

// Nodes in last-in first-out lists, one for each key.
class Buckets {
 public:
  void add(Label key, Index node) {
    if (key >= heads_.size()) heads_.resize(key + 1 + heads_.size() / 2, kEnd);
    const Index entry = spare_ == kEnd ? static_cast<Index>(entries_.size()) : spare_;
    if (entry == spare_) {
      spare_ = entries_[entry].next;
    } else {
      entries_.emplace_back();
    }
    entries_[entry] = {node, heads_[key]};
    heads_[key] = entry;
    low_ = std::min(low_, key);
    high_ = std::max(high_, key);
  }
  // Sets low() or high() to the lowest or highest key in use; false when all lists are empty.
  bool seek_low() {
    while (low_ <= high_ && heads_[low_] == kEnd) ++low_;
    return in_use();
  }
  bool seek_high() {
    while (low_ <= high_ && heads_[high_] == kEnd) --high_;
    return in_use();
  }
  Label low() const { return low_; }
  Label high() const { return high_; }
  Index take(Label key) {
    const Index entry = heads_[key];
    heads_[key] = entries_[entry].next;
    entries_[entry].next = spare_;
    spare_ = entry;
    return entries_[entry].node;
  }

 private:
  struct Entry {
    Index node, next;
  };
  static constexpr Index kEnd = -1;

  bool in_use() {
    if (low_ <= high_) return true;
    low_ = kFree;
    high_ = 0;
    return false;
  }

  std::vector<Index> heads_;
  std::vector<Entry> entries_;
  Index spare_ = kEnd;
  Label low_ = kFree, high_ = 0;
};

// Network: size(); deficit(v) (an excess if negative), change_deficit(v, by); by reference label(v)
// and parent(v) (an arc, or root, none, offered); head(v, arc); push(v, arc, wish); the sets of
// residual arcs leaving(v) and of arcs to_children(v), one(arc), each_head(v, arcs, f); over
// residual arcs out of v find_parent and nearest, also among some arcs; outside(v, f).
template <class Network>
class ResidualSearch {
 public:
  explicit ResidualSearch(Network& network) : net_(network) {}

  // Goes on from a finished forest whose labels are at most `depth`, once `admit` has been told of
  // the residual arcs that are new.
  ResidualSearch(Network& network, Label depth)
      : net_(network), phase_(Phase::push), base_(depth), depth_(depth), pushed_at_(depth) {}

  // A node outside the forest with a new residual arc into it joins, beyond all there are: its own
  // neighbours are taken in as usual.
  void admit(Index v, typename Network::Arc arc) {
    const Label below = net_.label(net_.head(v, arc));
    if (net_.label(v) == kFree && below < kPending) join(v, arc, std::max(below, depth_) + kStep);
  }

  // Of a finished search: `advance` goes on from its forest with another deficit of v. A node that
  // gets one is a root where it is, or beyond all there are.
  void change(Index v, double deficit) {
    net_.set_deficit(v, deficit);
    phase_ = Phase::push;
    base_ = pushed_at_ = depth_;
    const bool outside = net_.label(v) == kFree;
    if (deficit > 0) {
      net_.parent(v) = Network::root;
      if (outside) settle(v, depth_ + kStep);
    } else if (net_.parent(v) == Network::root) {
      orphan(v);
    } else if (deficit < 0 && !outside) {
      excess_.add(net_.label(v), v);
    }
  }

  // No label in the forest is larger.
  Label depth() const { return depth_; }

  // Works for about `budget` node visits; true when no excess can reach a deficit any more.
  bool advance(std::int64_t budget) {
    granted_ = visits() + budget;
    work_ = budget;
    while (work_ > 0 && phase_ != Phase::done) {
      switch (phase_) {
        case Phase::label:
          label_deficits();
          break;
        case Phase::seed:
          join_neighbours_of_deficits();
          break;
        case Phase::push:
          push_excess();
          break;
        case Phase::adopt:
          adopt_orphans();
          break;
        case Phase::offer:
          offer_to_lost();
          break;
        case Phase::reach:
          reach_lost();
          break;
        case Phase::grow:
          grow();
          break;
        case Phase::done:
          break;
      }
    }
    return phase_ == Phase::done;
  }
  std::int64_t visits() const { return granted_ - work_; }
  const Counts& counts() const { return counts_; }

 private:
  using Arc = typename Network::Arc;
  using Arcs = typename Network::Arcs;
  enum class Phase { label, seed, push, adopt, offer, reach, grow, done };

  Index slice_end() {
    const std::int64_t count = std::min<std::int64_t>(net_.size() - cursor_, work_);
    work_ -= count;
    return cursor_ + static_cast<Index>(count);
  }

  void label_deficits() {
    for (const Index stop = slice_end(); cursor_ < stop; ++cursor_) {
      const bool deficit = net_.deficit(cursor_) > 0;
      net_.label(cursor_) = deficit ? kDeficit : kFree;
      net_.parent(cursor_) = deficit ? Network::root : Network::none;
    }
    if (cursor_ < net_.size()) return;
    cursor_ = 0;
    phase_ = Phase::seed;
  }

  // The first growth, seen from outside because the deficits are many.
  void join_neighbours_of_deficits() {
    for (const Index stop = slice_end(); cursor_ < stop; ++cursor_) {
      if (net_.label(cursor_) == kDeficit) continue;
      const Arc arc = net_.find_parent(cursor_, kDeficit);
      if (arc != Network::none) join(cursor_, arc, kDeficit + kStep);
    }
    if (cursor_ == net_.size()) phase_ = Phase::push;
  }

  void join(Index v, Arc arc, Label label) {
    ++counts_.grown;
    net_.parent(v) = arc;
    settle(v, label);
  }

  void settle(Index v, Label label) {
    net_.label(v) = label;
    if (label > depth_) frontier_.add(label / kStep, v);
    if (net_.deficit(v) < 0) excess_.add(label, v);
  }

  // Highest label first, so that excess gathers on its way.
  void push_excess() {
    while (excess_.seek_high()) {
      if (work_ <= 0) return;
      --work_;
      const Label label = excess_.high();
      const Index v = excess_.take(label);
      if (net_.label(v) == label && net_.parent(v) != Network::none && net_.deficit(v) < 0) {
        push(v);
      }
    }
    phase_ = Phase::adopt;
  }

  void push(Index v) {
    ++counts_.pushes;
    const Arc arc = net_.parent(v);
    const Index target = net_.head(v, arc);
    const double before = net_.deficit(target);
    const Push moved = net_.push(v, arc, -net_.deficit(v));
    net_.change_deficit(v, moved.amount);
    net_.change_deficit(target, -moved.amount);
    const double after = net_.deficit(target);
    if (moved.saturated) orphan(v);
    if (net_.parent(target) == Network::root) {
      if (!(after > 0)) orphan(target);
    } else if (before >= 0 && after < 0 && net_.parent(target) != Network::none) {
      excess_.add(net_.label(target), target);
    }
  }

  void orphan(Index v) {
    net_.parent(v) = Network::none;
    orphans_.add(net_.label(v), v);
  }

  // Lowest label first: whoever has a lower label than the current orphan has a path or is lost.
  void adopt_orphans() {
    while (orphans_.seek_low()) {
      if (work_ <= 0) return;
      --work_;
      const Label label = orphans_.low();
      const Index v = orphans_.take(label);
      if (net_.label(v) == label && net_.parent(v) == Network::none) adopt(v, label);
    }
    phase_ = Phase::offer;
  }

  // A neighbour of a higher label will do, too, if its path avoids v.
  void adopt(Index v, Label label) {
    ++counts_.adopted;
    const Arcs children = net_.to_children(v);
    const Label limit = std::min(depth_ + 1, label + kStep);
    for (Arcs choice = net_.leaving(v) & ~children; true;) {
      const auto [arc, below] = net_.nearest(v, choice);
      if (below >= limit) return lose(v, label, children);
      if (below < label) {
        net_.parent(v) = arc;
        return settle(v, label);
      }
      if (has_path_below(net_.head(v, arc), v, label)) return raise(v, arc, below, children);
      choice &= ~net_.one(arc);
    }
  }

  void lose(Index v, Label label, Arcs children) {
    ++counts_.lost;
    net_.label(v) = kPending | label;
    lost_.push_back(v);
    net_.each_head(v, children, [&](Index u) { orphan(u); });
  }

  // The new label leaves v's children in place where that is possible.
  void raise(Index v, Arc arc, Label below, Arcs children) {
    ++counts_.raised;
    Label room = below + kStep;
    net_.each_head(v, children, [&](Index u) { room = std::min(room, net_.label(u) - 1); });
    const Label raised = std::max(room, below + 1);
    net_.parent(v) = arc;
    settle(v, raised);
    net_.each_head(v, children, [&](Index u) {
      if (net_.label(u) <= raised) orphan(u);
    });
  }

  // Labels fall along a path, so one that is down to `label` can no longer meet v. A root may have
  // any label after a change.
  bool has_path_below(Index u, Index v, Label label) {
    while (u != v) {
      const Arc arc = net_.parent(u);
      if (arc == Network::none) return false;
      if (arc == Network::root || net_.label(u) <= label) return true;
      u = net_.head(u, arc);
      --work_;
    }
    return false;
  }

  // Nodes that lost every path get new labels nearest first (Ramalingam and Reps, J. Algorithms
  // 1996): what the settled neighbours offer, ...
  void offer_to_lost() {
    for (; cursor_lost_ < lost_.size(); ++cursor_lost_) {
      if (work_ <= 0) return;
      --work_;
      const Index v = lost_[cursor_lost_];
      const Label below = net_.nearest(v).second;
      if (below > depth_) continue;
      const Label old = net_.label(v) - kPending;
      if (below < old) net_.parent(v) = Network::offered;
      orphans_.add(std::max(old, below + 1), v);
    }
    phase_ = Phase::reach;
  }

  // ... then what each newly settled node offers; its first offer to a node is its best.
  void reach_lost() {
    while (orphans_.seek_low()) {
      if (work_ <= 0) return;
      --work_;
      const Label label = orphans_.low();
      const Index v = orphans_.take(label);
      if (net_.label(v) < kPending) continue;
      net_.parent(v) = net_.nearest(v).first;
      settle(v, label);
      if (label > depth_) continue;
      net_.outside(v, [&](Index u, Arc) {
        if (net_.parent(u) == Network::offered) return;
        net_.parent(u) = Network::offered;
        orphans_.add(std::max(net_.label(u) - kPending, label + 1), u);
      });
    }
    free_lost();
    phase_ = excess_.seek_high() ? Phase::push : Phase::grow;
  }

  void free_lost() {
    for (const Index v : lost_) {
      if (net_.label(v) < kPending) continue;
      net_.label(v) = kFree;
      net_.parent(v) = Network::none;
    }
    work_ -= static_cast<std::int64_t>(lost_.size());
    lost_.clear();
    cursor_lost_ = 0;
  }

  // Takes in the neighbours of all nodes of labels up to depth + kStep. Excess is pushed when the
  // forest has grown by an eighth: less often is fewer repairs, more often is shorter paths.
  void grow() {
    const Label next = depth_ + kStep;
    while (frontier_.seek_low() && frontier_.low() <= next / kStep) {
      if (work_ <= 0) return;
      --work_;
      const Index v = frontier_.take(frontier_.low());
      const Label label = net_.label(v);
      if (label <= depth_ || label > next || net_.parent(v) == Network::none) continue;
      net_.outside(v, [&](Index u, Arc arc) { join(u, arc, label + kStep); });
    }
    depth_ = next;
    const bool more = frontier_.seek_low();
    const Label enough = pushed_at_ + kStep + (pushed_at_ - base_) / 8;
    if (excess_.seek_high() && (!more || depth_ >= enough)) {
      pushed_at_ = depth_;
      phase_ = Phase::push;
    } else {
      phase_ = more ? Phase::grow : Phase::done;
    }
  }

  Network& net_;
  Phase phase_ = Phase::label;
  std::int64_t granted_ = 0, work_ = 0;
  Index cursor_ = 0;
  std::size_t cursor_lost_ = 0;
  Label base_ = 0;           // what was there before
  Label depth_ = kStep - 1;  // nodes up to this label have taken their neighbours in
  Label pushed_at_ = 0;
  Buckets excess_, orphans_, frontier_;
  std::vector<Index> lost_;
  Counts counts_;
};

// The smallest minimiser: what remaining excess still reaches in a finished network. No node of the
// forest is among it, and few others have neither excess nor deficit. Marks parents meanwhile.
template <class Network>
void mark_smallest(Network& network, std::uint8_t* member) {
  constexpr auto reached = Network::offered;
  std::vector<Index> open, stack;
  for (Index v = 0; v < network.size(); ++v) {
    if (network.label(v) != kFree) continue;
    const bool excess = network.deficit(v) < 0;
    network.parent(v) = excess ? reached : Network::none;
    if (!excess) open.push_back(v);
  }
  for (const Index v : open) {
    if (network.parent(v) == reached || !network.entered_from(v, reached)) continue;
    network.parent(v) = reached;
    stack.push_back(v);
    while (!stack.empty()) {
      const Index u = stack.back();
      stack.pop_back();
      network.leaving_unless(u, reached, [&](Index w) {
        network.parent(w) = reached;
        stack.push_back(w);
      });
    }
  }
  for (Index v = 0; v < network.size(); ++v) {
    member[v] = network.parent(v) == reached;
    if (member[v]) network.parent(v) = Network::none;
  }
}

// The largest minimiser: what cannot reach a deficit, that is all outside a finished forest.
template <class Network>
void mark_largest(Network& network, std::uint8_t* member) {
  for (Index v = 0; v < network.size(); ++v) member[v] = network.label(v) == kFree;
}

}  // namespace submin::flow

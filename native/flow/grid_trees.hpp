// The trees of a pseudoflow on a grid, in the labels and parents of its network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "flow/pseudoflow.hpp"
#include "flow/residual_search.hpp"

namespace submin::flow {

// Children are neighbours, so no lists of them are kept, and all arcs of a node are seen at once.
template <class Network>
class GridTrees {
 public:
  using Arc = typename Network::Arc;
  using Arcs = typename Network::Arcs;

  struct HalfEdge {
    Index head;
    Arc arc;
  };

  explicit GridTrees(Network& network)
      : net_(network), next_(static_cast<std::size_t>(network.size()), kNobody) {
    for (Index v = 0; v < size(); ++v) net_.parent(v) = Network::none;
  }

  Index size() const { return net_.size(); }
  double deficit(Index v) const { return net_.deficit(v); }
  void set_deficit(Index v, double value) { net_.set_deficit(v, value); }
  Label& label(Index v) { return net_.label(v); }
  Index& next(Index v) { return next_[v]; }
  void rewind(Index) {}
  std::int64_t looks() const { return 0; }

  Index parent(Index v) const {
    const Arc arc = net_.parent(v);
    return arc == Network::none ? kNobody : net_.head(v, arc);
  }

  template <class Visit>
  void entering(Index v, Visit visit) const {
    net_.outside(v, [&](Index u, Arc) { visit(u); });
  }

  HalfEdge seek(Index v, Label below) const {
    const Arc arc = net_.widest(v, below);
    return arc == Network::none ? HalfEdge{kNobody, arc} : HalfEdge{net_.head(v, arc), arc};
  }

  Index child(Index v, Label label) const {
    const Arcs match = net_.to_children(v) & net_.to_label(v, label);
    return match ? net_.head(v, Network::first(match)) : kNobody;
  }

  // Makes the tree of v hang from it, and v from the head: the path from v to its root is turned.
  std::int64_t hang(Index v, HalfEdge half) {
    Arc arc = half.arc;
    for (std::int64_t length = 0;; ++length) {
      const Arc above = net_.parent(v);
      net_.parent(v) = arc;
      if (above == Network::none) return length;
      v = net_.head(v, above);
      arc = above ^ 1;
    }
  }

  void cut(Index v) { net_.parent(v) = Network::none; }
  Push push_up(Index v, double wish) { return net_.push(v, net_.parent(v), wish); }

  // Leaf by leaf.
  template <class Visit>
  void take_apart(Index root, Visit visit) {
    for (Index v = root;;) {
      if (const Arcs children = net_.to_children(v)) {
        v = net_.head(v, Network::first(children));
        continue;
      }
      visit(v);
      const Index above = parent(v);
      if (above == kNobody) return;
      cut(v);
      v = above;
    }
  }

 private:
  Network& net_;
  std::vector<Index> next_;  // in a list of roots
};

}  // namespace submin::flow

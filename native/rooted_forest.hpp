// Rooted trees of nodes, each linked to its parent by an arc; all changes of a link are O(1).
#pragma once

#include <cstddef>
#include <vector>

#include "residual_graph.hpp"

namespace submin::flow {

constexpr Index kNobody = -1;

struct TreeNode {
  Index parent = kNobody, child = kNobody;   // the first child
  Index next = kNobody, previous = kNobody;  // of the same parent; a root's are free for lists
  ArcNumber arc = 0;                         // to the parent
};

class RootedForest {
 public:
  explicit RootedForest(Index size) : nodes_(static_cast<std::size_t>(size)) {}

  TreeNode& operator[](Index v) { return nodes_[v]; }

  void link(Index v, Index parent, ArcNumber arc) {
    const Index sibling = nodes_[parent].child;
    nodes_[v].parent = parent;
    nodes_[v].arc = arc;
    nodes_[v].next = sibling;
    if (sibling != kNobody) nodes_[sibling].previous = v;
    nodes_[parent].child = v;
  }

  void cut(Index v) {
    TreeNode& node = nodes_[v];
    if (node.previous != kNobody) {
      nodes_[node.previous].next = node.next;
    } else {
      nodes_[node.parent].child = node.next;
    }
    if (node.next != kNobody) nodes_[node.next].previous = node.previous;
    node.parent = node.next = node.previous = kNobody;
  }

  // Makes v a child of `parent`, and its tree that of v: the path from v to its root is turned.
  // Returns the length of that path.
  std::int64_t hang(Index v, Index parent, ArcNumber arc) {
    for (std::int64_t length = 0;; ++length) {
      const TreeNode node = nodes_[v];
      if (node.parent != kNobody) cut(v);
      link(v, parent, arc);
      if (node.parent == kNobody) return length;
      parent = v;
      v = node.parent;
      arc = node.arc ^ 1;
    }
  }

  // visit(v) for the nodes of the tree of a root, parents first.
  template <class Visit>
  void preorder(Index root, Visit visit) {
    Index v = root;
    while (true) {
      visit(v);
      if (nodes_[v].child != kNobody) {
        v = nodes_[v].child;
        continue;
      }
      while (v != root && nodes_[v].next == kNobody) v = nodes_[v].parent;
      if (v == root) return;
      v = nodes_[v].next;
    }
  }

 private:
  std::vector<TreeNode> nodes_;
};

}  // namespace submin::flow

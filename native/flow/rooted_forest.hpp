// Rooted trees of nodes, each linked to its parent by an arc; all changes of a link are O(1).
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "flow/pseudoflow.hpp"
#include "flow/residual_graph.hpp"

namespace submin::flow {

// The children of a node are in two lists: those that a search has yet to look at, and the others.
struct TreeNode {
  Index parent = kNobody;
  Index waiting = kNobody, passed = kNobody;  // the first child of each list
  Index next = kNobody, previous = kNobody;   // in that list; a root's are free for lists
  ArcNumber arc = 0;                          // to the parent
};

class RootedForest {
 public:
  explicit RootedForest(Index size) : nodes_(static_cast<std::size_t>(size)) {}

  TreeNode& operator[](Index v) { return nodes_[v]; }

  void cut(Index v) {
    TreeNode& node = nodes_[v];
    if (node.previous != kNobody) {
      nodes_[node.previous].next = node.next;
    } else {
      TreeNode& parent = nodes_[node.parent];
      (parent.waiting == v ? parent.waiting : parent.passed) = node.next;
    }
    if (node.next != kNobody) nodes_[node.next].previous = node.previous;
    node.parent = node.next = node.previous = kNobody;
  }

  // Makes v a child of `parent`, passed by already, and its tree that of v: the path from v to its
  // root is turned, and who was above waits below. Returns the length of that path.
  std::int64_t hang(Index v, Index parent, ArcNumber arc) {
    for (std::int64_t length = 0;; ++length) {
      const TreeNode node = nodes_[v];
      if (node.parent != kNobody) cut(v);
      nodes_[v].parent = parent;
      nodes_[v].arc = arc;
      push(length == 0 ? nodes_[parent].passed : nodes_[parent].waiting, v);
      if (node.parent == kNobody) return length;
      parent = v;
      v = node.parent;
      arc = node.arc ^ 1;
    }
  }

  // The first child of v that waits is passed by.
  void pass(Index v) {
    TreeNode& node = nodes_[v];
    const Index u = node.waiting;
    node.waiting = nodes_[u].next;
    if (node.waiting != kNobody) nodes_[node.waiting].previous = kNobody;
    push(node.passed, u);
  }

  // All children of v wait again, O(those that wait now).
  void pass_none(Index v) {
    TreeNode& node = nodes_[v];
    prepend(std::exchange(node.waiting, kNobody), node.passed);
    node.waiting = std::exchange(node.passed, kNobody);
  }

  // visit(v) for the nodes of the tree of a root, which are no tree any more.
  template <class Visit>
  void take_apart(Index root, Visit visit) {
    Index first = root;
    while (first != kNobody) {
      const Index v = first;
      first = std::exchange(nodes_[v].next, kNobody);
      prepend(nodes_[v].waiting, first);
      prepend(nodes_[v].passed, first);
      nodes_[v] = TreeNode{};
      visit(v);
    }
  }

 private:
  void push(Index& list, Index v) {
    nodes_[v].previous = kNobody;
    nodes_[v].next = list;
    if (list != kNobody) nodes_[list].previous = v;
    list = v;
  }

  // Puts one list before another, O(the first).
  void prepend(Index list, Index& first) {
    if (list == kNobody) return;
    Index last = list;
    while (nodes_[last].next != kNobody) last = nodes_[last].next;
    nodes_[last].next = first;
    if (first != kNobody) nodes_[first].previous = last;
    first = list;
  }

  std::vector<TreeNode> nodes_;
};

}  // namespace submin::flow

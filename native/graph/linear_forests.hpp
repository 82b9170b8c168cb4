// Edges of a graph split into linear forests: families of paths without a common node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/pairs.hpp"

namespace submin {

// The edges one after the other, forest by forest and path by path, in the order in which the path
// runs through them; orientation -1 marks an edge run through from head to tail.
struct ForestEdges {
  std::int32_t* forest;
  std::int32_t* edge;
  std::int8_t* orientation;
  std::uint8_t* first;  // 1 where a path starts
};

// Forests under construction. Each end of a path knows the other end, so that an edge closes a
// cycle exactly if it joins an end to the other end of its own path.
class GrowingForests {
 public:
  GrowingForests(std::int64_t edges, std::int32_t nodes)
      : ends_(2 * edges), first_open_(static_cast<std::size_t>(nodes), 0) {}

  // Adds an edge to the first forest that stays one of paths, and returns its number.
  // `first_open_[v]` is the first forest in which v has not two edges yet, so few are tried.
  std::int32_t add(std::int32_t a, std::int32_t b) {
    std::int32_t forest = std::max(first_open_[a], first_open_[b]);
    while (!joined(a, b, forest)) ++forest;
    for (const std::int32_t v : {a, b})
      while (ends_.find(v, first_open_[v], v) == kInside) ++first_open_[v];
    return forest;
  }

 private:
  static constexpr std::int32_t kInside = -1;

  // Adds an edge to a forest, unless a node gets a third edge or a cycle closes.
  bool joined(std::int32_t a, std::int32_t b, std::int32_t forest) {
    const std::int32_t left = ends_.find(a, forest, a);
    const std::int32_t right = ends_.find(b, forest, b);
    if (left == kInside || right == kInside || left == b) return false;
    ends_.set(a, forest, kInside);
    ends_.set(b, forest, kInside);
    ends_.set(left, forest, right);
    ends_.set(right, forest, left);
    return true;
  }

  // Of (node, forest): the other end of the path that ends there, or kInside.
  PairTable ends_;
  std::vector<std::int32_t> first_open_;
};

// Runs through the paths of one linear forest after the other.
class PathWalker {
 public:
  PathWalker(const std::int32_t* tails, const std::int32_t* heads, std::int32_t nodes)
      : tails_(tails), heads_(heads), incident_(static_cast<std::size_t>(nodes), {kNone, kNone}) {}

  // Writes the edges at `begin`, ..., `end` - 1 of `out`, all of one forest, path by path.
  void walk(const ForestEdges& out, std::int64_t begin, std::int64_t end) {
    edges_.assign(out.edge + begin, out.edge + end);
    for (const std::int32_t edge : edges_)
      for (const std::int32_t node : {tails_[edge], heads_[edge]}) {
        auto& [one, two] = incident_[node];
        (one == kNone ? one : two) = edge;
      }
    for (const std::int32_t edge : edges_)
      for (const std::int32_t node : {tails_[edge], heads_[edge]}) {
        const auto& [one, two] = incident_[node];
        if (one != kNone && two == kNone) begin = walk_from(node, out, begin);
      }
  }

 private:
  static constexpr std::int32_t kNone = -1;

  std::int64_t walk_from(std::int32_t node, const ForestEdges& out, std::int64_t at) {
    out.first[at] = 1;
    for (std::int32_t edge = incident_[node].first; edge != kNone; ++at) {
      const bool along = tails_[edge] == node;
      incident_[node] = {kNone, kNone};
      node = along ? heads_[edge] : tails_[edge];
      out.edge[at] = edge;
      out.orientation[at] = along ? 1 : -1;
      const auto& [one, two] = incident_[node];
      edge = one == edge ? two : one;
    }
    incident_[node] = {kNone, kNone};
    return at;
  }

  const std::int32_t* tails_;
  const std::int32_t* heads_;
  std::vector<std::pair<std::int32_t, std::int32_t>> incident_;  // the edges of a node, in a forest
  std::vector<std::int32_t> edges_;
};

// Puts each edge into the first forest that it fits in, and lists all forests path by path.
inline void linear_forests(const std::int32_t* tails, const std::int32_t* heads, std::int64_t edges,
                           std::int32_t nodes, const ForestEdges& out) {
  std::vector<std::int32_t> forest_of(static_cast<std::size_t>(edges));
  std::vector<std::int64_t> starts(1, 0);
  {
    GrowingForests growing(edges, nodes);
    for (std::int64_t e = 0; e < edges; ++e) {
      forest_of[e] = growing.add(tails[e], heads[e]);
      const auto needed = static_cast<std::size_t>(forest_of[e]) + 2;
      if (starts.size() < needed) starts.resize(needed, 0);
      ++starts[forest_of[e] + 1];
    }
  }
  for (std::size_t k = 1; k < starts.size(); ++k) starts[k] += starts[k - 1];
  std::vector<std::int64_t> next = starts;
  for (std::int64_t e = 0; e < edges; ++e) {
    const std::int64_t at = next[forest_of[e]]++;
    out.forest[at] = forest_of[e];
    out.edge[at] = static_cast<std::int32_t>(e);
    out.first[at] = 0;
  }
  PathWalker walker(tails, heads, nodes);
  for (std::size_t k = 0; k + 1 < starts.size(); ++k) walker.walk(out, starts[k], starts[k + 1]);
}

}  // namespace submin

// Elements that arcs tie to decided ones, breadth-first.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/indices.hpp"
#include "core/orders.hpp"
#include "graph/edges.hpp"
#include "grid/grid_sums.hpp"

namespace submin {

// The arcs at each element, by the place of their ends: those that leave it, or enter it.
class ArcsByEnd {
 public:
  // Numbers of 32 bits without sign: there are less than 2^32 arcs.
  ArcsByEnd(const std::int32_t* ends, std::int64_t arcs, std::int64_t nodes)
      : first_(static_cast<std::size_t>(nodes) + 2), arcs_(static_cast<std::size_t>(arcs)) {
    for (std::int64_t k = 0; k < arcs; ++k) ++first_[static_cast<std::size_t>(ends[k]) + 2];
    for (std::size_t v = 2; v < first_.size(); ++v) first_[v] += first_[v - 1];
    for (std::int64_t k = 0; k < arcs; ++k)  // first_[v + 1] grows from the first to the last
      arcs_[first_[static_cast<std::size_t>(ends[k]) + 1]++] = static_cast<std::uint32_t>(k);
  }
  template <class Visit>
  void for_each(std::int64_t node, const Visit& visit) const {
    const auto v = static_cast<std::size_t>(node);
    for (std::uint32_t k = first_[v]; k < first_[v + 1]; ++k) visit(arcs_[k]);
  }

 private:
  std::vector<std::uint32_t> first_, arcs_;
};

// The head of an arc from an element inside (1) is inside; the tail of one to an element outside
// (-1) is outside. Open elements are 0.
inline void close_sides(const std::int32_t* tails, const std::int32_t* heads, std::int64_t arcs,
                        std::int8_t* side, std::int64_t nodes) {
  require_below(tails, arcs, nodes, "tails");
  require_below(heads, arcs, nodes, "heads");
  const ArcsByEnd out(tails, arcs, nodes), in(heads, arcs, nodes);
  std::vector<std::int32_t> queue;
  for (std::int64_t v = 0; v < nodes; ++v)
    if (side[v] != 0) queue.push_back(static_cast<std::int32_t>(v));
  for (std::size_t k = 0; k < queue.size(); ++k) {
    const std::int32_t node = queue[k];
    const std::int8_t own = side[node];
    const auto decide = [&](std::int32_t other) {
      if (side[other] != 0) return;
      side[other] = own;
      queue.push_back(other);
    };
    if (own == 1) out.for_each(node, [&](std::int64_t arc) { decide(heads[arc]); });
    if (own == -1) in.for_each(node, [&](std::int64_t arc) { decide(tails[arc]); });
  }
}

// The head of an arc gets what its tail has if that is more, and so on: every node ends with the
// largest number that leads to it. Each node is visited once, from the largest number down.
inline void raise_along(const std::int32_t* tails, const std::int32_t* heads, std::int64_t arcs,
                        double* values, std::int64_t nodes) {
  require_below(tails, arcs, nodes, "tails");
  require_below(heads, arcs, nodes, "heads");
  const ArcsByEnd out(tails, arcs, nodes);
  const auto size = static_cast<std::size_t>(nodes);
  std::vector<std::int32_t> rank(size), order(size), stack;
  descending_ranks(values, nodes, rank.data());
  for (std::size_t v = 0; v < size; ++v)
    order[static_cast<std::size_t>(rank[v])] = static_cast<std::int32_t>(v);
  std::vector<std::uint8_t> visited(size, 0);
  const auto visit = [&](std::int32_t node, double value) {
    if (visited[static_cast<std::size_t>(node)]) return;
    visited[static_cast<std::size_t>(node)] = 1;
    values[node] = value;
    stack.push_back(node);
  };
  for (const std::int32_t root : order) {
    const double value = values[root];
    visit(root, value);
    while (!stack.empty()) {
      const std::int32_t node = stack.back();
      stack.pop_back();
      out.for_each(node, [&](std::int64_t arc) { visit(heads[arc], value); });
    }
  }
}

// The residual arcs of a grid, at one node after the other.
class GridArcs {
 public:
  GridArcs(const GridSums& grid, const std::int64_t* shape, int dimensions,
           const std::vector<WeightArray>& backward, const std::vector<WeightArray>& forward,
           const double* flow)
      : grid_(grid),
        shape_(shape),
        dimensions_(dimensions),
        backward_(backward),
        forward_(forward),
        flow_(flow) {}

  // Calls visit(other, out, in) for each neighbour; out() and in() are the capacities of the arcs.
  template <class Visit>
  void for_each(std::int64_t node, const Visit& visit) const {
    std::array<std::int64_t, kMostDimensions> coordinates;
    std::int64_t rest = node;
    for (int i = dimensions_ - 1; i >= 0; --i) {
      coordinates[static_cast<std::size_t>(i)] = rest % shape_[i];
      rest /= shape_[i];
    }
    const double* flow = flow_;
    for (std::size_t k = 0; k < grid_.offsets.size(); ++k) {
      const GridOffset& offset = grid_.offsets[k];
      const std::int64_t first = offset.edge_at(coordinates.data(), false);
      const std::int64_t second = offset.edge_at(coordinates.data(), true);
      if (first >= 0)
        visit(
            node + offset.step(), [&] { return ahead(k, first, flow); },
            [&] { return behind(k, first, flow); });
      if (second >= 0)
        visit(
            node - offset.step(), [&] { return behind(k, second, flow); },
            [&] { return ahead(k, second, flow); });
      flow += offset.size();
    }
  }

 private:
  double ahead(std::size_t k, std::int64_t edge, const double* flow) const {
    return forward_[k][edge] - flow[edge];
  }
  double behind(std::size_t k, std::int64_t edge, const double* flow) const {
    return backward_[k][edge] + flow[edge];
  }

  const GridSums& grid_;
  const std::int64_t* shape_;
  int dimensions_;
  const std::vector<WeightArray>&backward_, &forward_;
  const double* flow_;
};

// The residual arcs of edges, at one node after the other.
class EdgeArcs {
 public:
  EdgeArcs(const std::int32_t* tails, const std::int32_t* heads, std::int64_t edges,
           std::int64_t nodes, WeightArray backward, WeightArray forward, const double* flow)
      : tails_(tails),
        heads_(heads),
        backward_(backward),
        forward_(forward),
        flow_(flow),
        out_(tails, edges, nodes),
        in_(heads, edges, nodes) {}

  template <class Visit>
  void for_each(std::int64_t node, const Visit& visit) const {
    out_.for_each(node, [&](std::int64_t e) {
      visit(heads_[e], [&] { return ahead(e); }, [&] { return behind(e); });
    });
    in_.for_each(node, [&](std::int64_t e) {
      visit(tails_[e], [&] { return behind(e); }, [&] { return ahead(e); });
    });
  }

 private:
  double ahead(std::int64_t edge) const { return forward_[edge] - flow_[edge]; }
  double behind(std::int64_t edge) const { return backward_[edge] + flow_[edge]; }

  const std::int32_t *tails_, *heads_;
  WeightArray backward_, forward_;
  const double* flow_;
  ArcsByEnd out_, in_;
};

// The same with the arcs of capacity above `room`. Looks at open nodes and at those they decide.
template <class Arcs>
void close_residual_sides(const Arcs& arcs, double room, std::int8_t* side, std::int64_t nodes) {
  std::vector<std::int32_t> queue;
  const auto decide = [&](std::int64_t node, std::int8_t own) {
    side[node] = own;
    queue.push_back(static_cast<std::int32_t>(node));
  };
  for (std::int64_t v = 0; v < nodes; ++v) {
    if (side[v] != 0) continue;
    std::int8_t found = 0;
    arcs.for_each(v, [&](std::int64_t other, const auto& out, const auto& in) {
      if (found != 0 || side[other] == 0) return;
      if ((side[other] == 1 ? in() : out()) > room) found = side[other];
    });
    if (found != 0) decide(v, found);
  }
  for (std::size_t k = 0; k < queue.size(); ++k) {
    const std::int8_t own = side[queue[k]];
    arcs.for_each(queue[k], [&](std::int64_t other, const auto& out, const auto& in) {
      if (side[other] == 0 && (own == 1 ? out() : in()) > room) decide(other, own);
    });
  }
}

}  // namespace submin

// Elements that arcs tie to decided ones, breadth-first.
#pragma once

#include <cstdint>
#include <vector>

#include "indices.hpp"

namespace submin {

// The arcs at each element, by the place of their ends: those that leave it, or enter it.
class ArcsByEnd {
 public:
  ArcsByEnd(const std::int32_t* ends, std::int64_t arcs, std::int64_t nodes)
      : first_(static_cast<std::size_t>(nodes) + 1), arcs_(static_cast<std::size_t>(arcs)) {
    for (std::int64_t k = 0; k < arcs; ++k) ++first_[static_cast<std::size_t>(ends[k]) + 1];
    for (std::size_t v = 1; v < first_.size(); ++v) first_[v] += first_[v - 1];
    std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
    for (std::int64_t k = 0; k < arcs; ++k)
      arcs_[static_cast<std::size_t>(next[static_cast<std::size_t>(ends[k])]++)] = k;
  }
  template <class Visit>
  void for_each(std::int32_t node, const Visit& visit) const {
    const auto v = static_cast<std::size_t>(node);
    for (std::int64_t k = first_[v]; k < first_[v + 1]; ++k)
      visit(arcs_[static_cast<std::size_t>(k)]);
  }

 private:
  std::vector<std::int64_t> first_, arcs_;
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

}  // namespace submin

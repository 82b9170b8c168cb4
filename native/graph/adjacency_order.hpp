// Maximum adjacency orders (Nagamochi and Ibaraki, SIAM Journal on Discrete Mathematics 1992,
// doi:10.1137/0405004): next comes the node with the largest weight to those before it, its key.
// Keys from a bound on count as equal, the last to reach it first (Henzinger, Noe, Schulz and
// Strash, ACM Journal of Experimental Algorithmics 2018, doi:10.1145/3274662).
#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "core/indices.hpp"

namespace submin {

struct WeightedAdjacency {
  std::int64_t nodes;
  const std::int64_t* pointers;
  const std::int32_t* neighbours;
  const double* weights;
};

class AdjacencyOrder {
 public:
  AdjacencyOrder(const WeightedAdjacency& graph, double bound, std::int32_t* order, double* keys)
      : graph_(graph),
        bound_(bound),
        order_(order),
        keys_(keys),
        sums_(static_cast<std::size_t>(graph.nodes), 0.0),
        placed_(static_cast<std::size_t>(graph.nodes), false) {}

  // O(nodes + edges log edges).
  void run() {
    for (std::int64_t place = 0; place < graph_.nodes; ++place) {
      const std::int32_t v = next();
      order_[place] = v;
      keys_[place] = sums_[v];
      placed_[v] = true;
      for (std::int64_t k = graph_.pointers[v]; k < graph_.pointers[v + 1]; ++k)
        add(graph_.neighbours[k], graph_.weights[k]);
    }
  }

 private:
  void add(std::int32_t w, double weight) {
    if (placed_[w]) return;
    const double before = sums_[w];
    sums_[w] += weight;
    if (!(sums_[w] >= bound_)) {
      below_.push({sums_[w], w});
    } else if (before < bound_) {
      above_.push_back(w);
    }
  }

  // Where no node is adjacent to those before, the first that has no place yet.
  std::int32_t next() {
    while (!above_.empty()) {
      const std::int32_t v = above_.back();
      above_.pop_back();
      if (!placed_[v]) return v;
    }
    while (!below_.empty()) {
      const std::int32_t v = below_.top().second;
      below_.pop();
      if (!placed_[v]) return v;
    }
    while (placed_[first_]) ++first_;
    return first_;
  }

  WeightedAdjacency graph_;
  double bound_;
  std::int32_t* order_;
  double* keys_;
  std::vector<double> sums_;
  std::vector<bool> placed_;
  std::vector<std::int32_t> above_;
  std::priority_queue<std::pair<double, std::int32_t>> below_;
  std::int32_t first_ = 0;
};

}  // namespace submin

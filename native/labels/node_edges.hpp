// The edges at each node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace submin {
namespace labels {

class NodeEdges {
 public:
  NodeEdges(const std::int32_t* tails, const std::int32_t* heads, std::int64_t edges,
            std::int64_t nodes)
      : first_(static_cast<std::size_t>(nodes) + 1, 0),
        edges_(static_cast<std::size_t>(2 * edges)) {
    for (std::int64_t e = 0; e < edges; ++e) {
      ++first_[at(tails[e]) + 1];
      ++first_[at(heads[e]) + 1];
    }
    for (std::size_t v = 1; v < first_.size(); ++v) first_[v] += first_[v - 1];
    std::vector<std::int64_t> place(first_.begin(), first_.end() - 1);
    for (std::int64_t e = 0; e < edges; ++e) {
      edges_[at(place[at(tails[e])]++)] = static_cast<std::int32_t>(e);
      edges_[at(place[at(heads[e])]++)] = static_cast<std::int32_t>(e);
    }
  }

  std::int32_t* begin(std::int64_t v) { return edges_.data() + first_[at(v)]; }
  std::int32_t* end(std::int64_t v) { return edges_.data() + first_[at(v) + 1]; }
  const std::int32_t* begin(std::int64_t v) const { return edges_.data() + first_[at(v)]; }
  const std::int32_t* end(std::int64_t v) const { return edges_.data() + first_[at(v) + 1]; }

 private:
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

  std::vector<std::int64_t> first_;
  std::vector<std::int32_t> edges_;
};

}  // namespace labels
}  // namespace submin

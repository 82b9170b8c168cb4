#include <algorithm>

#include "bind/arrays.hpp"
#include "graph/linear_forests.hpp"

namespace submin {
namespace {

void checked_linear_forests(const ConstIndices& tails, const ConstIndices& heads,
                            const Indices& forest, const Indices& edge,
                            const Array<std::int8_t>& orientation,
                            const Array<std::uint8_t>& first) {
  const std::int64_t edges = size_of(tails.size());
  require(edges < INT32_MAX, "there must be fewer than 2**31 - 1 edges");
  require_size(heads.size(), edges, "heads");
  require_size(forest.size(), edges, "forest");
  require_size(edge.size(), edges, "edge");
  require_size(orientation.size(), edges, "orientation");
  require_size(first.size(), edges, "first");
  require_below(tails, INT32_MAX, "tails");
  require_below(heads, INT32_MAX, "heads");
  std::int32_t nodes = 0;
  for (std::int64_t e = 0; e < edges; ++e) {
    const std::int32_t tail = tails.data()[e], head = heads.data()[e];
    if (tail == head)
      throw std::invalid_argument("heads[" + std::to_string(e) + "] = " + std::to_string(head) +
                                  " is the edge's tail: an edge needs two different ends");
    nodes = std::max({nodes, tail + 1, head + 1});
  }
  linear_forests(tails.data(), heads.data(), edges, nodes,
                 {forest.data(), edge.data(), orientation.data(), first.data()});
}

}  // namespace

void bind_linear_forests(nb::module_& module) {
  module.def("linear_forests", &checked_linear_forests, "tails"_a.noconvert(),
             "heads"_a.noconvert(), "forest"_a.noconvert(), "edge"_a.noconvert(),
             "orientation"_a.noconvert(), "first"_a.noconvert(), WithoutLock());
}

}  // namespace submin

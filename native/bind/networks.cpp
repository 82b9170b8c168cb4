// Bindings for flows that conserve and for global minimum cuts.
#include "bind/arrays.hpp"
#include "flow/conserving_flow.hpp"
#include "graph/adjacency_order.hpp"

namespace submin {
namespace {

constexpr std::int64_t kMostFlowEdges = std::int64_t{1} << 30;  // arcs: 31 bits

void conserve(const ConstIndices& tails, const ConstIndices& heads, const Values& flow,
              const Values& s, std::int64_t source, std::int64_t sink) {
  const std::int64_t edges = size_of(tails.size()), nodes = size_of(s.size());
  require(edges < kMostFlowEdges, "tails has too many edges");
  require(nodes < INT32_MAX, "s has too many nodes");
  require_size(heads.size(), edges, "heads");
  require_size(flow.size(), edges, "flow");
  require_below(tails, nodes, "tails");
  require_below(heads, nodes, "heads");
  require(0 <= source && source < nodes, "source is out of range");
  require(0 <= sink && sink < nodes, "sink is out of range");
  const double zero = 0.0;
  const WeightArray none = {&zero, true};
  flow::ConservingFlow(
      {nodes, edges, tails.data(), heads.data(), none, none, flow.data(), s.data()})
      .conserve(static_cast<flow::Index>(source), static_cast<flow::Index>(sink));
}

void adjacency_order(const ConstPointers& pointers, const ConstIndices& neighbours,
                     const ConstValues& weights, double bound, const Indices& order,
                     const Values& keys) {
  const std::int64_t nodes = checked_pointers(pointers, "pointers");
  require(nodes < INT32_MAX, "pointers has too many nodes");
  require_size(neighbours.size(), pointers.data()[nodes], "neighbours");
  require_size(weights.size(), pointers.data()[nodes], "weights");
  require_size(order.size(), nodes, "order");
  require_size(keys.size(), nodes, "keys");
  require_below(neighbours, nodes, "neighbours");
  AdjacencyOrder({nodes, pointers.data(), neighbours.data(), weights.data()}, bound, order.data(),
                 keys.data())
      .run();
}

}  // namespace

void bind_networks(nb::module_& module) {
  module.def("conserve", &conserve, "tails"_a.noconvert(), "heads"_a.noconvert(),
             "flow"_a.noconvert(), "s"_a.noconvert(), "source"_a, "sink"_a, WithoutLock());
  module.def("adjacency_order", &adjacency_order, "pointers"_a.noconvert(),
             "neighbours"_a.noconvert(), "weights"_a.noconvert(), "bound"_a, "order"_a.noconvert(),
             "keys"_a.noconvert(), WithoutLock());
}

}  // namespace submin

#include "bind/arrays.hpp"
#include "bind/weights.hpp"
#include "graph/edges.hpp"

namespace submin {
namespace {

EdgeList checked_list(const ConstIndices& tails, const ConstIndices& heads,
                      const ConstIndices& edges, std::size_t flows, std::size_t nodes) {
  require_size(tails.size(), size_of(flows), "tails");
  require_size(heads.size(), size_of(flows), "heads");
  return {tails.data(),          heads.data(),    edges.data(),
          size_of(edges.size()), reach_of(flows), reach_of(nodes)};
}

void project(const ConstIndices& tails, const ConstIndices& heads, const Weights& backward,
             const Weights& forward, const ConstIndices& edges, const ConstValues& flow,
             const ConstValues& s, double c, const Values& out, int threads) {
  const EdgeList list = checked_list(tails, heads, edges, flow.size(), s.size());
  require_positive(c);
  require_size(out.size(), list.count, "out");
  const auto [lower, upper] = checked_bounds(backward, forward, flow.size());
  edges_project(list, lower, upper, flow.data(), s.data(), c, out.data(), threads);
}

void sweep(const ConstIndices& tails, const ConstIndices& heads, const Weights& backward,
           const Weights& forward, const ConstIndices& edges, const Values& flow, const Values& s,
           int threads) {
  const EdgeList list = checked_list(tails, heads, edges, flow.size(), s.size());
  const auto [lower, upper] = checked_bounds(backward, forward, flow.size());
  edges_sweep(list, lower, upper, flow.data(), s.data(), threads);
}

void sweep_in_turn(const ConstIndices& tails, const ConstIndices& heads, const Weights& backward,
                   const Weights& forward, const Values& flow, const Values& s) {
  const std::int64_t edges = size_of(flow.size()), nodes = size_of(s.size());
  require_size(tails.size(), edges, "tails");
  require_size(heads.size(), edges, "heads");
  require_below(tails, nodes, "tails");
  require_below(heads, nodes, "heads");
  const auto [lower, upper] = checked_bounds(backward, forward, flow.size());
  edges_sweep_in_turn(tails.data(), heads.data(), edges, lower, upper, flow.data(), s.data());
}

}  // namespace

void bind_edges(nb::module_& module) {
  module.def("edges_project", &project, "tails"_a.noconvert(), "heads"_a.noconvert(),
             "backward"_a.noconvert(), "forward"_a.noconvert(), "edges"_a.noconvert(),
             "flow"_a.noconvert(), "s"_a.noconvert(), "c"_a, "out"_a.noconvert(), "threads"_a,
             WithoutLock());
  module.def("edges_sweep", &sweep, "tails"_a.noconvert(), "heads"_a.noconvert(),
             "backward"_a.noconvert(), "forward"_a.noconvert(), "edges"_a.noconvert(),
             "flow"_a.noconvert(), "s"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("edges_sweep_in_turn", &sweep_in_turn, "tails"_a.noconvert(), "heads"_a.noconvert(),
             "backward"_a.noconvert(), "forward"_a.noconvert(), "flow"_a.noconvert(),
             "s"_a.noconvert(), WithoutLock());
}

}  // namespace submin

#include "bind/arrays.hpp"
#include "bind/weights.hpp"
#include "chains/chains.hpp"

namespace submin {

namespace {

void require_chain(std::int64_t start, std::int64_t stride, std::int64_t steps, std::size_t size,
                   const char* name, std::int64_t chain) {
  const double first = static_cast<double>(start);  // floating, as wild strides may overflow
  const double last = first + static_cast<double>(stride) * static_cast<double>(steps);
  const double bound = static_cast<double>(size);
  if (std::min(first, last) < 0 || std::max(first, last) >= bound)
    throw std::invalid_argument("chain " + std::to_string(chain) + " reaches outside of " + name +
                                " of size " + std::to_string(size));
}

GridChains checked_grid(const ConstPointers& node_start, const ConstPointers& edge_start,
                        const ConstPointers& length, std::int64_t node_stride,
                        std::int64_t edge_stride, std::size_t nodes, std::size_t edges) {
  require_size(edge_start.size(), size_of(node_start.size()), "edge_start");
  require_size(length.size(), size_of(node_start.size()), "length");
  for (std::size_t k = 0; k < length.size(); ++k) {
    require(length.data()[k] >= 1, "length must be at least 1");
    const std::int64_t steps = length.data()[k] - 1;
    require(steps < 1 || node_stride != 0, "node_stride must not be 0");
    require(steps < 2 || edge_stride != 0, "edge_stride must not be 0");
    require_chain(node_start.data()[k], node_stride, steps, nodes, "s", size_of(k));
    if (steps > 0)
      require_chain(edge_start.data()[k], edge_stride, steps - 1, edges, "flow", size_of(k));
  }
  return {node_start.data(),          edge_start.data(), length.data(),
          size_of(node_start.size()), node_stride,       edge_stride};
}

PathChains checked_paths(const ConstPointers& indptr, const ConstIndices& nodes,
                         const ConstIndices& edges, const Array<const std::int8_t>& orientation,
                         std::size_t flows, std::size_t s) {
  require(indptr.size() > 0 && indptr.data()[0] == 0, "indptr must start with 0");
  const std::int64_t count = size_of(indptr.size()) - 1;
  for (std::int64_t k = 0; k < count; ++k)
    require(indptr.data()[k] < indptr.data()[k + 1], "indptr must increase: no path is empty");
  require_size(nodes.size(), indptr.data()[count], "nodes");
  require_size(edges.size(), indptr.data()[count] - count, "edges");
  require_size(orientation.size(), size_of(edges.size()), "orientation");
  require_below(nodes, size_of(s), "nodes");
  require_below(edges, size_of(flows), "edges");
  return {indptr.data(), nodes.data(), edges.data(), orientation.data(), count};
}

ChainArrays checked_arrays(const Weights& backward, const Weights& forward, const double* flow,
                           std::size_t edges, const double* s, double c, double* new_flow,
                           double* new_s) {
  require_positive(c);
  const auto [lower, upper] = checked_bounds(backward, forward, edges);
  return {lower, upper, flow, s, c, new_flow, new_s};
}

void grid_chains_sweep(const ConstPointers& node_start, const ConstPointers& edge_start,
                       const ConstPointers& length, std::int64_t node_stride,
                       std::int64_t edge_stride, const Weights& backward, const Weights& forward,
                       const Values& flow, const Values& s, int threads) {
  const GridChains chains =
      checked_grid(node_start, edge_start, length, node_stride, edge_stride, s.size(), flow.size());
  solve_chains(chains,
               checked_arrays(backward, forward, flow.data(), flow.size(), s.data(), 1.0,
                              flow.data(), s.data()),
               threads);
}

void grid_chains_project(const ConstPointers& node_start, const ConstPointers& edge_start,
                         const ConstPointers& length, std::int64_t node_stride,
                         std::int64_t edge_stride, const Weights& backward, const Weights& forward,
                         const ConstValues& flow, const ConstValues& s, double c, const Values& out,
                         int threads) {
  const GridChains chains =
      checked_grid(node_start, edge_start, length, node_stride, edge_stride, s.size(), flow.size());
  require_size(out.size(), size_of(flow.size()), "out");
  solve_chains(
      chains,
      checked_arrays(backward, forward, flow.data(), flow.size(), s.data(), c, out.data(), nullptr),
      threads);
}

void path_chains_sweep(const ConstPointers& indptr, const ConstIndices& nodes,
                       const ConstIndices& edges, const Array<const std::int8_t>& orientation,
                       const Weights& backward, const Weights& forward, const Values& flow,
                       const Values& s, int threads) {
  const PathChains chains = checked_paths(indptr, nodes, edges, orientation, flow.size(), s.size());
  solve_chains(chains,
               checked_arrays(backward, forward, flow.data(), flow.size(), s.data(), 1.0,
                              flow.data(), s.data()),
               threads);
}

void path_chains_project(const ConstPointers& indptr, const ConstIndices& nodes,
                         const ConstIndices& edges, const Array<const std::int8_t>& orientation,
                         const Weights& backward, const Weights& forward, const ConstValues& flow,
                         const ConstValues& s, double c, const Values& out, int threads) {
  const PathChains chains = checked_paths(indptr, nodes, edges, orientation, flow.size(), s.size());
  require_size(out.size(), size_of(flow.size()), "out");
  solve_chains(
      chains,
      checked_arrays(backward, forward, flow.data(), flow.size(), s.data(), c, out.data(), nullptr),
      threads);
}

}  // namespace

void bind_chains(nb::module_& module) {
  module.def("grid_chains_sweep", &grid_chains_sweep, "node_start"_a.noconvert(),
             "edge_start"_a.noconvert(), "length"_a.noconvert(), "node_stride"_a, "edge_stride"_a,
             "backward"_a.noconvert(), "forward"_a.noconvert(), "flow"_a.noconvert(),
             "s"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("grid_chains_project", &grid_chains_project, "node_start"_a.noconvert(),
             "edge_start"_a.noconvert(), "length"_a.noconvert(), "node_stride"_a, "edge_stride"_a,
             "backward"_a.noconvert(), "forward"_a.noconvert(), "flow"_a.noconvert(),
             "s"_a.noconvert(), "c"_a, "out"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("path_chains_sweep", &path_chains_sweep, "indptr"_a.noconvert(), "nodes"_a.noconvert(),
             "edges"_a.noconvert(), "orientation"_a.noconvert(), "backward"_a.noconvert(),
             "forward"_a.noconvert(), "flow"_a.noconvert(), "s"_a.noconvert(), "threads"_a,
             WithoutLock());
  module.def("path_chains_project", &path_chains_project, "indptr"_a.noconvert(),
             "nodes"_a.noconvert(), "edges"_a.noconvert(), "orientation"_a.noconvert(),
             "backward"_a.noconvert(), "forward"_a.noconvert(), "flow"_a.noconvert(),
             "s"_a.noconvert(), "c"_a, "out"_a.noconvert(), "threads"_a, WithoutLock());
}

}  // namespace submin

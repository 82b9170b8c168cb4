#include "bind/arrays.hpp"
#include "bind/weights.hpp"
#include "grid/grid.hpp"

namespace submin {
namespace {

// Throws unless start + k . strides is within 0, ..., size - 1 for all k.
void require_inside(std::int64_t start, const std::array<std::int64_t, kMostDimensions>& strides,
                    const GridMatching& grid, std::size_t size, const char* name) {
  double low = static_cast<double>(start);  // floating, as wild strides may overflow
  double high = low;
  for (int d = 0; d < grid.dimensions; ++d) {
    const double reach = static_cast<double>(grid.extents[d] - 1) * static_cast<double>(strides[d]);
    (reach < 0 ? low : high) += reach;
  }
  if (low < 0 || high >= static_cast<double>(size))
    throw std::invalid_argument("geometry reaches outside of " + std::string(name) + " of size " +
                                std::to_string(size));
}

GridMatching checked_geometry(const ConstPointers& geometry, std::size_t flows, std::size_t nodes) {
  const std::int64_t dimensions = geometry.size() == 0 ? 0 : geometry.data()[0];
  require(1 <= dimensions && dimensions <= kMostDimensions, "geometry[0] must be between 1 and 8");
  require_size(geometry.size(), 3 * dimensions + 4, "geometry");
  const GridMatching grid(geometry.data());
  for (int d = 0; d < dimensions; ++d)
    require(grid.extents[d] >= 0, "geometry has a negative extent");
  for (int d = 0; d < dimensions; ++d)
    if (grid.extents[d] == 0) return grid;  // no edges
  require_inside(grid.edge_start, grid.edge_strides, grid, flows, "flow");
  require_inside(grid.tail_start, grid.node_strides, grid, nodes, "s");
  require_inside(grid.head_start, grid.node_strides, grid, nodes, "s");
  return grid;
}

void project(const ConstPointers& geometry, const Weights& backward, const Weights& forward,
             const ConstValues& flow, const ConstValues& s, double c, const Values& out,
             int threads) {
  const GridMatching grid = checked_geometry(geometry, flow.size(), s.size());
  require_positive(c);
  require_size(out.size(), grid.size(), "out");
  const auto [lower, upper] = checked_bounds(backward, forward, flow.size());
  grid_project(grid, lower, upper, flow.data(), s.data(), c, out.data(), threads);
}

void sweep(const ConstPointers& geometry, const Weights& backward, const Weights& forward,
           const Values& flow, const Values& s, int threads) {
  const GridMatching grid = checked_geometry(geometry, flow.size(), s.size());
  const auto [lower, upper] = checked_bounds(backward, forward, flow.size());
  grid_sweep(grid, lower, upper, flow.data(), s.data(), threads);
}

}  // namespace

void bind_grid(nb::module_& module) {
  module.def("grid_project", &project, "geometry"_a.noconvert(), "backward"_a.noconvert(),
             "forward"_a.noconvert(), "flow"_a.noconvert(), "s"_a.noconvert(), "c"_a,
             "out"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("grid_sweep", &sweep, "geometry"_a.noconvert(), "backward"_a.noconvert(),
             "forward"_a.noconvert(), "flow"_a.noconvert(), "s"_a.noconvert(), "threads"_a,
             WithoutLock());
}

}  // namespace submin

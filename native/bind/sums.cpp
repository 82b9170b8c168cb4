#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bind/arrays.hpp"
#include "bind/weights.hpp"
#include "core/compensated.hpp"
#include "flow/closure.hpp"
#include "graph/edge_sums.hpp"
#include "graph/flow_sums.hpp"
#include "grid/grid_sums.hpp"

namespace submin {
namespace {

using Members = Array<const std::uint8_t>;
using Offsets = Array<const std::int64_t, 2>;

// The sum of of(value) over all values.
template <class Of>
double sum_of(const ConstValues& values, int threads, const Of& of) {
  const double* const value = values.data();
  return compensated_sum(size_of(values.size()), threads,
                         [=](std::int64_t k) SUBMIN_INLINE { return of(value[k]); });
}

double sum(const ConstValues& values, int threads) {
  return sum_of(values, threads, [](double v) SUBMIN_INLINE { return v; });
}

double absolute_sum(const ConstValues& values, int threads) {
  return sum_of(values, threads, [](double v) SUBMIN_INLINE { return std::abs(v); });
}

double sum_of_squares(const ConstValues& values, int threads) {
  return sum_of(values, threads, [](double v) SUBMIN_INLINE { return v * v; });
}

// NaN if a value is not 0 or more.
template <class Scalar>
double nonnegative_sum_of(const Scalar* values, std::int64_t count, int threads) {
  constexpr double refused = std::numeric_limits<double>::quiet_NaN();
  return compensated_sum(count, threads, [=](std::int64_t k) SUBMIN_INLINE {
    const double value = values[k];
    return value >= 0.0 ? value : refused;
  });
}

double nonnegative_sum(const Weights& values, int threads) {
  const std::int64_t count = size_of(values.size());
  if (is_single(values))
    return nonnegative_sum_of(static_cast<const float*>(values.data()), count, threads);
  return nonnegative_sum_of(static_cast<const double*>(values.data()), count, threads);
}

double negative_sum(const ConstValues& values, int threads) {
  return sum_of(values, threads, [](double v) SUBMIN_INLINE { return std::min(v, 0.0); });
}

double sum_within(const ConstValues& values, const Members& member, int threads) {
  require_size(member.size(), size_of(values.size()), "member");
  const double* const value = values.data();
  const std::uint8_t* const chosen = member.data();
  return compensated_sum(size_of(values.size()), threads,
                         [=](std::int64_t k) SUBMIN_INLINE { return chosen[k] ? value[k] : 0.0; });
}

// before <- now + beta (now - before)
void extrapolate(const Values& before, const ConstValues& now, double beta, int threads) {
  require_size(now.size(), size_of(before.size()), "now");
  double* const values = before.data();
  const double* const latest = now.data();
  const auto loop = [=](std::int64_t begin, std::int64_t end) SUBMIN_INLINE {
    SUBMIN_INDEPENDENT
    for (std::int64_t k = begin; k < end; ++k)
      values[k] = latest[k] + beta * (latest[k] - values[k]);
  };
  parallel_for(size_of(before.size()), kSumGrain, threads,
               [&](std::int64_t begin, std::int64_t end) { vectorized(loop, begin, end); });
}

double excess(const Weights& backward, const Weights& forward, const ConstValues& flow,
              int threads) {
  const auto [lower, upper] = checked_bounds(backward, forward, flow.size());
  return edges_excess(lower, upper, flow.data(), size_of(flow.size()), threads);
}

// The grid, once shape and offsets have been checked against the numbers of nodes and edges.
GridSums checked_grid(const ConstPointers& shape, const Offsets& offsets, std::size_t nodes,
                      const char* name) {
  const std::int64_t dimensions = size_of(shape.size());
  require(1 <= dimensions && dimensions <= kMostDimensions, "shape must have 1 to 8 axes");
  require_size(offsets.shape(1), dimensions, "offsets[0]");
  std::int64_t size = 1;
  for (std::int64_t i = 0; i < dimensions; ++i) {
    require(0 < shape.data()[i] && shape.data()[i] <= INT32_MAX, "shape must be positive");
    size *= shape.data()[i];
    require(size <= INT32_MAX, "the grid has too many nodes");
  }
  require_size(nodes, size, name);
  const std::int64_t row_length = shape.data()[dimensions - 1];
  GridSums grid{size / row_length, row_length, {}};
  for (std::size_t k = 0; k < offsets.shape(0); ++k) {
    const std::int64_t* const offset = offsets.data() + k * shape.size();
    for (std::int64_t i = 0; i < dimensions; ++i)
      require(-INT32_MAX <= offset[i] && offset[i] <= INT32_MAX, "offsets are too large");
    grid.offsets.emplace_back(shape.data(), offset, static_cast<int>(dimensions));
  }
  return grid;
}

void accumulate(const ConstPointers& shape, const Offsets& offsets, const ConstValues& flow,
                const Values& s, double scale, int threads) {
  const GridSums grid = checked_grid(shape, offsets, s.size(), "s");
  require_size(flow.size(), grid.edges(), "flow");
  grid_accumulate(grid, flow.data(), s.data(), scale, threads);
}

// The weights of either way, one array for each offset.
struct GridBounds {
  std::vector<WeightArray> backward, forward;
};

GridBounds bounds_by_offset(const GridSums& grid, const std::vector<Weights>& backward,
                            const std::vector<Weights>& forward) {
  require_size(backward.size(), size_of(grid.offsets.size()), "backward");
  require_size(forward.size(), size_of(grid.offsets.size()), "forward");
  GridBounds checked;
  for (std::size_t k = 0; k < backward.size(); ++k) {
    const auto edges = static_cast<std::size_t>(grid.offsets[k].size());
    const auto [lower, upper] = checked_bounds(backward[k], forward[k], edges);
    checked.backward.push_back(lower);
    checked.forward.push_back(upper);
  }
  return checked;
}

nb::tuple inspect(const ConstPointers& shape, const Offsets& offsets,
                  const std::vector<Weights>& backward, const std::vector<Weights>& forward,
                  const ConstValues& flow, const Values& s, int threads) {
  const GridSums grid = checked_grid(shape, offsets, s.size(), "s");
  require_size(flow.size(), grid.edges(), "flow");
  const GridBounds bounds = bounds_by_offset(grid, backward, forward);
  FlowSums sums;
  {
    const Unlocked without_lock;
    sums = grid_inspect(grid, bounds.backward, bounds.forward, flow.data(), s.data(), threads);
  }
  return nb::make_tuple(sums.excess, sums.magnitude);
}

void close_grid(const ConstPointers& shape, const Offsets& offsets,
                const std::vector<Weights>& backward, const std::vector<Weights>& forward,
                const ConstValues& flow, double room, const Array<std::int8_t>& side) {
  const GridSums grid = checked_grid(shape, offsets, side.size(), "side");
  require_size(flow.size(), grid.edges(), "flow");
  const GridBounds bounds = bounds_by_offset(grid, backward, forward);
  const GridArcs arcs(grid, shape.data(), static_cast<int>(shape.size()), bounds.backward,
                      bounds.forward, flow.data());
  close_residual_sides(arcs, room, side.data(), size_of(side.size()));
}

double cut_value(const ConstPointers& shape, const Offsets& offsets,
                 const std::vector<Weights>& backward, const std::vector<Weights>& forward,
                 const Members& member, int threads) {
  const GridSums grid = checked_grid(shape, offsets, member.size(), "member");
  const GridBounds bounds = bounds_by_offset(grid, backward, forward);
  return grid_cut_value(grid, bounds.backward, bounds.forward, member.data(), threads);
}

void greedy(const ConstPointers& shape, const Offsets& offsets,
            const std::vector<Weights>& backward, const std::vector<Weights>& forward,
            const ConstIndices& rank, const Values& out, int threads) {
  const GridSums grid = checked_grid(shape, offsets, rank.size(), "rank");
  require_size(out.size(), grid.edges(), "out");
  const GridBounds bounds = bounds_by_offset(grid, backward, forward);
  grid_greedy(grid, bounds.backward, bounds.forward, rank.data(), out.data(), threads);
}

void check_ends(const ConstIndices& tails, const ConstIndices& heads, std::size_t nodes) {
  require_size(heads.size(), size_of(tails.size()), "heads");
  require_below(tails, size_of(nodes), "tails");
  require_below(heads, size_of(nodes), "heads");
}

void accumulate_edges(const ConstIndices& tails, const ConstIndices& heads, const ConstValues& flow,
                      const Values& s, double scale) {
  check_ends(tails, heads, s.size());
  require_size(flow.size(), size_of(tails.size()), "flow");
  edges_accumulate(tails.data(), heads.data(), flow.data(), size_of(flow.size()), s.data(), scale);
}

double cut_value_of_edges(const ConstIndices& tails, const ConstIndices& heads,
                          const Weights& backward, const Weights& forward, const Members& member,
                          int threads) {
  check_ends(tails, heads, member.size());
  const auto [lower, upper] = checked_bounds(backward, forward, tails.size());
  return edges_cut_value(tails.data(), heads.data(), size_of(tails.size()), lower, upper,
                         member.data(), threads);
}

}  // namespace

void bind_sums(nb::module_& module) {
  module.def("compensated_sum", &sum, "values"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("absolute_sum", &absolute_sum, "values"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("sum_of_squares", &sum_of_squares, "values"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("negative_sum", &negative_sum, "values"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("nonnegative_sum", &nonnegative_sum, "values"_a.noconvert(), "threads"_a,
             WithoutLock());
  module.def("sum_within", &sum_within, "values"_a.noconvert(), "member"_a.noconvert(), "threads"_a,
             WithoutLock());
  module.def("extrapolate", &extrapolate, "before"_a.noconvert(), "now"_a.noconvert(), "beta"_a,
             "threads"_a, WithoutLock());
  module.def("edges_excess", &excess, "backward"_a.noconvert(), "forward"_a.noconvert(),
             "flow"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("edges_accumulate", &accumulate_edges, "tails"_a.noconvert(), "heads"_a.noconvert(),
             "flow"_a.noconvert(), "s"_a.noconvert(), "scale"_a, WithoutLock());
  module.def("edges_cut_value", &cut_value_of_edges, "tails"_a.noconvert(), "heads"_a.noconvert(),
             "backward"_a.noconvert(), "forward"_a.noconvert(), "member"_a.noconvert(), "threads"_a,
             WithoutLock());
  module.def("grid_accumulate", &accumulate, "shape"_a.noconvert(), "offsets"_a.noconvert(),
             "flow"_a.noconvert(), "s"_a.noconvert(), "scale"_a, "threads"_a, WithoutLock());
  module.def("grid_greedy", &greedy, "shape"_a.noconvert(), "offsets"_a.noconvert(),
             "backward"_a.noconvert(), "forward"_a.noconvert(), "rank"_a.noconvert(),
             "out"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("grid_inspect", &inspect, "shape"_a.noconvert(), "offsets"_a.noconvert(),
             "backward"_a.noconvert(), "forward"_a.noconvert(), "flow"_a.noconvert(),
             "s"_a.noconvert(), "threads"_a);
  module.def("grid_close_sides", &close_grid, "shape"_a.noconvert(), "offsets"_a.noconvert(),
             "backward"_a.noconvert(), "forward"_a.noconvert(), "flow"_a.noconvert(), "room"_a,
             "side"_a.noconvert(), WithoutLock());
  module.def("grid_cut_value", &cut_value, "shape"_a.noconvert(), "offsets"_a.noconvert(),
             "backward"_a.noconvert(), "forward"_a.noconvert(), "member"_a.noconvert(), "threads"_a,
             WithoutLock());
}

}  // namespace submin

// Sums over all edges of a grid, row by row of its nodes: no index arrays and no temporaries.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/compensated.hpp"
#include "graph/edges.hpp"
#include "graph/flow_sums.hpp"
#include "grid/grid.hpp"

namespace submin {

// Consecutive edges from (or to) consecutive nodes.
struct EdgeRow {
  std::int64_t edge, node, length;
};

// The edges of one offset, over the overlap of the grid with its shift, in C order.
class GridOffset {
 public:
  GridOffset(const std::int64_t* shape, const std::int64_t* offset, int dimensions)
      : dimensions_(dimensions) {
    std::int64_t node_stride = 1;
    for (int i = dimensions - 1; i >= 0; --i) {
      shape_[i] = shape[i];
      offset_[i] = offset[i];
      low_[i] = std::max<std::int64_t>(-offset[i], 0);
      overlap_[i] = std::max<std::int64_t>(shape[i] - std::abs(offset[i]), 0);
      stride_[i] = size_;
      size_ *= overlap_[i];
      step_ += offset[i] * node_stride;
      node_stride *= shape[i];
    }
  }
  std::int64_t size() const { return size_; }
  std::int64_t step() const { return step_; }  // from the tail of an edge to its head

  // The edges whose tails, or heads, lie in row `row` along the last axis; maybe none.
  EdgeRow row(std::int64_t row, bool heads) const {
    const int last = dimensions_ - 1;
    const std::int64_t start = row * shape_[last];
    std::int64_t edge = 0;
    for (int i = last - 1; i >= 0; --i) {
      const std::int64_t coordinate = row % shape_[i];
      row /= shape_[i];
      const std::int64_t place = coordinate - low_[i] - (heads ? offset_[i] : 0);
      if (place < 0 || place >= overlap_[i]) return {0, start, 0};
      edge += place * stride_[i];
    }
    return {edge, start + low_[last] + (heads ? offset_[last] : 0), overlap_[last]};
  }

  // The edge whose tail, or head, has these coordinates; -1 if there is none.
  std::int64_t edge_at(const std::int64_t* coordinates, bool head) const {
    std::int64_t edge = 0;
    for (int i = 0; i < dimensions_; ++i) {
      const std::int64_t place = coordinates[i] - low_[i] - (head ? offset_[i] : 0);
      if (place < 0 || place >= overlap_[i]) return -1;
      edge += place * stride_[i];
    }
    return edge;
  }

 private:
  using Axes = std::array<std::int64_t, kMostDimensions>;
  int dimensions_;
  Axes shape_{}, offset_{}, low_{}, overlap_{}, stride_{};
  std::int64_t size_ = 1, step_ = 0;
};

// Calls visit(i) where left[i] != right[i]; most words of eight do not differ.
template <class Visit>
void for_each_difference(const std::uint8_t* left, const std::uint8_t* right, std::int64_t size,
                         const Visit& visit) {
  constexpr std::int64_t word = sizeof(std::uint64_t);
  for (std::int64_t begin = 0; begin < size; begin += word) {
    const std::int64_t end = std::min(begin + word, size);
    if (end - begin == word && std::memcmp(left + begin, right + begin, word) == 0) continue;
    for (std::int64_t i = begin; i < end; ++i)
      if (left[i] != right[i]) visit(i);
  }
}

struct GridSums {
  std::int64_t rows, row_length;
  std::vector<GridOffset> offsets;

  std::int64_t edges() const {
    std::int64_t sum = 0;
    for (const GridOffset& offset : offsets) sum += offset.size();
    return sum;
  }
  std::int64_t grain() const { return std::max<std::int64_t>(kEdgeGrain / row_length, 1); }
};

// Adds scale times the flow out of each node to s.
inline void grid_accumulate(const GridSums& grid, const double* flow, double* s, double scale,
                            int threads) {
  const auto loop = [&](std::int64_t first, std::int64_t last) SUBMIN_INLINE {
    for (std::int64_t r = first; r < last; ++r) {
      const double* of_offset = flow;
      for (const GridOffset& offset : grid.offsets) {
        const EdgeRow out = offset.row(r, false), in = offset.row(r, true);
        for (std::int64_t i = 0; i < out.length; ++i)
          s[out.node + i] += scale * of_offset[out.edge + i];
        for (std::int64_t i = 0; i < in.length; ++i)
          s[in.node + i] -= scale * of_offset[in.edge + i];
        of_offset += offset.size();
      }
    }
  };
  parallel_for(grid.rows, grid.grain(), threads,
               [&](std::int64_t first, std::int64_t last) { vectorized(loop, first, last); });
}

// What a certificate needs to know of the dual.
struct FlowSums {
  double excess = 0.0;     // the sum of (t - forward)_+ + (-backward - t)_+
  double magnitude = 0.0;  // the sum of |t|
};

// Adds the net flow out of each node to s, and looks at every edge on the way.
inline FlowSums grid_inspect(const GridSums& grid, const std::vector<WeightArray>& backward,
                             const std::vector<WeightArray>& forward, const double* flow, double* s,
                             int threads) {
  const std::int64_t pieces = (grid.rows + grid.grain() - 1) / grid.grain();
  std::vector<Compensated> magnitudes(static_cast<std::size_t>(pieces));
  std::vector<std::uint8_t> beyond(static_cast<std::size_t>(pieces), 0);
  parallel_for(grid.rows, grid.grain(), threads, [&](std::int64_t begin, std::int64_t end) {
    CompensatedLanes magnitude;
    double most = 0.0;
    const auto loop = [&](std::int64_t first, std::int64_t last) SUBMIN_INLINE {
      for (std::int64_t r = first; r < last; ++r) {
        const double* of_offset = flow;
        for (std::size_t k = 0; k < grid.offsets.size(); ++k) {
          const GridOffset& offset = grid.offsets[k];
          const EdgeRow out = offset.row(r, false), in = offset.row(r, true);
          for (std::int64_t i = 0; i < out.length; ++i) s[out.node + i] += of_offset[out.edge + i];
          for (std::int64_t i = 0; i < in.length; ++i) s[in.node + i] -= of_offset[in.edge + i];
          magnitude.add(out.edge, out.edge + out.length,
                        [=](std::int64_t e) SUBMIN_INLINE { return std::abs(of_offset[e]); });
          with_weights(backward[k], forward[k], [&](auto lower, auto upper) SUBMIN_INLINE {
            const auto beyond = [=](std::int64_t e) SUBMIN_INLINE {
              return std::max(of_offset[e] - upper[e], -lower[e] - of_offset[e]);
            };
            most = std::max(most, largest_in(out.edge, out.edge + out.length, beyond));
          });
          of_offset += offset.size();
        }
      }
    };
    vectorized(loop, begin, end);
    magnitudes[static_cast<std::size_t>(begin / grid.grain())] = magnitude.total();
    beyond[static_cast<std::size_t>(begin / grid.grain())] = most > 0.0;
  });
  FlowSums sums;
  Compensated magnitude;
  for (const Compensated& part : magnitudes) magnitude += part;
  sums.magnitude = magnitude.rounded();
  // Flows are within bounds as a rule.
  if (std::count(beyond.begin(), beyond.end(), 0) < pieces) {
    for (std::size_t k = 0; k < grid.offsets.size(); flow += grid.offsets[k++].size())
      sums.excess += edges_excess(backward[k], forward[k], flow, grid.offsets[k].size(), threads);
  }
  return sums;
}

// The dual of the greedy vertex: full forward where the tail comes first, else full backward.
inline void grid_greedy(const GridSums& grid, const std::vector<WeightArray>& backward,
                        const std::vector<WeightArray>& forward, const std::int32_t* rank,
                        double* flow, int threads) {
  for (std::size_t k = 0; k < grid.offsets.size(); ++k) {
    const GridOffset& offset = grid.offsets[k];
    with_weights(backward[k], forward[k], [&](auto lower, auto upper) {
      const auto loop = [=, &offset](std::int64_t first, std::int64_t last) SUBMIN_INLINE {
        for (std::int64_t r = first; r < last; ++r) {
          const EdgeRow out = offset.row(r, false);
          const std::int32_t* const tails = rank + out.node;
          const std::int32_t* const heads = tails + offset.step();
          for (std::int64_t i = 0, e = out.edge; i < out.length; ++i, ++e)
            flow[e] = tails[i] < heads[i] ? upper[e] : -lower[e];
        }
      };
      parallel_for(grid.rows, grid.grain(), threads,
                   [&](std::int64_t first, std::int64_t last) { vectorized(loop, first, last); });
    });
    flow += offset.size();
  }
}

// The weight of the edges that a set cuts.
inline double grid_cut_value(const GridSums& grid, const std::vector<WeightArray>& backward,
                             const std::vector<WeightArray>& forward, const std::uint8_t* member,
                             int threads) {
  return sum_of_pieces(grid.rows, grid.grain(), threads,
                       [&](std::int64_t first, std::int64_t last) {
                         Compensated total;
                         for (std::int64_t r = first; r < last; ++r) {
                           for (std::size_t k = 0; k < grid.offsets.size(); ++k) {
                             const EdgeRow out = grid.offsets[k].row(r, false);
                             const std::uint8_t* const tails = member + out.node;
                             const std::uint8_t* const heads = tails + grid.offsets[k].step();
                             for_each_difference(tails, heads, out.length, [&](std::int64_t i) {
                               if (!tails[i] == !heads[i])
                                 return;  // other bytes than 0 and 1 are members too
                               total.add((tails[i] ? forward[k] : backward[k])[out.edge + i]);
                             });
                           }
                         }
                         return total;
                       });
}

}  // namespace submin

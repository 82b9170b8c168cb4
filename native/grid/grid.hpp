// Matchings of grid edges as strided views: the arithmetic of graph/edges.hpp without index arrays.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/parallel.hpp"
#include "core/vectorize.hpp"
#include "graph/edges.hpp"

namespace submin {

constexpr int kMostDimensions = 8;

// The edge with multi-index k, 0 <= k < extents, is number edge_start + k . edge_strides and joins
// the nodes tail_start + k . node_strides and head_start + k . node_strides.
struct GridMatching {
  int dimensions;
  std::array<std::int64_t, kMostDimensions> extents;
  std::array<std::int64_t, kMostDimensions> edge_strides;
  std::array<std::int64_t, kMostDimensions> node_strides;
  std::int64_t edge_start;
  std::int64_t tail_start;
  std::int64_t head_start;

  // `geometry` is [ndim, *extents, *edge_strides, *node_strides, edge_start, tail_start,
  // head_start].
  explicit GridMatching(const std::int64_t* geometry) : dimensions(static_cast<int>(*geometry++)) {
    for (auto* part : {&extents, &edge_strides, &node_strides}) {
      std::copy_n(geometry, dimensions, part->begin());
      geometry += dimensions;
    }
    edge_start = geometry[0];
    tail_start = geometry[1];
    head_start = geometry[2];
  }

  std::int64_t size() const {
    std::int64_t product = 1;
    for (int d = 0; d < dimensions; ++d) product *= extents[d];
    return product;
  }
};

// A piece of one line along the last axis: `length` edges, in steps of edge_stride and node_stride.
struct GridSegment {
  std::int64_t edge, tail, head;  // the first edge and its nodes
  std::int64_t position;          // of the first edge in C order of the extents
  std::int64_t length;
  std::int64_t edge_stride, node_stride;
};

// A position in the grid that moves from line to line.
class GridCursor {
 public:
  SUBMIN_INLINE GridCursor(const GridMatching& grid, std::int64_t position) : grid_(grid) {
    for (int d = grid.dimensions - 1; d >= 0; --d) {
      index_[d] = position % grid.extents[d];
      position /= grid.extents[d];
      move(d, index_[d]);
    }
  }

  SUBMIN_INLINE std::int64_t edge() const { return edge_; }
  SUBMIN_INLINE std::int64_t node() const { return node_; }
  SUBMIN_INLINE std::int64_t left_in_line() const {
    const int last = grid_.dimensions - 1;
    return grid_.extents[last] - index_[last];
  }

  SUBMIN_INLINE void next_line() {
    const int last = grid_.dimensions - 1;
    move(last, -index_[last]);
    index_[last] = 0;
    for (int d = last - 1; d >= 0; --d) {
      move(d, 1);
      if (++index_[d] < grid_.extents[d]) return;
      move(d, -index_[d]);
      index_[d] = 0;
    }
  }

 private:
  SUBMIN_INLINE void move(int axis, std::int64_t steps) {
    edge_ += steps * grid_.edge_strides[axis];
    node_ += steps * grid_.node_strides[axis];
  }

  const GridMatching& grid_;
  std::array<std::int64_t, kMostDimensions> index_;
  std::int64_t edge_ = 0;
  std::int64_t node_ = 0;
};

// Calls visit(segment) for the segments that make up the edges begin, ..., end - 1 in C order.
template <class Visit>
SUBMIN_INLINE inline void for_each_segment(const GridMatching& grid, std::int64_t begin,
                                           std::int64_t end, const Visit& visit) {
  const int last = grid.dimensions - 1;
  GridCursor cursor(grid, begin);
  while (begin < end) {
    const std::int64_t length = std::min(cursor.left_in_line(), end - begin);
    visit(GridSegment{grid.edge_start + cursor.edge(), grid.tail_start + cursor.node(),
                      grid.head_start + cursor.node(), begin, length, grid.edge_strides[last],
                      grid.node_strides[last]});
    begin += length;
    cursor.next_line();
  }
}

// Calls step(k, edge, i, j) along a line; strides known at compile time make the difference between
// vector and scalar loops across the last axis (1, 1), and between good and fair scalar ones along
// it (2, 2). Shuffled vectors would not help the latter: it is bound by memory.
template <class Step>
SUBMIN_INLINE inline void for_each_edge(const GridSegment& line, const Step& step) {
  if (line.edge_stride == 1 && line.node_stride == 1) {
    SUBMIN_INDEPENDENT
    for (std::int64_t k = 0; k < line.length; ++k)
      step(k, line.edge + k, line.tail + k, line.head + k);
  } else if (line.edge_stride == 2 && line.node_stride == 2 && line.head == line.tail + 1) {
    for (std::int64_t k = 0; k < line.length; ++k)
      step(k, line.edge + 2 * k, line.tail + 2 * k, line.tail + 2 * k + 1);
  } else {
    for (std::int64_t k = 0; k < line.length; ++k) {
      const std::int64_t node = k * line.node_stride;
      step(k, line.edge + k * line.edge_stride, line.tail + node, line.head + node);
    }
  }
}

template <class Visit>
void visit_grid(const GridMatching& grid, int threads, const Visit& visit) {
  const auto loop = [&](std::int64_t begin, std::int64_t end)
                        SUBMIN_INLINE { for_each_segment(grid, begin, end, visit); };
  parallel_for(grid.size(), kEdgeGrain, threads,
               [&](std::int64_t begin, std::int64_t end) { vectorized(loop, begin, end); });
}

inline void grid_project(const GridMatching& grid, WeightArray backward, WeightArray forward,
                         const double* flow, const double* s, double c, double* out, int threads) {
  with_weights(backward, forward, [=, &grid](auto lower, auto upper) {
    const double half = 0.5 / c;
    visit_grid(grid, threads, [=](const GridSegment& line) SUBMIN_INLINE {
      double* const result = out + line.position;
      for_each_edge(line, [=](auto k, auto edge, auto i, auto j) SUBMIN_INLINE {
        result[k] = clip(flow[edge] - (s[i] - s[j]) * half, -lower[edge], upper[edge]);
      });
    });
  });
}

inline void grid_sweep(const GridMatching& grid, WeightArray backward, WeightArray forward,
                       double* flow, double* s, int threads) {
  with_weights(backward, forward, [=, &grid](auto lower, auto upper) {
    visit_grid(grid, threads, [=](const GridSegment& line) SUBMIN_INLINE {
      for_each_edge(line, [=](auto, auto edge, auto i, auto j) SUBMIN_INLINE {
        const double old = flow[edge];
        const double tail = s[i];
        const double head = s[j];
        const double updated = clip(old - (tail - head) * 0.5, -lower[edge], upper[edge]);
        flow[edge] = updated;
        s[i] = tail + (updated - old);
        s[j] = head - (updated - old);
      });
    });
  });
}

}  // namespace submin

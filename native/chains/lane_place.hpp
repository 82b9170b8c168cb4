// Where the chains of a vector lie: neighbours in a column lie side by side in memory, and so do
// the pixels of a row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "chains/taut_string.hpp"

namespace submin {

// The place of a vector's chains in the batch and in the grid. Node j of lane l belongs to row j +
// shift[l]; a lane without a chain has length 0. Either the chains are contiguous or their rows
// are: lane l of row m is the node node_start + l + m node_stride.
class LanePlace {
 public:
  static constexpr int kMostLanes = 8;

  int lanes;
  std::int64_t first[kMostLanes] = {};  // the lanes' first nodes in the batch
  std::int64_t shift[kMostLanes] = {}, length[kMostLanes] = {};
  std::int64_t begin_full = 0, end_full = 0,
               end = 0;  // rows where all lanes have a node, an edge and a next node
  bool contiguous;
  std::int64_t node_starts[kMostLanes] = {}, edge_starts[kMostLanes] = {};  // of the lanes
  std::int64_t node_start = 0, edge_start = 0;                              // of the rows
  std::int64_t node_stride, edge_stride;

  // Of the first chains of `count`, as many as there are lanes.
  LanePlace(int lanes, const Chain* chains, std::int64_t count, std::int64_t node_stride,
            std::int64_t edge_stride)
      : lanes(lanes),
        contiguous(node_stride == 1 && edge_stride == 1),
        node_stride(node_stride),
        edge_stride(edge_stride),
        chains_(chains),
        count_(std::min<std::int64_t>(lanes, count)) {}

  // Returns false if the chains, which start at these nodes and edges, are neither contiguous nor
  // side by side.
  bool find(const std::int64_t* nodes, const std::int64_t* edges) {
    if (!contiguous && !shifts(nodes, edges, 1) && !shifts(nodes, edges, -1)) return false;
    const bool backwards = !contiguous && direction_ < 0;
    for (std::int64_t k = 0; k < count_; ++k) {
      const std::int64_t lane = backwards ? count_ - 1 - k : k;
      first[lane] = chains_[k].begin;
      length[lane] = chains_[k].length;
      node_starts[lane] = nodes[k];
      edge_starts[lane] = edges[k];
      if (!contiguous) shift[lane] = shift_[k] - least_;
    }
    node_start = node_starts[0] - shift[0] * node_stride;
    edge_start = edge_starts[0] - shift[0] * edge_stride;
    count_rows();
    return true;
  }

  bool full(std::int64_t row) const { return row >= begin_full && row < end_full; }
  unsigned nodes_of(std::int64_t row) const { return lanes_of(row, 0); }
  unsigned edges_of(std::int64_t row) const { return lanes_of(row, 1); }

 private:
  static constexpr std::int64_t kMostShift = 64;

  // Chain k has to start direction * k + shift_[k] * stride after the first one, for nodes and
  // edges.
  bool shifts(const std::int64_t* nodes, const std::int64_t* edges, std::int64_t direction) {
    if (node_stride == 0) return false;
    std::int64_t least = 0, most = 0;
    for (std::int64_t k = 0; k < count_; ++k) {
      const std::int64_t rest = nodes[k] - nodes[0] - direction * k;
      shift_[k] = rest / node_stride;
      if (rest % node_stride != 0 || edges[k] - edges[0] - direction * k != shift_[k] * edge_stride)
        return false;
      least = std::min(least, shift_[k]);
      most = std::max(most, shift_[k]);
    }
    direction_ = direction;
    least_ = least;
    return most - least <= kMostShift;
  }

  void count_rows() {
    begin_full = end = 0;
    end_full = std::numeric_limits<std::int64_t>::max();
    for (int lane = 0; lane < lanes; ++lane) {
      begin_full = std::max(begin_full, shift[lane]);
      end_full = std::min(end_full, shift[lane] + length[lane] - 1);
      end = std::max(end, shift[lane] + length[lane]);
    }
    begin_full = std::min(begin_full, end);
    end_full = std::max(begin_full, end_full);
  }

  unsigned lanes_of(std::int64_t row, std::int64_t less) const {
    unsigned set = 0;
    for (int lane = 0; lane < lanes; ++lane)
      set |= unsigned{row >= shift[lane] && row < shift[lane] + length[lane] - less} << lane;
    return set;
  }

  const Chain* chains_;
  std::int64_t count_;
  std::int64_t shift_[kMostLanes] = {}, least_ = 0, direction_ = 1;
};

}  // namespace submin

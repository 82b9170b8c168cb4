// Moves the values and flows of eight chains of a grid between the image and a batch, in rows of
// eight lanes: a column's neighbours lie side by side in memory, and a row's pixels do.
#pragma once

#include "edges.hpp"
#include "taut_lanes.hpp"

namespace submin {

// What a block of chains reads and writes. `new_s` is null for a projection.
struct ChainArrays {
  WeightArray backward, forward;
  const double* flow;
  const double* s;
  double c;
  double* new_flow;
  double* new_s;
};

}  // namespace submin

#ifdef SUBMIN_TAUT_LANES

#include <limits>

namespace submin {

// The place of up to eight chains in the batch and in the grid. Node j of lane l belongs to row j +
// shift[l]; a lane without a chain has length 0. Either the chains are contiguous or their rows
// are: lane l of row m is the node node_start + l + m node_stride.
class LanePlace {
 public:
  std::int64_t first[8] = {};  // the lanes' first nodes in the batch
  std::int64_t shift[8] = {}, length[8] = {};
  std::int64_t begin_full = 0, end_full = 0,
               end = 0;  // rows where all lanes have a node, an edge and a next node
  bool contiguous;
  std::int64_t node_starts[8] = {}, edge_starts[8] = {};  // of the lanes
  std::int64_t node_start = 0, edge_start = 0;            // of the rows
  std::int64_t node_stride, edge_stride;

  LanePlace(const Chain* chains, std::int64_t count, std::int64_t node_stride,
            std::int64_t edge_stride)
      : contiguous(node_stride == 1 && edge_stride == 1),
        node_stride(node_stride),
        edge_stride(edge_stride),
        chains_(chains),
        count_(count) {}

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
  std::uint8_t nodes_of(std::int64_t row) const { return lanes_of(row, 0); }
  std::uint8_t edges_of(std::int64_t row) const { return lanes_of(row, 1); }

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
    for (int lane = 0; lane < 8; ++lane) {
      begin_full = std::max(begin_full, shift[lane]);
      end_full = std::min(end_full, shift[lane] + length[lane] - 1);
      end = std::max(end, shift[lane] + length[lane]);
    }
    begin_full = std::min(begin_full, end);
    end_full = std::max(begin_full, end_full);
  }

  std::uint8_t lanes_of(std::int64_t row, std::int64_t less) const {
    unsigned lanes = 0;
    for (int lane = 0; lane < 8; ++lane)
      lanes |= unsigned{row >= shift[lane] && row < shift[lane] + length[lane] - less} << lane;
    return static_cast<std::uint8_t>(lanes);
  }

  const Chain* chains_;
  std::int64_t count_;
  std::int64_t shift_[8] = {}, least_ = 0, direction_ = 1;
};

class ChainLanes {
 public:
  static constexpr std::int64_t kDummy =
      0;  // the batch's node for lanes without one: all zero, no piece starts
  static constexpr std::int64_t kParking = 1;  // and where the walk's idle lanes stay
  static constexpr std::int64_t kMostPlaces = 8;

  ChainLanes(const ChainArrays& arrays, Node* nodes, double* slopes)
      : arrays_(arrays), nodes_(nodes), slopes_(slopes) {}

  // The rows of chains that lie side by side are read through all places before the next ones,
  // since the image's next row may be on another page.
  SUBMIN_AVX512 void load(const std::vector<LanePlace>& places) {
    if (places.front().contiguous) {
      for (const LanePlace& place : places) load_contiguous(place);
      return;
    }
    for (std::int64_t first = 0; first < rows_of(places); first += kRows)
      for (const LanePlace& place : places)
        for (std::int64_t row = first; row < std::min(first + kRows, place.end); ++row) {
          fetch(place, row + kAhead);
          place.full(row) ? load_full(place, row) : load_part(place, row);
        }
  }

  SUBMIN_AVX512 void settle(const std::vector<LanePlace>& places) {
    if (places.front().contiguous) {
      for (const LanePlace& place : places) settle_contiguous(place);
      return;
    }
    State states[kMostPlaces];
    for (std::size_t k = 0; k < places.size(); ++k) states[k] = begin(places[k]);
    for (std::int64_t first = 0; first < rows_of(places); first += kRows)
      for (std::size_t k = 0; k < places.size(); ++k) {
        const LanePlace& place = places[k];
        State v = states[k];
        for (std::int64_t row = first; row < std::min(first + kRows, place.end); ++row) {
          fetch_new(place, row + kAhead);
          place.full(row) ? settle_full(place, row, v) : settle_part(place, row, v);
        }
        states[k] = v;
      }
  }

 private:
  static constexpr std::int64_t kRows = 4;
  static constexpr std::int64_t kAhead = 16;  // no hardware prefetcher follows from page to page

  SUBMIN_AVX512_INLINE void fetch(const LanePlace& place, std::int64_t row) const {
    const std::int64_t edge = place.edge_start + row * place.edge_stride;
    __builtin_prefetch(arrays_.s + place.node_start + row * place.node_stride, 0, 2);
    __builtin_prefetch(arrays_.flow + edge, 0, 2);
    if (!arrays_.forward.uniform) __builtin_prefetch(arrays_.forward.values + edge, 0, 2);
    if (!arrays_.backward.uniform) __builtin_prefetch(arrays_.backward.values + edge, 0, 2);
  }

  SUBMIN_AVX512_INLINE void fetch_new(const LanePlace& place, std::int64_t row) const {
    __builtin_prefetch(arrays_.new_flow + place.edge_start + row * place.edge_stride, 1, 2);
    if (arrays_.new_s != nullptr)
      __builtin_prefetch(arrays_.new_s + place.node_start + row * place.node_stride, 1, 2);
  }

  struct Places {
    std::int64_t lane[8];
  };
  struct State {
    __m512d slope, change;
  };

  static std::int64_t rows_of(const std::vector<LanePlace>& places) {
    std::int64_t rows = 0;
    for (const LanePlace& place : places) rows = std::max(rows, place.end);
    return rows;
  }

  SUBMIN_AVX512_INLINE State begin(const LanePlace& place) const {
    return {starting(at_part(place, 0)), _mm512_setzero_pd()};
  }

  SUBMIN_AVX512_INLINE static Places at_full(const LanePlace& place, std::int64_t row) {
    Places at;
    for (int lane = 0; lane < 8; ++lane)
      at.lane[lane] = place.first[lane] - place.shift[lane] + row;
    return at;
  }

  SUBMIN_AVX512_INLINE static Places at_part(const LanePlace& place, std::int64_t row) {
    Places at = at_full(place, row);
    const unsigned lanes = place.nodes_of(row);
    for (int lane = 0; lane < 8; ++lane)
      if (!(lanes >> lane & 1)) at.lane[lane] = kDummy;
    return at;
  }

  SUBMIN_AVX512_INLINE static __m512d weights(const WeightArray& weights, __mmask8 lanes,
                                              std::int64_t edge) {
    return weights.uniform ? _mm512_maskz_mov_pd(lanes, _mm512_set1_pd(*weights.values))
                           : _mm512_maskz_loadu_pd(lanes, weights.values + edge);
  }

  // Reads eight elements from `node` and `edge` and writes the eight nodes.
  SUBMIN_AVX512_INLINE void load_eight(std::int64_t node, std::int64_t edge, __mmask8 has_node,
                                       __mmask8 has_edge, const Places& at) {
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                  high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    __m512d value = _mm512_maskz_loadu_pd(has_node, arrays_.s + node);
    if (arrays_.c != 1) value = _mm512_div_pd(value, _mm512_set1_pd(arrays_.c));
    const __m512d flow = _mm512_maskz_loadu_pd(has_edge, arrays_.flow + edge);
    const __m512d forward = weights(arrays_.forward, has_edge, edge),
                  backward = weights(arrays_.backward, has_edge, edge);
    const __m512d first_a = _mm512_unpacklo_pd(value, flow),
                  second_a = _mm512_unpackhi_pd(value, flow);
    const __m512d first_b = _mm512_unpacklo_pd(forward, backward),
                  second_b = _mm512_unpackhi_pd(forward, backward);
    const __m512d n02 = _mm512_permutex2var_pd(first_a, low, first_b),
                  n46 = _mm512_permutex2var_pd(first_a, high, first_b);
    const __m512d n13 = _mm512_permutex2var_pd(second_a, low, second_b),
                  n57 = _mm512_permutex2var_pd(second_a, high, second_b);
    store_pair(n02, at.lane[0], at.lane[2]);
    store_pair(n13, at.lane[1], at.lane[3]);
    store_pair(n46, at.lane[4], at.lane[6]);
    store_pair(n57, at.lane[5], at.lane[7]);
  }

  SUBMIN_AVX512_INLINE void store_pair(__m512d pair, std::int64_t first, std::int64_t second) {
    _mm256_store_pd(&nodes_[first].value, _mm512_castpd512_pd256(pair));
    _mm256_store_pd(&nodes_[second].value, _mm512_extractf64x4_pd(pair, 1));
  }

  SUBMIN_AVX512_INLINE void load_full(const LanePlace& place, std::int64_t row) {
    load_eight(place.node_start + row * place.node_stride,
               place.edge_start + row * place.edge_stride, 0xff, 0xff, at_full(place, row));
  }

  SUBMIN_AVX512 void load_part(const LanePlace& place, std::int64_t row) {
    load_eight(place.node_start + row * place.node_stride,
               place.edge_start + row * place.edge_stride, place.nodes_of(row), place.edges_of(row),
               at_part(place, row));
  }

  // May write some nodes beyond a chain's last, never before its first.
  SUBMIN_AVX512 void load_contiguous(const LanePlace& place) {
    for (int lane = 0; lane < 8; ++lane) {
      for (std::int64_t j = 0; j < place.length[lane]; j += 8) {
        Places at;
        for (int k = 0; k < 8; ++k) at.lane[k] = place.first[lane] + j + k;
        load_eight(place.node_starts[lane] + j, place.edge_starts[lane] + j,
                   first_lanes(place.length[lane] - j), first_lanes(place.length[lane] - 1 - j),
                   at);
      }
    }
  }

  SUBMIN_AVX512_INLINE static __mmask8 first_lanes(std::int64_t count) {
    return static_cast<__mmask8>(count >= 8 ? 0xff : count <= 0 ? 0 : (1 << count) - 1);
  }

  SUBMIN_AVX512_INLINE __m512d starting(const Places& at) const {
    return _mm512_setr_pd(slopes_[at.lane[0]], slopes_[at.lane[1]], slopes_[at.lane[2]],
                          slopes_[at.lane[3]], slopes_[at.lane[4]], slopes_[at.lane[5]],
                          slopes_[at.lane[6]], slopes_[at.lane[7]]);
  }

  struct Row {
    __m512d slope, flow;
  };

  // Returns the new values and flows of a row and makes the next one the current: `settle` of
  // taut_string.hpp in lanes.
  SUBMIN_AVX512_INLINE Row advance(const Places& at, const Places& next, State& v) const {
    const __m512d zero = _mm512_setzero_pd();
    const NodeLanes node =
        load_nodes([&](int lane) SUBMIN_INLINE { return nodes_ + at.lane[lane]; });
    const __m512d lowest = _mm512_sub_pd(zero, node.backward), slope = starting(next);
    v.change = _mm512_add_pd(v.change, _mm512_sub_pd(v.slope, node.value));
    const __m512d flow = _mm512_add_pd(node.flow, v.change);
    __m512d clipped =
        _mm512_mask_mov_pd(flow, _mm512_cmp_pd_mask(flow, lowest, _CMP_LT_OQ), lowest);
    clipped = _mm512_mask_mov_pd(clipped, _mm512_cmp_pd_mask(node.forward, clipped, _CMP_LT_OQ),
                                 node.forward);
    const __mmask8 upper = _mm512_cmp_pd_mask(_mm512_sub_pd(node.forward, flow),
                                              _mm512_add_pd(flow, node.backward), _CMP_LT_OQ);
    const __m512d saturated = _mm512_mask_mov_pd(lowest, upper, node.forward);
    const __mmask8 starts = _mm512_cmp_pd_mask(slope, slope, _CMP_ORD_Q);
    v.change = _mm512_mask_sub_pd(v.change, starts, saturated, node.flow);
    const Row row = {v.slope, _mm512_mask_mov_pd(clipped, starts, saturated)};
    v.slope = _mm512_mask_mov_pd(v.slope, starts, slope);
    return row;
  }

  SUBMIN_AVX512_INLINE void write(std::int64_t node, std::int64_t edge, __mmask8 has_node,
                                  __mmask8 has_edge, __m512d slope, __m512d flow) {
    _mm512_mask_storeu_pd(arrays_.new_flow + edge, has_edge, flow);
    if (arrays_.new_s != nullptr) _mm512_mask_storeu_pd(arrays_.new_s + node, has_node, slope);
  }

  SUBMIN_AVX512_INLINE void settle_full(const LanePlace& place, std::int64_t row, State& v) {
    const Row now = advance(at_full(place, row), at_full(place, row + 1), v);
    write(place.node_start + row * place.node_stride, place.edge_start + row * place.edge_stride,
          0xff, 0xff, now.slope, now.flow);
  }

  SUBMIN_AVX512_INLINE void settle_part(const LanePlace& place, std::int64_t row, State& v) {
    const Row now = advance(at_part(place, row), at_part(place, row + 1), v);
    write(place.node_start + row * place.node_stride, place.edge_start + row * place.edge_stride,
          place.nodes_of(row), place.edges_of(row), now.slope, now.flow);
  }

  SUBMIN_AVX512 void settle_contiguous(const LanePlace& place) {
    State v = begin(place);
    for (std::int64_t first = 0; first < place.end; first += 8) {
      __m512d slopes[8], flows[8];
      const bool full = first + 8 <= place.end_full;
      for (int k = 0; k < 8; ++k) {
        const std::int64_t row = first + k;
        const Row now = full ? advance(at_full(place, row), at_full(place, row + 1), v)
                             : advance(at_part(place, row), at_part(place, row + 1), v);
        slopes[k] = now.slope;
        flows[k] = now.flow;
      }
      transpose(slopes);
      transpose(flows);
      for (int lane = 0; lane < 8; ++lane)
        write(place.node_starts[lane] + first, place.edge_starts[lane] + first,
              first_lanes(place.length[lane] - first), first_lanes(place.length[lane] - 1 - first),
              slopes[lane], flows[lane]);
    }
  }

  SUBMIN_AVX512_INLINE static void transpose(__m512d (&v)[8]) {
    __m512d pairs[8], quads[8];
    for (int k = 0; k < 8; k += 2) {
      pairs[k] = _mm512_unpacklo_pd(v[k], v[k + 1]);
      pairs[k + 1] = _mm512_unpackhi_pd(v[k], v[k + 1]);
    }
    for (int k = 0; k < 2; ++k) {
      for (int half = 0; half < 2; ++half) {
        quads[4 * half + k] =
            _mm512_shuffle_f64x2(pairs[4 * half + k], pairs[4 * half + 2 + k], 0x88);
        quads[4 * half + 2 + k] =
            _mm512_shuffle_f64x2(pairs[4 * half + k], pairs[4 * half + 2 + k], 0xdd);
      }
    }
    for (int k = 0; k < 2; ++k) {
      v[k] = _mm512_shuffle_f64x2(quads[k], quads[4 + k], 0x88);
      v[4 + k] = _mm512_shuffle_f64x2(quads[k], quads[4 + k], 0xdd);
      v[2 + k] = _mm512_shuffle_f64x2(quads[2 + k], quads[6 + k], 0x88);
      v[6 + k] = _mm512_shuffle_f64x2(quads[2 + k], quads[6 + k], 0xdd);
    }
  }

  const ChainArrays& arrays_;
  Node* nodes_;
  double* slopes_;
};

}  // namespace submin

#endif

// Moves the values and flows of a vector of chains of a grid between the image and a batch.
// chains/lanes.hpp includes this file for each width.

namespace submin::SUBMIN_WIDTH {

class ChainLanes {
 public:
  static constexpr std::int64_t kDummy =
      0;  // the batch's node for lanes without one: all zero, no piece starts
  static constexpr std::int64_t kParking = 1;  // and where the walk's idle lanes stay
  static constexpr std::int64_t kMostPlaces = kBatchChains / kLanes;

  ChainLanes(const ChainArrays& arrays, Node* nodes, double* slopes)
      : arrays_(arrays), nodes_(nodes), slopes_(slopes) {}

  // The rows of chains that lie side by side are read through all places before the next ones,
  // since the image's next row may be on another page.
  SUBMIN_TARGET void read(const std::vector<LanePlace>& places) {
    if (places.front().contiguous) {
      for (const LanePlace& place : places) read_contiguous(place);
      return;
    }
    for (std::int64_t first = 0; first < rows_of(places); first += kRows)
      for (const LanePlace& place : places)
        for (std::int64_t row = first; row < std::min(first + kRows, place.end); ++row) {
          fetch(place, row + kAhead);
          place.full(row) ? read_full(place, row) : read_part(place, row);
        }
  }

  SUBMIN_TARGET void settle(const std::vector<LanePlace>& places) {
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

  // The last lane's cache line of a row: that of the first is the last one's of the place before.
  SUBMIN_TARGET SUBMIN_INLINE void fetch(const LanePlace& place, std::int64_t row) const {
    const std::int64_t node = place.node_start + row * place.node_stride + kLanes - 1,
                       edge = place.edge_start + row * place.edge_stride + kLanes - 1;
    __builtin_prefetch(arrays_.s + node, 0, 2);
    __builtin_prefetch(arrays_.flow + edge, 0, 2);
    fetch(arrays_.forward, edge);
    fetch(arrays_.backward, edge);
  }

  SUBMIN_TARGET SUBMIN_INLINE static void fetch(const WeightArray& weights, std::int64_t edge) {
    if (weights.singles != nullptr)
      __builtin_prefetch(weights.singles + edge, 0, 2);
    else if (!weights.uniform)
      __builtin_prefetch(weights.values + edge, 0, 2);
  }

  SUBMIN_TARGET SUBMIN_INLINE void fetch_new(const LanePlace& place, std::int64_t row) const {
    const std::int64_t node = place.node_start + row * place.node_stride + kLanes - 1,
                       edge = place.edge_start + row * place.edge_stride + kLanes - 1;
    __builtin_prefetch(arrays_.new_flow + edge, 1, 2);
    if (arrays_.new_s != nullptr) __builtin_prefetch(arrays_.new_s + node, 1, 2);
  }

  struct Places {
    std::int64_t lane[kLanes];
  };
  struct State {
    Value slope, change;
  };

  static std::int64_t rows_of(const std::vector<LanePlace>& places) {
    std::int64_t rows = 0;
    for (const LanePlace& place : places) rows = std::max(rows, place.end);
    return rows;
  }

  SUBMIN_TARGET SUBMIN_INLINE State begin(const LanePlace& place) const {
    return {starting(at_part(place, 0)), broadcast(0.0)};
  }

  SUBMIN_TARGET SUBMIN_INLINE static Places at_full(const LanePlace& place, std::int64_t row) {
    Places at;
    for (int lane = 0; lane < kLanes; ++lane)
      at.lane[lane] = place.first[lane] - place.shift[lane] + row;
    return at;
  }

  SUBMIN_TARGET SUBMIN_INLINE static Places at_part(const LanePlace& place, std::int64_t row) {
    Places at = at_full(place, row);
    const unsigned lanes = place.nodes_of(row);
    for (int lane = 0; lane < kLanes; ++lane)
      if (!(lanes >> lane & 1)) at.lane[lane] = kDummy;
    return at;
  }

  template <class Lanes>
  SUBMIN_TARGET SUBMIN_INLINE static Value weights(const WeightArray& weights, Lanes lanes,
                                                   std::int64_t edge) {
    if (weights.singles != nullptr) return load(lanes, weights.singles + edge);
    return weights.uniform ? keep(lanes, broadcast(*weights.values))
                           : load(lanes, weights.values + edge);
  }

  // Reads as many elements as there are lanes from `node` and `edge` and writes these nodes.
  template <class Lanes>
  SUBMIN_TARGET SUBMIN_INLINE void read_vector(std::int64_t node, std::int64_t edge, Lanes has_node,
                                               Lanes has_edge, const Places& at) {
    Value value = load(has_node, arrays_.s + node);
    if (arrays_.c != 1) value = value / broadcast(arrays_.c);
    store_nodes(
        {value, load(has_edge, arrays_.flow + edge), weights(arrays_.forward, has_edge, edge),
         weights(arrays_.backward, has_edge, edge)},
        [&](int lane) SUBMIN_INLINE { return nodes_ + at.lane[lane]; });
  }

  SUBMIN_TARGET SUBMIN_INLINE void read_full(const LanePlace& place, std::int64_t row) {
    read_vector(place.node_start + row * place.node_stride,
                place.edge_start + row * place.edge_stride, AllLanes(), AllLanes(),
                at_full(place, row));
  }

  SUBMIN_TARGET void read_part(const LanePlace& place, std::int64_t row) {
    read_vector(place.node_start + row * place.node_stride,
                place.edge_start + row * place.edge_stride, mask_of(place.nodes_of(row)),
                mask_of(place.edges_of(row)), at_part(place, row));
  }

  // May write some nodes beyond a chain's last, never before its first.
  SUBMIN_TARGET void read_contiguous(const LanePlace& place) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::int64_t length = place.length[lane];
      for (std::int64_t j = 0; j < length; j += kLanes) {
        const std::int64_t node = place.node_starts[lane] + j, edge = place.edge_starts[lane] + j;
        Places at;
        for (int k = 0; k < kLanes; ++k) at.lane[k] = place.first[lane] + j + k;
        if (j + kLanes < length)
          read_vector(node, edge, AllLanes(), AllLanes(), at);
        else
          read_vector(node, edge, first_lanes(length - j), first_lanes(length - 1 - j), at);
      }
    }
  }

  SUBMIN_TARGET SUBMIN_INLINE static Mask first_lanes(std::int64_t count) {
    return mask_of((1u << std::clamp<std::int64_t>(count, 0, kLanes)) - 1);
  }

  SUBMIN_TARGET SUBMIN_INLINE Value starting(const Places& at) const {
    return gather(slopes_, at.lane);
  }

  struct Row {
    Value slope, flow;
  };

  // Returns the new values and flows of a row and makes the next one the current: `settle` of
  // chains/taut_string.hpp in lanes.
  SUBMIN_TARGET SUBMIN_INLINE Row advance(const Places& at, const Places& next, State& v) const {
    const NodeLanes node =
        load_nodes([&](int lane) SUBMIN_INLINE { return nodes_ + at.lane[lane]; });
    const Value lowest = broadcast(0.0) - node.backward, slope = starting(next);
    v.change = v.change + (v.slope - node.value);
    const Value flow = node.flow + v.change;
    const Value raised = select(less(flow, lowest), lowest, flow);
    const Value clipped = select(less(node.forward, raised), node.forward, raised);
    const Mask upper = less(node.forward - flow, flow + node.backward);
    const Value saturated = select(upper, node.forward, lowest);
    const Mask starts = ordered(slope);
    v.change = select(starts, saturated - node.flow, v.change);
    const Row row = {v.slope, select(starts, saturated, clipped)};
    v.slope = select(starts, slope, v.slope);
    return row;
  }

  template <class Lanes>
  SUBMIN_TARGET SUBMIN_INLINE void write(std::int64_t node, std::int64_t edge, Lanes has_node,
                                         Lanes has_edge, const Row& row) {
    store(has_edge, arrays_.new_flow + edge, row.flow);
    if (arrays_.new_s != nullptr) store(has_node, arrays_.new_s + node, row.slope);
  }

  SUBMIN_TARGET SUBMIN_INLINE void settle_full(const LanePlace& place, std::int64_t row, State& v) {
    write(place.node_start + row * place.node_stride, place.edge_start + row * place.edge_stride,
          AllLanes(), AllLanes(), advance(at_full(place, row), at_full(place, row + 1), v));
  }

  SUBMIN_TARGET SUBMIN_INLINE void settle_part(const LanePlace& place, std::int64_t row, State& v) {
    write(place.node_start + row * place.node_stride, place.edge_start + row * place.edge_stride,
          mask_of(place.nodes_of(row)), mask_of(place.edges_of(row)),
          advance(at_part(place, row), at_part(place, row + 1), v));
  }

  SUBMIN_TARGET void settle_contiguous(const LanePlace& place) {
    State v = begin(place);
    for (std::int64_t first = 0; first < place.end; first += kLanes) {
      Value slopes[kLanes], flows[kLanes];
      const bool full = first + kLanes <= place.end_full;
      for (int k = 0; k < kLanes; ++k) {
        const std::int64_t row = first + k;
        const Row now = full ? advance(at_full(place, row), at_full(place, row + 1), v)
                             : advance(at_part(place, row), at_part(place, row + 1), v);
        slopes[k] = now.slope;
        flows[k] = now.flow;
      }
      transpose(slopes);
      transpose(flows);
      for (int lane = 0; lane < kLanes; ++lane) {
        const std::int64_t rest = place.length[lane] - first;
        const std::int64_t node = place.node_starts[lane] + first,
                           edge = place.edge_starts[lane] + first;
        const Row row = {slopes[lane], flows[lane]};
        if (full)
          write(node, edge, AllLanes(), AllLanes(), row);
        else
          write(node, edge, first_lanes(rest), first_lanes(rest - 1), row);
      }
    }
  }

  const ChainArrays& arrays_;
  Node* nodes_;
  double* slopes_;
};

}  // namespace submin::SUBMIN_WIDTH

// The residual network of a grid with implicit neighbours, in place on the caller's flows.
//
// No capacity is copied: a node keeps one bit a direction for "a residual arc leaves" and "a
// residual arc enters" besides its label and parent (7 bytes for 8 neighbours, 13 for 26), so that
// searches read no numbers and test no bounds (bits that point outside stay 0).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "flow/residual_search.hpp"
#include "graph/edges.hpp"

namespace submin::flow {

// The edges of one neighbour offset: tails over the overlap of the grid with its shift, C order.
struct GridEdges {
  std::vector<std::int64_t> offset;
  WeightArray backward, forward;
  double* flow;
};

struct GridFlowProblem {
  std::vector<std::int64_t> shape;
  std::vector<GridEdges> edges;
  double* imbalance;
  double side = 1.0;  // side * imbalance are the deficits

  std::int64_t size() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  std::int64_t size_of_slice() const {
    return std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
  }

  // From one node to the next along each axis, in C order, ...
  std::vector<std::int64_t> strides() const {
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t i = shape.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * shape[i];
    return strides;
  }
  // ... and from the tails of edges to their heads.
  std::int64_t step(const GridEdges& set) const {
    const std::vector<std::int64_t> along = strides();
    return std::inner_product(set.offset.begin(), set.offset.end(), along.begin(), std::int64_t{0});
  }

  // The same problem seen from the other side: excess and deficits change places, and so do the
  // ends of every edge, which leaves its flow as it is.
  GridFlowProblem reversed() const {
    GridFlowProblem other = *this;
    other.side = -side;
    for (GridEdges& set : other.edges)
      for (std::int64_t& step : set.offset) step = -step;
    return other;
  }

  // The same problem on slices first..last - 1 of axis 0 alone: a view of the same arrays.
  GridFlowProblem strip(std::int64_t first, std::int64_t last) const {
    GridFlowProblem part = *this;
    part.shape[0] = last - first;
    part.imbalance += first * size_of_slice();
    for (GridEdges& set : part.edges) {
      std::int64_t start = first;
      for (std::size_t i = 1; i < shape.size(); ++i) {
        start *= std::max<std::int64_t>(shape[i] - std::abs(set.offset[i]), 0);
      }
      set.backward = set.backward.from(start);
      set.forward = set.forward.from(start);
      set.flow += start;
    }
    return part;
  }
};

inline constexpr std::size_t kMostAxes = 8, kMostOffsets = 16;

// Exact quotients of 31-bit numbers by a fixed divisor, with one multiplication.
class Divisor {
 public:
  explicit Divisor(std::uint64_t divisor) {
    while ((std::uint64_t{1} << shift_) < divisor) ++shift_;
    shift_ += 31;
    factor_ = ((std::uint64_t{1} << shift_) + divisor - 1) / divisor;
  }
  std::uint32_t quotient(std::uint32_t value) const {
    return static_cast<std::uint32_t>((value * factor_) >> shift_);
  }

 private:
  unsigned shift_ = 0;
  std::uint64_t factor_;
};

// Position of an edge in its arrays from its tail: tail - start - sum_i lack_i * coordinate_i,
// where lack_i is how much smaller the stride of axis i is for edges than for nodes.
class EdgePositions {
 public:
  EdgePositions(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& offset,
                const std::vector<std::int64_t>& strides) {
    std::int64_t stride = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (strides[i] != stride) {
        axes_[count_++] = {Divisor(static_cast<std::uint64_t>(strides[i])), strides[i],
                           strides[i] - stride};
      }
      if (offset[i] < 0) start_ -= offset[i] * stride;
      stride *= std::max<std::int64_t>(shape[i] - std::abs(offset[i]), 0);
    }
    std::reverse(axes_.begin(), axes_.begin() + count_);  // the axes left out are the last ones
  }
  std::int64_t operator()(Index tail) const {
    std::int64_t rest = tail, position = tail - start_;
    for (int i = 0; i < count_; ++i) {
      const Axis& axis = axes_[i];
      const std::int64_t coordinate = axis.divisor.quotient(static_cast<std::uint32_t>(rest));
      rest -= coordinate * axis.stride;
      position -= coordinate * axis.lack;
    }
    return position;
  }

 private:
  struct Axis {
    Divisor divisor{1};
    std::int64_t stride = 1, lack = 0;
  };
  std::int64_t start_ = 0;
  int count_ = 0;
  std::array<Axis, kMostAxes> axes_;
};

template <class Mask, int Directions>
class GridNetwork {
 public:
  // Direction 2k goes along offset k, 2k + 1 against it.
  using Arc = std::uint8_t;
  using Arcs = std::uint32_t;  // one bit each
  static constexpr Arc none = 255, root = 254, offered = 253;

  // Low half: residual arcs out of the node, high half: into it.
  using Bits = std::conditional_t<sizeof(Mask) == 1, std::uint16_t, std::uint64_t>;

  // The arrays of its nodes are the caller's: labels and parents have `margin` more of them at
  // either end, so that neighbours can be read before the bits are looked at.
  GridNetwork(const GridFlowProblem& problem, Bits* bits, Label* labels, Arc* parents)
      : problem_(problem),
        size_(static_cast<Index>(problem.size())),
        bits_(bits),
        strides_(problem.strides()),
        label_(labels),
        parent_(parents) {
    for (std::size_t k = 0; k < problem.edges.size(); ++k) {
      const std::int64_t step = problem.step(problem.edges[k]);
      steps_[2 * k] = static_cast<Index>(step);
      steps_[2 * k + 1] = static_cast<Index>(-step);
      positions_.emplace_back(problem.shape, problem.edges[k].offset, strides_);
    }
  }

  // Finds the residual arcs of one more offset; true when all are known.
  bool open_next_offset() {
    if (opened_ < problem_.edges.size()) {
      std::vector<Bits> row;
      rows(opened_, 0, problem_.shape[0], [&](std::int64_t e, std::int64_t tail, std::size_t size) {
        row.resize(size);
        open_row(opened_, e, tail, row);
      });
      ++opened_;
    }
    return opened_ == problem_.edges.size();
  }
  // Adds those between slices before `slice` of axis 0 and slices from there on; f(v, arc) sees
  // them all.
  template <class Visit>
  void open_across(std::int64_t slice, Visit visit) {
    std::vector<Bits> row;
    across(slice, [&](std::size_t k, std::int64_t e, std::int64_t tail, std::size_t size) {
      row.resize(size);
      open_row(k, e, tail, row);
    });
    across(slice, [&](std::size_t k, std::int64_t, std::int64_t tail, std::size_t size) {
      const Arc along = static_cast<Arc>(2 * k), against = along + 1;
      for (Index v = static_cast<Index>(tail); v < tail + static_cast<std::int64_t>(size); ++v) {
        const Index u = v + steps_[along];
        if (leaving(v) & one(along)) visit(v, along);
        if (leaving(u) & one(against)) visit(u, against);
      }
    });
  }

  Index size() const { return size_; }
  double deficit(Index v) const { return problem_.side * problem_.imbalance[v]; }
  void change_deficit(Index v, double by) { problem_.imbalance[v] += problem_.side * by; }
  void set_deficit(Index v, double value) { problem_.imbalance[v] = problem_.side * value; }
  // What v's deficit is at this cost and the flow out of it, summed afresh.
  double deficit_of(Index v, double cost) const {
    std::array<std::int64_t, kMostAxes> place{};
    std::int64_t rest = v;
    for (std::size_t i = 0; i < strides_.size(); ++i) {
      place[i] = rest / strides_[i];
      rest %= strides_[i];
    }
    const auto has = [&](const std::vector<std::int64_t>& offset, std::int64_t sign) {
      for (std::size_t i = 0; i < offset.size(); ++i) {
        const std::int64_t at = place[i] + sign * offset[i];
        if (at < 0 || at >= problem_.shape[i]) return false;
      }
      return true;
    };
    double deficit = problem_.side * cost;
    for (std::size_t k = 0; k < problem_.edges.size(); ++k) {
      const GridEdges& set = problem_.edges[k];
      if (has(set.offset, 1)) deficit += set.flow[positions_[k](v)];
      if (has(set.offset, -1)) deficit -= set.flow[positions_[k](v - steps_[2 * k])];
    }
    return deficit;
  }
  Label& label(Index v) { return label_[v]; }
  Arc& parent(Index v) { return parent_[v]; }
  Index head(Index v, Arc arc) const { return v + steps_[arc]; }

  // A residual arc from v to a node of this label, ...
  Arc find_parent(Index v, Label label) const {
    const Arcs match = leaving(v) & to_label(v, label);
    return match ? first(match) : none;
  }

  // ... and that of most room.
  Arc widest(Index v, Label label) const {
    Arcs match = leaving(v) & to_label(v, label);
    if ((match & (match - 1)) == 0) return match ? first(match) : none;
    Arc best = none;
    for (double most = 0; match; match &= match - 1) {
      const Arc arc = first(match);
      const double own = room(v, arc);
      if (own > most) {
        most = own;
        best = arc;
      }
    }
    return best;
  }

  // To the nodes of this label.
  Arcs to_label(Index v, Label label) const {
    return where([&](int k) { return label_[v + steps_[k]] == label; });
  }

  Arcs leaving(Index v) const { return static_cast<Mask>(bits_[v]); }
  static Arcs one(Arc arc) { return Arcs{1} << arc; }
  static Arc first(Arcs mask) {
    Arc k = 0;
#if defined(__GNUC__)
    k = static_cast<Arc>(__builtin_ctz(mask));
#else
    while (!((mask >> k) & 1)) ++k;
#endif
    return k;
  }

  // The residual arc from v to the lowest label, ...
  std::pair<Arc, Label> nearest(Index v) const { return nearest(v, leaving(v)); }

  // ... of some of them.
  std::pair<Arc, Label> nearest(Index v, Arcs choice) const {
    Label best = kFree;
    for (int k = 0; k < Directions; ++k) {
      const Label closed = Label((choice >> k) & 1) - 1;
      best = std::min(best, label_[v + steps_[k]] | closed);
    }
    if (best >= kPending) return {none, kFree};
    return {first(choice & where([&](int k) { return label_[v + steps_[k]] == best; })), best};
  }

  // To the nodes whose parent is v.
  Arcs to_children(Index v) const {
    return where([&](int k) { return parent_[v + steps_[k]] == (k ^ 1); });
  }

  // f(u) for the ends of some arcs out of v.
  template <class Visit>
  void each_head(Index v, Arcs arcs, Visit visit) const {
    for (; arcs; arcs &= arcs - 1) visit(v + steps_[first(arcs)]);
  }

  // f(u, arc u -> v) over residual arcs from outside the forest.
  template <class Visit>
  void outside(Index v, Visit visit) const {
    Arcs match = in(v) & where([&](int k) { return label_[v + steps_[k]] >= kPending; });
    for (; match; match &= match - 1) {
      const Arc arc = first(match);
      visit(v + steps_[arc], static_cast<Arc>(arc ^ 1));
    }
  }

  // f(u) over residual arcs v -> u to nodes whose parent is not `mark`.
  template <class Visit>
  void leaving_unless(Index v, Arc mark, Visit visit) const {
    each_head(v, leaving(v) & where([&](int k) { return parent_[v + steps_[k]] != mark; }), visit);
  }

  // Whether a residual arc u -> v comes from a node whose parent is `mark`.
  bool entered_from(Index v, Arc mark) const {
    return in(v) & where([&](int k) { return parent_[v + steps_[k]] == mark; });
  }

  double room(Index v, Arc arc) const {
    const GridEdges& set = problem_.edges[arc >> 1];
    const bool along = (arc & 1) == 0;
    const std::int64_t e = positions_[arc >> 1](along ? v : v + steps_[arc]);
    return along ? set.forward[e] - set.flow[e] : set.backward[e] + set.flow[e];
  }

  Push push(Index v, Arc arc, double wish) {
    const Index target = v + steps_[arc];
    const std::size_t k = arc >> 1;
    const bool along = (arc & 1) == 0;
    const GridEdges& set = problem_.edges[k];
    const std::int64_t e = positions_[k](along ? v : target);
    const Push result = push_edge(set.flow[e], set.forward[e], set.backward[e], along, wish);
    const Bits leaves = Bits{1} << arc, returns = Bits{1} << (arc ^ 1);
    if (result.saturated) {
      bits_[v] &= static_cast<Bits>(~leaves);
      bits_[target] &= static_cast<Bits>(~(returns << kWidth));
    }
    bits_[v] |= static_cast<Bits>(leaves << kWidth);
    bits_[target] |= returns;
    return result;
  }

 private:
  static constexpr int kWidth = 8 * sizeof(Mask);
  static constexpr std::int64_t kFar = std::int64_t{1} << 62;
  static_assert(Directions <= kWidth);

  // All directions at once, without branches.
  template <class Test>
  static Arcs where(Test test) {
    Arcs match = 0;
    for (int k = 0; k < Directions; ++k) match |= Arcs{test(k)} << k;
    return match;
  }

  Arcs in(Index v) const { return static_cast<Mask>(bits_[v] >> kWidth); }

  // f(k, first edge, its tail, number of edges) for the rows of edges across a slice of axis 0.
  template <class Visit>
  void across(std::int64_t slice, Visit visit) const {
    for (std::size_t k = 0; k < problem_.edges.size(); ++k) {
      const std::int64_t step = problem_.edges[k].offset[0];
      rows(k, slice - std::max<std::int64_t>(step, 0), slice + std::max<std::int64_t>(-step, 0),
           [&](std::int64_t e, std::int64_t tail, std::size_t size) { visit(k, e, tail, size); });
    }
  }

  // The same for the edges of offset k whose tails lie in slices first..last - 1 of axis 0.
  template <class Visit>
  void rows(std::size_t k, std::int64_t first, std::int64_t last, Visit visit) const {
    const std::vector<std::int64_t>& offset = problem_.edges[k].offset;
    std::vector<std::int64_t> extent(offset.size()), at(offset.size(), 0);
    std::int64_t tail = 0, count = 1;
    for (std::size_t i = 0; i < offset.size(); ++i) {
      const std::int64_t low = std::max<std::int64_t>(-offset[i], i == 0 ? first : 0);
      const std::int64_t high =
          std::min(problem_.shape[i] - std::max<std::int64_t>(offset[i], 0), i == 0 ? last : kFar);
      extent[i] = high - low;
      if (extent[i] <= 0) return;
      tail += low * strides_[i];
      count *= extent[i];
    }
    std::int64_t e = positions_[k](static_cast<Index>(tail));
    for (const std::int64_t end = e + count; e < end; e += extent.back()) {
      visit(e, tail, static_cast<std::size_t>(extent.back()));
      for (std::size_t i = offset.size() - 1; i-- > 0;) {
        tail += strides_[i];
        if (++at[i] < extent[i]) break;
        tail -= extent[i] * strides_[i];
        at[i] = 0;
      }
    }
  }

  void open_row(std::size_t k, std::int64_t e, std::int64_t tail, std::vector<Bits>& row) {
    const GridEdges& set = problem_.edges[k];
    const double* flow = set.flow + e;
    with_weights(set.backward.from(e), set.forward.from(e), [&](auto backward, auto forward) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        const auto edge = static_cast<std::int64_t>(i);
        row[i] = static_cast<Bits>(Bits(forward[edge] > flow[i]) | Bits(backward[edge] > -flow[i])
                                                                       << kWidth);
      }
    });
    Bits* tails = bits_ + tail;
    for (std::size_t i = 0; i < row.size(); ++i) tails[i] |= static_cast<Bits>(row[i] << (2 * k));
    // Seen from the head the two halves change places.
    Bits* heads = tails + steps_[2 * k];
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Bits swapped = static_cast<Bits>((row[i] << kWidth) | (row[i] >> kWidth));
      heads[i] |= static_cast<Bits>(swapped << (2 * k + 1));
    }
  }

  GridFlowProblem problem_;
  Index size_;
  Bits* bits_;
  std::vector<std::int64_t> strides_;
  std::vector<EdgePositions> positions_;
  std::array<Index, Directions> steps_{};
  Label* label_;
  Arc* parent_;
  std::size_t opened_ = 0;
};

}  // namespace submin::flow

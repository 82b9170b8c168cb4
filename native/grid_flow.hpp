// Max-flow on a grid with implicit neighbours, in place on the caller's flows.
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
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "residual_search.hpp"

namespace submin::flow {

// The edges of one neighbour offset: tails over the overlap of the grid with its shift, C order.
struct GridEdges {
  std::vector<std::int64_t> offset;
  const double* backward;
  const double* forward;
  double* flow;
  std::int64_t backward_step, forward_step;  // 0 = one weight for all edges
};

struct GridFlowProblem {
  std::vector<std::int64_t> shape;
  std::vector<GridEdges> edges;
  double* imbalance;

  std::int64_t size() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  std::int64_t size_of_slice() const {
    return std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
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
      set.backward += start * set.backward_step;
      set.forward += start * set.forward_step;
      set.flow += start;
    }
    return part;
  }
};

inline constexpr std::size_t kMostAxes = 8, kMostOffsets = 13;

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
  static constexpr Arc none = 255, root = 254, offered = 253;

  // Low half: residual arcs out of the node, high half: into it.
  using Bits = std::conditional_t<sizeof(Mask) == 1, std::uint16_t, std::uint64_t>;

  // `bits` holds problem.size() nodes; open_next_offset or open_across fill it in.
  GridNetwork(const GridFlowProblem& problem, Bits* bits)
      : problem_(problem), size_(static_cast<Index>(problem.size())), bits_(bits) {
    const std::vector<std::int64_t>& shape = problem.shape;
    strides_.assign(shape.size(), 1);
    for (std::size_t i = shape.size() - 1; i > 0; --i) strides_[i - 1] = strides_[i] * shape[i];
    for (std::size_t k = 0; k < problem.edges.size(); ++k) {
      const std::vector<std::int64_t>& offset = problem.edges[k].offset;
      const std::int64_t step =
          std::inner_product(offset.begin(), offset.end(), strides_.begin(), std::int64_t{0});
      steps_[2 * k] = static_cast<Index>(step);
      steps_[2 * k + 1] = static_cast<Index>(-step);
      positions_.emplace_back(shape, offset, strides_);
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
  // Adds those between slices before `slice` of axis 0 and slices from there on, ...
  void open_across(std::int64_t slice) {
    std::vector<Bits> row;
    across(slice, [&](std::size_t k, std::int64_t e, std::int64_t tail, std::size_t size) {
      row.resize(size);
      open_row(k, e, tail, row);
    });
  }
  // ... or takes them away.
  void close_across(std::int64_t slice) {
    across(slice, [&](std::size_t k, std::int64_t, std::int64_t tail, std::size_t size) {
      close_row(k, tail, size);
    });
  }
  // Labels are needed for the search alone.
  void allocate_labels() {
    // A margin, so that neighbours can be read before their bits are looked at.
    std::size_t margin = 0;
    for (const Index step : steps_) margin = std::max<std::size_t>(margin, std::abs(step));
    labels_.assign(static_cast<std::size_t>(size_) + 2 * margin, kFree);
    parents_.assign(labels_.size(), none);
    label_ = labels_.data() + margin;
    parent_ = parents_.data() + margin;
  }

  Index size() const { return size_; }
  double& imbalance(Index v) { return problem_.imbalance[v]; }
  Label& label(Index v) { return label_[v]; }
  Arc& parent(Index v) { return parent_[v]; }
  std::int64_t scan_cost(Index) const { return 0; }  // part of the visit
  Index head(Index v, Arc arc) const { return v + steps_[arc]; }

  // A residual arc from v to a node of this label.
  Arc find_parent(Index v, Label label) const {
    const Mask match = out(v) & where([&](int k) { return label_[v + steps_[k]] == label; });
    return match ? first(match) : none;
  }

  // The residual arc from v to the lowest label.
  std::pair<Arc, Label> nearest(Index v) const { return nearest(v, out(v)); }

  // The same among nodes of labels below `limit` that pass the test.
  template <class Test>
  std::pair<Arc, Label> nearest_where(Index v, Label limit, Test test) const {
    for (Mask choice = out(v); true;) {
      const auto [arc, label] = nearest(v, choice);
      if (label >= limit) return {none, kFree};
      if (test(head(v, arc))) return {arc, label};
      choice &= static_cast<Mask>(~(Mask{1} << arc));
    }
  }

  // f(u) for the nodes whose parent is v.
  template <class Visit>
  void children(Index v, Visit visit) const {
    Mask match = where([&](int k) { return parent_[v + steps_[k]] == (k ^ 1); });
    for (; match; match &= match - 1) visit(v + steps_[first(match)]);
  }

  // f(u, arc u -> v) over residual arcs from outside the forest.
  template <class Visit>
  void outside(Index v, Visit visit) const {
    Mask match = in(v) & where([&](int k) { return label_[v + steps_[k]] >= kPending; });
    for (; match; match &= match - 1) {
      const Arc arc = first(match);
      visit(v + steps_[arc], static_cast<Arc>(arc ^ 1));
    }
  }

  // f(u) over residual arcs v -> u to nodes whose parent is not `mark`.
  template <class Visit>
  void leaving_unless(Index v, Arc mark, Visit visit) const {
    Mask match = out(v) & where([&](int k) { return parent_[v + steps_[k]] != mark; });
    for (; match; match &= match - 1) visit(v + steps_[first(match)]);
  }

  Push push(Index v, Arc arc, double wish) {
    const Index target = v + steps_[arc];
    const std::size_t k = arc >> 1;
    const bool along = (arc & 1) == 0;
    const GridEdges& set = problem_.edges[k];
    const std::int64_t e = positions_[k](along ? v : target);
    const Push result = push_edge(set.flow[e], set.forward[e * set.forward_step],
                                  set.backward[e * set.backward_step], along, wish);
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

  static Arc first(Mask mask) {
    Arc k = 0;
#if defined(__GNUC__)
    k = static_cast<Arc>(__builtin_ctz(mask));
#else
    while (!((mask >> k) & 1)) ++k;
#endif
    return k;
  }

  // All directions at once, without branches.
  template <class Test>
  static Mask where(Test test) {
    Mask match = 0;
    for (int k = 0; k < Directions; ++k) match |= static_cast<Mask>(Mask{test(k)} << k);
    return match;
  }

  Mask out(Index v) const { return static_cast<Mask>(bits_[v]); }
  Mask in(Index v) const { return static_cast<Mask>(bits_[v] >> kWidth); }

  std::pair<Arc, Label> nearest(Index v, Mask choice) const {
    Label best = kFree;
    for (int k = 0; k < Directions; ++k) {
      const Label closed = Label((choice >> k) & 1) - 1;
      best = std::min(best, label_[v + steps_[k]] | closed);
    }
    if (best >= kPending) return {none, kFree};
    return {first(choice & where([&](int k) { return label_[v + steps_[k]] == best; })), best};
  }

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
    const double* forward = set.forward + e * set.forward_step;
    const double* backward = set.backward + e * set.backward_step;
    const auto scan = [&](auto forward_at, auto backward_at) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = static_cast<Bits>(Bits(forward_at(i) > flow[i]) |
                                   Bits(backward_at(i) > -flow[i]) << kWidth);
      }
    };
    const auto each = [](const double* w) { return [w](std::size_t i) { return w[i]; }; };
    const auto same = [](double w) { return [w](std::size_t) { return w; }; };
    if (set.forward_step && set.backward_step) {
      scan(each(forward), each(backward));
    } else if (set.forward_step) {
      scan(each(forward), same(*backward));
    } else if (set.backward_step) {
      scan(same(*forward), each(backward));
    } else {
      scan(same(*forward), same(*backward));
    }
    Bits* tails = bits_ + tail;
    for (std::size_t i = 0; i < row.size(); ++i) tails[i] |= static_cast<Bits>(row[i] << (2 * k));
    // Seen from the head the two halves change places.
    Bits* heads = tails + steps_[2 * k];
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Bits swapped = static_cast<Bits>((row[i] << kWidth) | (row[i] >> kWidth));
      heads[i] |= static_cast<Bits>(swapped << (2 * k + 1));
    }
  }

  void close_row(std::size_t k, std::int64_t tail, std::size_t size) {
    const Bits both = Bits{1} | Bits{1} << kWidth;
    const Bits at_tail = static_cast<Bits>(~(both << (2 * k)));
    const Bits at_head = static_cast<Bits>(~(both << (2 * k + 1)));
    Bits* tails = bits_ + tail;
    Bits* heads = tails + steps_[2 * k];
    for (std::size_t i = 0; i < size; ++i) tails[i] &= at_tail;
    for (std::size_t i = 0; i < size; ++i) heads[i] &= at_head;
  }

  GridFlowProblem problem_;
  Index size_;
  Bits* bits_;
  std::vector<std::int64_t> strides_;
  std::vector<EdgePositions> positions_;
  std::array<Index, Directions> steps_{};
  std::vector<Label> labels_;
  std::vector<Arc> parents_;
  Label* label_ = nullptr;
  Arc* parent_ = nullptr;
  std::size_t opened_ = 0;
};

// A resumable solve in rounds: strips along axis 0 by themselves, side by side on the threads, then
// strips that lie across the borders of the first, then the whole grid from where they got to. The
// strips depend on the shape alone, hence the same bits for any number of threads. s and the flows
// are a valid pseudoflow after every `advance`.
class GridFlow {
 public:
  virtual ~GridFlow() = default;
  // Works for about `budget` node visits a thread; true when finished.
  virtual bool advance(std::int64_t budget, int threads) = 0;
  // Only after `advance` has returned true.
  virtual void members(bool largest, std::uint8_t* member) = 0;
  virtual Counts counts() const = 0;
  virtual bool finished() const = 0;
};

// A network and the search on it; its labels take memory from the first `advance` on.
template <class Network>
class GridSearch {
 public:
  using Bits = typename Network::Bits;

  // `opened` says that `bits` holds the residual arcs already.
  GridSearch(const GridFlowProblem& problem, Bits* bits, bool opened)
      : network_(std::make_unique<Network>(problem, bits)), opened_(opened) {}

  bool advance(std::int64_t budget) {
    if (finished_) return true;
    while (!opened_ && budget > 0) {
      opened_ = network_->open_next_offset();
      budget -= network_->size() / 8;
    }
    if (!opened_ || budget <= 0) return false;
    if (!search_) {
      network_->allocate_labels();
      search_ = std::make_unique<ResidualSearch<Network>>(*network_);
    }
    return finished_ = search_->advance(budget);
  }

  bool finished() const { return finished_; }
  Counts counts() const { return search_ ? search_->counts() : Counts{}; }
  Network& network() { return *network_; }

 private:
  std::unique_ptr<Network> network_;
  std::unique_ptr<ResidualSearch<Network>> search_;
  bool opened_, finished_ = false;
};

template <class Mask, int Directions>
class StripGridFlow final : public GridFlow {
 public:
  explicit StripGridFlow(const GridFlowProblem& problem)
      : problem_(problem), bits_(static_cast<std::size_t>(problem.size())) {
    const std::int64_t slices = problem.shape[0];
    const std::int64_t strips = std::min({problem.size() / kSmallest, kMostStrips, slices / 2});
    if (strips > 1) {
      rounds_.resize(2);
      for (std::int64_t k = 1; k < strips; ++k) rounds_[0].push_back(slices * k / strips);
      for (std::int64_t k = 0; k < strips; ++k) {
        rounds_[1].push_back(slices * (2 * k + 1) / (2 * strips));
      }
    }
    rounds_.emplace_back();
    cut(false);
  }

  bool advance(std::int64_t budget, int threads) override {
    parallel_for(static_cast<std::int64_t>(strips_.size()), 1, threads,
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t k = first; k < last; ++k) strips_[k].advance(budget);
                 });
    const auto done = [](const Search& strip) { return strip.finished(); };
    if (!std::all_of(strips_.begin(), strips_.end(), done)) return false;
    if (round_ + 1 < rounds_.size()) next_round();
    return finished();
  }

  void members(bool largest, std::uint8_t* member) override {
    if (largest) {
      mark_largest(strips_.front().network(), member);
    } else {
      mark_smallest(strips_.front().network(), member);
    }
  }

  bool finished() const override {
    return round_ + 1 == rounds_.size() && strips_.front().finished();
  }
  Counts counts() const override {
    Counts sum = counts_of_rounds_;
    for (const Search& strip : strips_) sum += strip.counts();
    return sum;
  }

 private:
  using Network = GridNetwork<Mask, Directions>;
  using Search = GridSearch<Network>;
  static constexpr std::int64_t kMostStrips = 16, kSmallest = 1 << 13;

  // Replaces the strips by those of the current round.
  void cut(bool opened) {
    strips_.clear();
    std::int64_t first = 0;
    const auto add = [&](std::int64_t last) {
      strips_.emplace_back(problem_.strip(first, last),
                           bits_.data() + first * problem_.size_of_slice(), opened);
      first = last;
    };
    for (const std::int64_t slice : rounds_[round_]) add(slice);
    add(problem_.shape[0]);
  }

  void next_round() {
    counts_of_rounds_ = counts();
    Network whole(problem_, bits_.data());
    for (const std::int64_t slice : rounds_[round_++]) whole.open_across(slice);
    for (const std::int64_t slice : rounds_[round_]) whole.close_across(slice);
    cut(true);
  }

  GridFlowProblem problem_;
  std::vector<typename Network::Bits> bits_;
  std::vector<std::vector<std::int64_t>> rounds_;  // slices of axis 0 that strips begin with
  std::size_t round_ = 0;
  std::vector<Search> strips_;
  Counts counts_of_rounds_;
};

// The network with the fewest directions that fits; at most kMostOffsets offsets.
inline std::unique_ptr<GridFlow> make_grid_flow(const GridFlowProblem& problem) {
  const std::size_t offsets = problem.edges.size();
  if (offsets <= 2) return std::make_unique<StripGridFlow<std::uint8_t, 4>>(problem);
  if (offsets <= 3) return std::make_unique<StripGridFlow<std::uint8_t, 6>>(problem);
  if (offsets <= 4) return std::make_unique<StripGridFlow<std::uint8_t, 8>>(problem);
  if (offsets <= 9) return std::make_unique<StripGridFlow<std::uint32_t, 18>>(problem);
  return std::make_unique<StripGridFlow<std::uint32_t, 26>>(problem);
}

}  // namespace submin::flow

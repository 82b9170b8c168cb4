// Max-flow on a grid, in strips that grow together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "grid_network.hpp"
#include "grid_search.hpp"
#include "large_pages.hpp"
#include "parallel.hpp"
#include "residual_search.hpp"

namespace submin::flow {

// A resumable solve in rounds: strips along axis 0 by themselves, side by side on the threads, then
// fewer strips, each made of some of the last round with their forests, and at last the whole grid.
// The strips depend on the shape alone, hence the same bits for any number of threads. s and the
// flows are a valid pseudoflow after every `advance`.
class GridFlow {
 public:
  virtual ~GridFlow() = default;
  // Works for about `budget` node visits a thread; true when finished.
  virtual bool advance(std::int64_t budget, int threads) = 0;
  // Only after `advance` has returned true.
  virtual void members(bool largest, std::uint8_t* member) = 0;
  virtual GridCounts counts() const = 0;
  virtual bool finished() const = 0;
};

// What a grid's network and search keep for each node, in one piece of memory. Labels and parents
// have room for a margin at either end of `strips` strips of them.
template <class Network>
class NodeArrays {
 public:
  using Bits = typename Network::Bits;
  using Arc = typename Network::Arc;

  NodeArrays(std::int64_t nodes, std::int64_t strips, std::int64_t margin)
      : length_(static_cast<std::size_t>(nodes + (strips + 1) * margin)),
        parents_at_(length_ * sizeof(Label)),
        bits_at_((parents_at_ + length_ * sizeof(Arc) + sizeof(Bits) - 1) / sizeof(Bits) *
                 sizeof(Bits)),
        memory_(bits_at_ + static_cast<std::size_t>(nodes) * sizeof(Bits)) {
    std::fill_n(labels(), length_, kFree);
    std::fill_n(parents(), length_, Network::none);
  }

  Label* labels() { return reinterpret_cast<Label*>(memory_.data()); }
  Arc* parents() { return reinterpret_cast<Arc*>(memory_.data() + parents_at_); }
  Bits* bits() { return reinterpret_cast<Bits*>(memory_.data() + bits_at_); }

 private:
  std::size_t length_, parents_at_, bits_at_;
  LongVector<unsigned char> memory_;
};

template <class Mask, int Directions>
class StripGridFlow final : public GridFlow {
 public:
  explicit StripGridFlow(const GridFlowProblem& problem)
      : problem_(problem), margin_(furthest_step(problem)),
        arrays_(problem.size(), first_strips(problem), margin_) {
    const std::int64_t slices = problem.shape[0], count = first_strips(problem);
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t first = slices * k / count, last = slices * (k + 1) / count;
      const std::int64_t place = first * problem.size_of_slice() + (k + 1) * margin_;
      strips_.push_back({first, last, place, Search(network(first, last, place))});
    }
  }

  bool advance(std::int64_t budget, int threads) override {
    parallel_for(static_cast<std::int64_t>(strips_.size()), 1, threads,
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t k = first; k < last; ++k) strips_[k].search.advance(budget);
                 });
    const auto stopped = [](const Strip& strip) { return strip.search.has_stopped(); };
    const auto gave_up = [](const Strip& strip) { return strip.search.has_given_up(); };
    if (!std::all_of(strips_.begin(), strips_.end(), stopped)) return false;
    const bool in_vain = std::any_of(strips_.begin(), strips_.end(), gave_up);
    if (strips_.size() > 1) merge(strips_.size() > kFewStrips && !in_vain ? kFewStrips : 1);
    if (in_vain) strips_.front().search.hand_over();
    return finished();
  }

  void members(bool largest, std::uint8_t* member) override {
    Network& whole = strips_.front().search.network();
    const bool reversed = problem_.side < 0;  // the largest minimiser from there is the complement
    if (largest != reversed) {
      mark_largest(whole, member);
    } else {
      mark_smallest(whole, member);
    }
    if (reversed) std::transform(member, member + whole.size(), member, std::logical_not<>());
  }

  bool finished() const override {
    return strips_.size() == 1 && strips_.front().search.finished();
  }
  GridCounts counts() const override {
    GridCounts sum = counts_of_rounds_;
    for (const Strip& strip : strips_) sum += strip.search.counts();
    return sum;
  }

 private:
  using Network = GridNetwork<Mask, Directions>;
  using Search = GridSearch<Network>;
  static constexpr std::int64_t kMostStrips = 16, kSmallest = 1 << 13;
  static constexpr std::size_t kFewStrips = 8;

  struct Strip {
    std::int64_t first, last;  // slices of axis 0
    std::int64_t place;        // of its labels and parents
    Search search;
  };

  static std::int64_t furthest_step(const GridFlowProblem& problem) {
    std::int64_t furthest = 0;
    for (const GridEdges& set : problem.edges)
      furthest = std::max(furthest, std::abs(problem.step(set)));
    return furthest;
  }

  static std::int64_t first_strips(const GridFlowProblem& problem) {
    if (std::getenv("ONE")) return 1;
    std::int64_t reach = 2;  // no strip is shorter than an edge
    for (const GridEdges& set : problem.edges) reach = std::max(reach, std::abs(set.offset[0]));
    return std::max<std::int64_t>(
        std::min({problem.size() / kSmallest, kMostStrips, problem.shape[0] / reach}), 1);
  }

  Network network(std::int64_t first, std::int64_t last, std::int64_t place) {
    return Network(problem_.strip(first, last), arrays_.bits() + first * problem_.size_of_slice(),
                   arrays_.labels() + place, arrays_.parents() + place);
  }

  // Joins neighbouring strips until `count` are left.
  void merge(std::size_t count) {
    counts_of_rounds_ = counts();
    std::vector<Strip> merged;
    const std::size_t before = strips_.size();
    for (std::size_t k = 0; k < count; ++k) {
      const auto part = [&](std::size_t i) { return strips_.begin() + before * i / count; };
      merged.push_back(joined(part(k), part(k + 1)));
    }
    strips_ = std::move(merged);
  }

  // Moves the labels and parents of the strips together.
  template <class Iterator>
  Strip joined(Iterator begin, Iterator end) {
    Label depth = 0;
    std::int64_t spent = 0;
    for (Iterator part = begin; part != end; ++part) {
      const std::int64_t size = part->search.network().size();
      const std::int64_t target =
          begin->place + (part->first - begin->first) * problem_.size_of_slice();
      std::copy_n(arrays_.labels() + part->place, size, arrays_.labels() + target);
      std::copy_n(arrays_.parents() + part->place, size, arrays_.parents() + target);
      depth = std::max(depth, part->search.depth());
      spent += part->search.spent();
    }
    const std::int64_t first = begin->first, last = (end - 1)->last;
    const std::int64_t stop = begin->place + (last - first) * problem_.size_of_slice();
    std::fill_n(arrays_.labels() + stop, margin_, kFree);
    std::fill_n(arrays_.parents() + stop, margin_, Network::none);
    Strip strip{first, last, begin->place, Search(network(first, last, begin->place), depth, spent)};
    for (Iterator part = begin + 1; part != end; ++part)
      strip.search.open_across(part->first - first);
    return strip;
  }

  GridFlowProblem problem_;
  std::int64_t margin_;
  NodeArrays<Network> arrays_;
  std::vector<Strip> strips_;
  GridCounts counts_of_rounds_;
};

// Whether more nodes have excess than deficits, of a sample that no axis is in step with.
inline bool excess_is_wider(const GridFlowProblem& problem) {
  const std::int64_t size = problem.size();
  std::int64_t wider = 0;
  for (std::int64_t v = 0; v < size; v += 13)
    wider += std::int64_t{problem.imbalance[v] < 0} - std::int64_t{problem.imbalance[v] > 0};
  return wider > 0;
}

// The network with the fewest directions that fits; at most kMostOffsets offsets. The forests grow
// on the side of more nodes, as many roots have short paths and few repairs.
inline std::unique_ptr<GridFlow> make_grid_flow(const GridFlowProblem& given) {
  const GridFlowProblem problem = excess_is_wider(given) ? given.reversed() : given;
  const std::size_t offsets = problem.edges.size();
  if (offsets <= 2) return std::make_unique<StripGridFlow<std::uint8_t, 4>>(problem);
  if (offsets <= 3) return std::make_unique<StripGridFlow<std::uint8_t, 6>>(problem);
  if (offsets <= 4) return std::make_unique<StripGridFlow<std::uint8_t, 8>>(problem);
  if (offsets <= 9) return std::make_unique<StripGridFlow<std::uint32_t, 18>>(problem);
  return std::make_unique<StripGridFlow<std::uint32_t, 26>>(problem);
}

}  // namespace submin::flow

// Max-flow on a grid: in strips that grow together, or by the pseudoflow algorithm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/large_pages.hpp"
#include "core/parallel.hpp"
#include "flow/grid_network.hpp"
#include "flow/grid_search.hpp"
#include "flow/grid_trees.hpp"
#include "flow/pseudoflow.hpp"
#include "flow/residual_search.hpp"

namespace submin::flow {

struct GridCounts {
  Counts search;
  PseudoflowCounts trees;
};

// A resumable solve. s and the flows are a valid pseudoflow after every `advance`.
class GridFlow {
 public:
  virtual ~GridFlow() = default;
  // Works for about `budget` node visits a thread; true when finished.
  virtual bool advance(std::int64_t budget, int threads) = 0;
  // Only after `advance` has returned true.
  virtual void members(bool largest, std::uint8_t* member) = 0;
  virtual GridCounts counts() const = 0;
  virtual std::int64_t visits() const = 0;
  virtual bool finished() const = 0;
  virtual bool gave_up() const = 0;
  // Only of a finished search that is to go on.
  virtual void set_costs(const Index*, const double*, std::int64_t) {}
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

inline std::int64_t furthest_step(const GridFlowProblem& problem) {
  std::int64_t furthest = 0;
  for (const GridEdges& set : problem.edges)
    furthest = std::max(furthest, std::abs(problem.step(set)));
  return furthest;
}

// In a finished network. The largest minimiser from the other side is the complement.
template <class Network>
void mark_members(Network& network, double side, bool largest, std::uint8_t* member) {
  const bool reversed = side < 0;
  if (largest != reversed) {
    mark_largest(network, member);
  } else {
    mark_smallest(network, member);
  }
  if (reversed) std::transform(member, member + network.size(), member, std::logical_not<>());
}

// In rounds: strips along axis 0 by themselves, side by side on the threads, then fewer strips,
// each made of some of the last round with their forests, and at last the whole grid. The strips
// depend on the shape alone, hence the same bits for any number of threads.
//
// Where paths are long and break often, as in mazes, the forests are mended over and over. So all
// gives up after `patience` visits a node, of the whole grid: strips pause after as many of their
// own, and while there are few in sum the limit of a strip doubles. Visits are counted, and no time
// is taken, so that this depends on the problem alone, too.
template <class Mask, int Directions>
class StripGridFlow final : public GridFlow {
 public:
  StripGridFlow(const GridFlowProblem& problem, std::int64_t patience)
      : problem_(problem),
        patience_(patience),
        limit_(patience),
        most_visits_(patience * problem.size()),
        margin_(furthest_step(problem)),
        arrays_(problem.size(), first_strips(problem), margin_) {
    const std::int64_t slices = problem.shape[0], count = first_strips(problem);
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t first = slices * k / count, last = slices * (k + 1) / count;
      const std::int64_t place = first * problem.size_of_slice() + (k + 1) * margin_;
      strips_.push_back({first, last, place, Search(network(first, last, place))});
    }
  }

  bool advance(std::int64_t budget, int threads) override {
    if (gave_up_) return false;
    parallel_for(static_cast<std::int64_t>(strips_.size()), 1, threads,
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t k = first; k < last; ++k) {
                     strips_[k].search.advance(budget, limit_);
                   }
                 });
    const auto of_all = [&](auto test) {
      return std::all_of(strips_.begin(), strips_.end(), test);
    };
    if (of_all([](const Strip& strip) { return strip.search.finished(); })) {
      if (strips_.size() > 1) merge(strips_.size() > kFewStrips ? kFewStrips : 1);
    } else if (of_all([&](const Strip& strip) { return strip.search.has_stopped(limit_); })) {
      gave_up_ = visits() >= most_visits_;
      limit_ *= 2;
    }
    return finished();
  }

  // Of a finished search: `advance` goes on with other costs of some nodes, and as much patience as
  // at first. Labels grow from change to change; before they are too large the forests are grown
  // anew.
  void set_costs(const Index* nodes, const double* costs, std::int64_t count) override {
    Search& search = strips_.front().search;
    for (std::int64_t k = 0; k < count; ++k) search.set_cost(nodes[k], costs[k]);
    const std::int64_t most = std::int64_t{kPending} - kStep * (problem_.size() + 2);
    if (search.depth() > std::min<std::int64_t>(kDeepest, most)) search.begin_again();
    most_visits_ = visits() + patience_ * problem_.size();
    limit_ = most_visits_ / problem_.size();
  }

  void members(bool largest, std::uint8_t* member) override {
    mark_members(strips_.front().search.network(), problem_.side, largest, member);
  }

  bool finished() const override {
    return strips_.size() == 1 && strips_.front().search.finished();
  }
  bool gave_up() const override { return gave_up_; }
  GridCounts counts() const override {
    GridCounts sum = {counts_of_rounds_, {}};
    for (const Strip& strip : strips_) sum.search += strip.search.counts();
    return sum;
  }
  std::int64_t visits() const override {
    std::int64_t sum = 0;
    for (const Strip& strip : strips_) sum += strip.search.visits();
    return sum;
  }

 private:
  using Network = GridNetwork<Mask, Directions>;
  using Search = GridSearch<Network>;
  static constexpr std::int64_t kMostStrips = 16, kSmallest = 1 << 13;
  static constexpr std::size_t kFewStrips = 8;
  static constexpr std::int64_t kDeepest = 1 << 20;

  struct Strip {
    std::int64_t first, last;  // slices of axis 0
    std::int64_t place;        // of its labels and parents
    Search search;
  };

  static std::int64_t first_strips(const GridFlowProblem& problem) {
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
    counts_of_rounds_ = counts().search;
    std::vector<Strip> merged;
    const std::size_t before = strips_.size();
    for (std::size_t k = 0; k < count; ++k) {
      const auto part = [&](std::size_t i) { return strips_.begin() + before * i / count; };
      merged.push_back(joined(part(k), part(k + 1)));
    }
    strips_ = std::move(merged);
    limit_ = patience_;
  }

  // Moves the labels and parents of the strips together.
  template <class Iterator>
  Strip joined(Iterator begin, Iterator end) {
    Label depth = 0;
    std::int64_t visits = 0;
    for (Iterator part = begin; part != end; ++part) {
      const std::int64_t size = part->search.network().size();
      const std::int64_t target =
          begin->place + (part->first - begin->first) * problem_.size_of_slice();
      std::copy_n(arrays_.labels() + part->place, size, arrays_.labels() + target);
      std::copy_n(arrays_.parents() + part->place, size, arrays_.parents() + target);
      depth = std::max(depth, part->search.depth());
      visits += part->search.visits();
    }
    const std::int64_t first = begin->first, last = (end - 1)->last;
    const std::int64_t stop = begin->place + (last - first) * problem_.size_of_slice();
    std::fill_n(arrays_.labels() + stop, margin_, kFree);
    std::fill_n(arrays_.parents() + stop, margin_, Network::none);
    Strip strip{first, last, begin->place,
                Search(network(first, last, begin->place), depth, visits)};
    for (Iterator part = begin + 1; part != end; ++part)
      strip.search.open_across(part->first - first);
    return strip;
  }

  GridFlowProblem problem_;
  std::int64_t patience_, limit_;  // visits a node
  std::int64_t most_visits_;       // before it gives up
  std::int64_t margin_;
  NodeArrays<Network> arrays_;
  std::vector<Strip> strips_;
  Counts counts_of_rounds_;
  bool gave_up_ = false;
};

// By the pseudoflow algorithm on the whole grid, and then a search that makes the forest of its
// flow.
template <class Mask, int Directions>
class TreeGridFlow final : public GridFlow {
 public:
  explicit TreeGridFlow(const GridFlowProblem& problem)
      : problem_(problem),
        arrays_(problem.size(), 1, furthest_step(problem)),
        network_(problem, arrays_.bits(), arrays_.labels() + furthest_step(problem),
                 arrays_.parents() + furthest_step(problem)) {
    while (!network_.open_next_offset()) continue;
    trees_ = std::make_unique<Trees>(network_);
    flow_ = std::make_unique<Pseudoflow<Trees>>(*trees_, true);
  }

  bool advance(std::int64_t budget, int) override {
    if (!search_) {
      if (flow_->advance(budget)) search_ = std::make_unique<Search>(network_);
      return false;
    }
    return finished_ = search_->advance(budget);
  }

  void members(bool largest, std::uint8_t* member) override {
    mark_members(network_, problem_.side, largest, member);
  }

  bool finished() const override { return finished_; }
  bool gave_up() const override { return false; }
  GridCounts counts() const override {
    return {search_ ? search_->counts() : Counts{}, flow_->counts()};
  }
  std::int64_t visits() const override {
    return flow_->visits() + (search_ ? search_->visits() : 0);
  }

 private:
  using Network = GridNetwork<Mask, Directions>;
  using Trees = GridTrees<Network>;
  using Search = ResidualSearch<Network>;

  GridFlowProblem problem_;
  NodeArrays<Network> arrays_;
  Network network_;
  std::unique_ptr<Trees> trees_;
  std::unique_ptr<Pseudoflow<Trees>> flow_;
  std::unique_ptr<Search> search_;
  bool finished_ = false;
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
template <template <class, int> class Flow, class... Settings>
std::unique_ptr<GridFlow> make_grid_flow(const GridFlowProblem& given, Settings... settings) {
  const GridFlowProblem problem = excess_is_wider(given) ? given.reversed() : given;
  const std::size_t offsets = problem.edges.size();
  if (offsets <= 2) return std::make_unique<Flow<std::uint8_t, 4>>(problem, settings...);
  if (offsets <= 3) return std::make_unique<Flow<std::uint8_t, 6>>(problem, settings...);
  if (offsets <= 4) return std::make_unique<Flow<std::uint8_t, 8>>(problem, settings...);
  if (offsets <= 9) return std::make_unique<Flow<std::uint32_t, 18>>(problem, settings...);
  if (offsets <= 13) return std::make_unique<Flow<std::uint32_t, 26>>(problem, settings...);
  return std::make_unique<Flow<std::uint32_t, 32>>(problem, settings...);
}

}  // namespace submin::flow

// Max-flow on one strip of a grid: by the search along forests, and by the pseudoflow algorithm where
// that one takes too long.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "grid_trees.hpp"
#include "pseudoflow.hpp"
#include "residual_search.hpp"

namespace submin::flow {

// What was done on a grid: by the search along forests, and by the pseudoflow algorithm.
struct GridCounts {
  Counts search;
  PseudoflowCounts trees;
  std::int64_t visits = 0;

  GridCounts& operator+=(const GridCounts& other) {
    search += other.search;
    trees += other.trees;
    visits += other.visits;
    return *this;
  }
};

// A network and the search on it. Where paths are long and break often, as in mazes, the forests are
// mended over and over; after kPatience visits a node the search gives up, and is to hand over to
// the pseudoflow algorithm. Visits are counted, and no time is taken, so that the flow depends on
// the problem alone.
template <class Network>
class GridSearch {
 public:
  explicit GridSearch(const Network& network)
      : network_(std::make_unique<Network>(network)),
        search_(std::make_unique<Search>(*network_)), opened_(false) {}
  // `spent` are the visits of earlier searches on its parts, which left forests up to `depth`.
  GridSearch(const Network& network, Label depth, std::int64_t spent)
      : network_(std::make_unique<Network>(network)),
        search_(std::make_unique<Search>(*network_, depth)), spent_(spent), opened_(true) {}

  // Works for about `budget` node visits, until it has finished or given up.
  void advance(std::int64_t budget) {
    while (!opened_ && budget > 0) {
      opened_ = network_->open_next_offset();
      budget -= network_->size() / 8;
    }
    if (!opened_ || budget <= 0 || has_stopped()) return;
    if (trees_) {
      advance_trees(budget);
    } else {
      advance_search(budget);
    }
  }
  bool finished() const { return finished_; }
  bool has_given_up() const { return !finished_ && patient_ && spent_ >= most_visits(); }
  bool has_stopped() const { return finished_ || has_given_up(); }

  // Takes in what new residual arcs across a slice join to the forest.
  void open_across(std::int64_t slice) {
    network_->open_across(slice, [&](Index v, auto arc) { search_->admit(v, arc); });
  }
  // Leaves the rest to the pseudoflow algorithm, and the forest of its flow to another search.
  void hand_over() {
    counts_ = counts();
    search_.reset();
    trees_ = std::make_unique<TreeSearch>(*network_);
    patient_ = false;
  }

  Label depth() const { return search_->depth(); }
  std::int64_t spent() const { return spent_; }
  GridCounts counts() const {
    GridCounts counts = counts_;
    if (search_) counts += {search_->counts(), {}, search_->visits()};
    if (trees_) counts += {{}, trees_->search.counts(), trees_->search.visits()};
    return counts;
  }
  Network& network() { return *network_; }

 private:
  using Search = ResidualSearch<Network>;
  static inline const std::int64_t kPatience = std::getenv("PAT") ? std::atoll(std::getenv("PAT")) : 32;

  struct TreeSearch {
    explicit TreeSearch(Network& network) : trees(network), search(trees, true) {}
    GridTrees<Network> trees;
    Pseudoflow<GridTrees<Network>> search;
  };

  std::int64_t most_visits() const { return kPatience * network_->size(); }

  void advance_search(std::int64_t budget) {
    const std::int64_t before = search_->visits();
    finished_ = search_->advance(patient_ ? std::min(budget, most_visits() - spent_) : budget);
    spent_ += search_->visits() - before;
  }

  void advance_trees(std::int64_t budget) {
    if (!trees_->search.advance(budget)) return;
    counts_ = counts();
    trees_.reset();
    search_ = std::make_unique<Search>(*network_);
  }

  std::unique_ptr<Network> network_;  // in one place: the searches refer to it
  std::unique_ptr<Search> search_;
  std::unique_ptr<TreeSearch> trees_;
  GridCounts counts_;  // of those that are over
  std::int64_t spent_ = 0;
  bool opened_, patient_ = true, finished_ = false;
};

}  // namespace submin::flow

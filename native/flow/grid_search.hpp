// The search along forests on one strip of a grid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "flow/residual_search.hpp"

namespace submin::flow {

// A network and the search on it, which pauses after some visits.
template <class Network>
class GridSearch {
 public:
  explicit GridSearch(const Network& network)
      : network_(std::make_unique<Network>(network)),
        search_(std::make_unique<ResidualSearch<Network>>(*network_)),
        opened_(false) {}
  // Of parts whose searches have left forests up to `depth`, after so many visits.
  GridSearch(const Network& network, Label depth, std::int64_t visits)
      : network_(std::make_unique<Network>(network)),
        search_(std::make_unique<ResidualSearch<Network>>(*network_, depth)),
        visits_before_(visits),
        opened_(true) {}

  // Works for about `budget` node visits, until it has finished or made `limit` of them a node.
  void advance(std::int64_t budget, std::int64_t limit) {
    while (!opened_ && budget > 0) {
      opened_ = network_->open_next_offset();
      budget -= network_->size() / 8;
    }
    if (!opened_ || finished_) return;
    finished_ = search_->advance(std::min(budget, limit * size() - visits()));
  }
  bool finished() const { return finished_; }
  bool has_stopped(std::int64_t limit) const { return finished_ || visits() >= limit * size(); }

  // Of a finished search: goes on with another cost of v.
  void set_cost(Index v, double cost) {
    search_->change(v, network_->deficit_of(v, cost));
    finished_ = false;
  }

  // Grows new forests, of low labels.
  void begin_again() {
    visits_before_ = visits();
    search_ = std::make_unique<ResidualSearch<Network>>(*network_);
    finished_ = false;
  }

  // Takes in what new residual arcs across a slice join to the forest.
  void open_across(std::int64_t slice) {
    network_->open_across(slice, [&](Index v, auto arc) { search_->admit(v, arc); });
  }

  std::int64_t size() const { return network_->size(); }
  Label depth() const { return search_->depth(); }
  std::int64_t visits() const { return visits_before_ + search_->visits(); }
  const Counts& counts() const { return search_->counts(); }
  Network& network() { return *network_; }

 private:
  std::unique_ptr<Network> network_;  // in one place: the search refers to it
  std::unique_ptr<ResidualSearch<Network>> search_;
  std::int64_t visits_before_ = 0;
  bool opened_, finished_ = false;
};

}  // namespace submin::flow

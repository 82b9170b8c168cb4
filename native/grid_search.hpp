// The search along forests on one strip of a grid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "residual_search.hpp"

namespace submin::flow {

// A network and the search on it. Where paths are long and break often, as in mazes, the forests are
// mended over and over; after `patience` visits a node the search gives up. Visits are counted, and
// no time is taken, so that this depends on the problem alone.
template <class Network>
class GridSearch {
 public:
  GridSearch(const Network& network, std::int64_t patience)
      : network_(std::make_unique<Network>(network)),
        search_(std::make_unique<ResidualSearch<Network>>(*network_)),
        most_visits_(patience * network.size()), opened_(false) {}
  // Of parts whose searches have left forests up to `depth`, after so many visits.
  GridSearch(const Network& network, std::int64_t patience, Label depth, std::int64_t visits)
      : network_(std::make_unique<Network>(network)),
        search_(std::make_unique<ResidualSearch<Network>>(*network_, depth)),
        visits_before_(visits), most_visits_(patience * network.size()), opened_(true) {}

  // Works for about `budget` node visits, until it has finished or given up.
  void advance(std::int64_t budget) {
    while (!opened_ && budget > 0) {
      opened_ = network_->open_next_offset();
      budget -= network_->size() / 8;
    }
    if (!opened_ || budget <= 0 || has_stopped()) return;
    finished_ = search_->advance(std::min(budget, most_visits_ - visits()));
  }
  bool finished() const { return finished_; }
  bool gave_up() const { return !finished_ && visits() >= most_visits_; }
  bool has_stopped() const { return finished_ || gave_up(); }

  // Takes in what new residual arcs across a slice join to the forest.
  void open_across(std::int64_t slice) {
    network_->open_across(slice, [&](Index v, auto arc) { search_->admit(v, arc); });
  }

  Label depth() const { return search_->depth(); }
  std::int64_t visits() const { return visits_before_ + search_->visits(); }
  const Counts& counts() const { return search_->counts(); }
  Network& network() { return *network_; }

 private:
  std::unique_ptr<Network> network_;  // in one place: the search refers to it
  std::unique_ptr<ResidualSearch<Network>> search_;
  std::int64_t visits_before_ = 0, most_visits_;
  bool opened_, finished_ = false;
};

}  // namespace submin::flow

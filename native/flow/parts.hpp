// Parts of a graph, each in arrays of its own piece, and the cut that splits one.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/compensated.hpp"
#include "core/large_pages.hpp"
#include "flow/graph_flow.hpp"

namespace submin::flow {

// Nodes and edges of all parts, one part after the other. Ends are numbered within the part;
// `costs` are those of the nodes and the flow out of the part.
struct PartArrays {
  LongVector<Index> nodes, edges;  // of the whole
  LongVector<double> costs, masses, imbalance;
  LongVector<Index> tails, heads;
  LongVector<double> backward, forward, flow;

  void resize(Index node_count, std::int64_t edge_count) {
    const auto n = static_cast<std::size_t>(node_count);
    const auto m = static_cast<std::size_t>(edge_count);
    nodes.resize(n);
    for (auto* values : {&costs, &masses, &imbalance}) values->resize(n);
    for (auto* ends : {&edges, &tails, &heads}) ends->resize(m);
    for (auto* values : {&backward, &forward, &flow}) values->resize(m);
  }
  void set_edge(std::int64_t place, std::int64_t edge, Index tail, Index head,
                const GraphFlowProblem& whole) {
    edges[place] = static_cast<Index>(edge);
    tails[place] = tail;
    heads[place] = head;
    backward[place] = whole.backward[edge];
    forward[place] = whole.forward[edge];
    flow[place] = whole.flow[edge];
  }
};

struct Part {
  Index first, size;  // nodes
  std::int64_t first_edge, edges;
};

// What a split needs besides, kept from one to the next.
struct SplitMemory {
  std::vector<std::uint8_t> sides;
  std::vector<Index> local, indices;
  std::vector<double> values;
};

// The minimum cut of a part at the level where all of it and nothing cost the same. A part without
// mass has no such level, and is in or out at all costs.
//
// A root of the search collects the excess of many nodes, and what its sum rounds off is missing in
// the end. So imbalances are measured again, and the search goes on with what is misplaced, as long
// as that halves it.
class PartCut {
 public:
  PartCut(PartArrays& arrays, const Part& part) : arrays_(arrays), part_(part) {
    Compensated sums, masses_of_all;  // the flow inside cancels
    double size = 0.0;
    for (Index v = 0; v < part.size; ++v) {
      const double cost = arrays.costs[part.first + v];
      sums.add(cost);
      masses_of_all.add(masses()[v]);
      size += std::abs(cost);
    }
    const double sum = sums.rounded(), mass = masses_of_all.rounded();
    level_ = mass > 0 ? -sum / mass : sum < 0 ? kInfinity : sum > 0 ? -kInfinity : 0.0;
    if (part.size == 1) return;
    for (std::int64_t e = part.first_edge; e < part.first_edge + part.edges; ++e)
      size += 2.0 * std::abs(arrays.flow[e]);
    rounding_ = 4.0 * std::numeric_limits<double>::epsilon() * size;
    measure_imbalance();
    if (lower_to_level() > rounding_) flow_ = std::make_unique<GraphFlow>(problem(), true);
  }

  bool advance(std::int64_t budget) {
    while (flow_ && !settled_) {
      if (!flow_->advance(budget)) return false;
      settled_ = !search_again();
    }
    return true;
  }
  bool finished() const { return !flow_ || settled_; }
  double level() const { return level_; }
  const Part& part() const { return part_; }

  // After the end: the nodes of the set that has more excess than rounding can make, or nothing.
  const std::vector<std::uint8_t>* above() const {
    return excess_ > rounding_ && parted_ ? &member_ : nullptr;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  double* imbalance() const { return arrays_.imbalance.data() + part_.first; }
  const double* masses() const { return arrays_.masses.data() + part_.first; }

  void measure_imbalance() const {
    std::copy_n(arrays_.costs.data() + part_.first, part_.size, imbalance());
    for (std::int64_t e = part_.first_edge; e < part_.first_edge + part_.edges; ++e) {
      imbalance()[arrays_.tails[e]] += arrays_.flow[e];
      imbalance()[arrays_.heads[e]] -= arrays_.flow[e];
    }
  }

  // Returns the sum of all excess. A part without mass is as it is at every level.
  double lower_to_level() const {
    const double level = std::isfinite(level_) ? level_ : 0.0;
    double excess = 0.0;
    for (Index v = 0; v < part_.size; ++v) {
      imbalance()[v] += level * masses()[v];
      excess += std::max(-imbalance()[v], 0.0);
    }
    return excess;
  }

  // A maximum flow leaves no deficits in the set and no excess outside: these are misplaced.
  bool search_again() {
    member_.resize(static_cast<std::size_t>(part_.size));
    flow_->members(false, member_.data());
    measure_imbalance();
    excess_ = lower_to_level();
    double misplaced = 0.0;
    Index inside = 0;
    for (Index v = 0; v < part_.size; ++v) {
      inside += member_[v];
      misplaced += std::max(member_[v] ? imbalance()[v] : -imbalance()[v], 0.0);
    }
    parted_ = 0 < inside && inside < part_.size;
    if (!(misplaced > rounding_ && misplaced < 0.5 * misplaced_)) return false;
    misplaced_ = misplaced;
    const double most = 4.0 * misplaced;
    for (Index v = 0; v < part_.size; ++v) imbalance()[v] = clip(imbalance()[v], -most, most);
    flow_ = std::make_unique<GraphFlow>(problem(), true);
    return true;
  }

  GraphFlowProblem problem() const {
    const std::int64_t e = part_.first_edge;
    return {part_.size,
            part_.edges,
            arrays_.tails.data() + e,
            arrays_.heads.data() + e,
            {arrays_.backward.data() + e, false},
            {arrays_.forward.data() + e, false},
            arrays_.flow.data() + e,
            imbalance()};
  }

  PartArrays& arrays_;
  Part part_;
  double level_, rounding_ = 0.0, excess_ = 0.0, misplaced_ = kInfinity;
  bool settled_ = false, parted_ = false;
  std::vector<std::uint8_t> member_;
  std::unique_ptr<GraphFlow> flow_;
};

constexpr std::uint8_t kBetween = 2;  // an edge between the sides, which are 1 above and 0 below

// Values of side 1 first, then those of side 0, each in their order; returns how many of side 1.
template <class Value>
std::int64_t divide_values(Value* values, std::int64_t size, const std::uint8_t* sides,
                           std::vector<Value>& rest) {
  std::int64_t first = 0;
  rest.clear();
  for (std::int64_t i = 0; i < size; ++i) {
    if (sides[i] == 1) values[first++] = values[i];
    if (sides[i] == 0) rest.push_back(values[i]);
  }
  std::copy(rest.begin(), rest.end(), values + first);
  return first;
}

// Numbers the members of a part and the others, each by themselves; returns how many are members.
inline Index number_sides(const std::vector<std::uint8_t>& member, SplitMemory& memory) {
  Index counts[2] = {0, 0};
  memory.local.resize(member.size());
  for (std::size_t v = 0; v < member.size(); ++v) memory.local[v] = counts[member[v] != 0]++;
  return counts[1];
}

// Says on which side each edge is, and gives its ends their new numbers. Edges between the sides
// are full, and stay so: leaves(edge of the whole, flow) is called for them, and their flow becomes
// a cost. Returns how many they are.
template <class Leaves>
std::int64_t side_edges(PartArrays& arrays, const Part& part,
                        const std::vector<std::uint8_t>& member, SplitMemory& memory,
                        const Leaves& leaves) {
  double* const costs = arrays.costs.data() + part.first;
  std::int64_t left = 0;
  memory.sides.resize(static_cast<std::size_t>(part.edges));
  for (std::int64_t i = 0; i < part.edges; ++i) {
    const std::int64_t e = part.first_edge + i;
    const Index tail = arrays.tails[e], head = arrays.heads[e];
    memory.sides[i] = member[tail] == member[head] ? member[tail] : kBetween;
    arrays.tails[e] = memory.local[tail];
    arrays.heads[e] = memory.local[head];
    if (memory.sides[i] != kBetween) continue;
    costs[tail] += arrays.flow[e];
    costs[head] -= arrays.flow[e];
    leaves(arrays.edges[e], arrays.flow[e]);
    ++left;
  }
  return left;
}

// Divides a part into the members above and the others below; see `side_edges`.
template <class Leaves>
std::array<Part, 2> split(PartArrays& arrays, const Part& part,
                          const std::vector<std::uint8_t>& member, SplitMemory& memory,
                          const Leaves& leaves) {
  const Index above = number_sides(member, memory);
  const std::int64_t left = side_edges(arrays, part, member, memory, leaves);
  divide_values(arrays.nodes.data() + part.first, part.size, member.data(), memory.indices);
  for (auto* values : {&arrays.costs, &arrays.masses})
    divide_values(values->data() + part.first, part.size, member.data(), memory.values);
  const std::uint8_t* const sides = memory.sides.data();
  const std::int64_t start = part.first_edge;
  std::int64_t inner = 0;
  for (auto* ends : {&arrays.edges, &arrays.tails, &arrays.heads})
    inner = divide_values(ends->data() + start, part.edges, sides, memory.indices);
  for (auto* values : {&arrays.backward, &arrays.forward, &arrays.flow})
    divide_values(values->data() + start, part.edges, sides, memory.values);
  return {Part{part.first, above, start, inner},
          Part{part.first + above, part.size - above, start + inner, part.edges - left - inner}};
}

}  // namespace submin::flow

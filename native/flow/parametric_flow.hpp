// All level sets of a cut function with costs that fall in a parameter: x of the least
// f(x) + sum_v m_v x_v^2 / 2, by divide and conquer (Hochbaum, J. ACM 2001,
// doi:10.1145/384006.384008; Chambolle and Darbon, IJCV 2009, doi:10.1007/s11263-009-0238-9).
//
//   plateaus <- what disputed edges join at the flow given: all, or nearly the level sets of x
//   Repeat:
//     Divide every part V: its level is x = -s(V) / m(V); a minimum cut of the part at this level
//     finds the set S of most excess. None? Then x is right on all of V. Else S is above and V \ S
//     below: the edges between them are full, their flow becomes a cost, and both are parts.
//     Conquer: plateaus that dispute an edge, as a residual arc leads from a higher x to a lower,
//     are one part again. Where there are none, x and the flow prove each other.
//
// The flow given only has to be within its bounds; the nearer it is to the answer, the smaller are
// the parts and the less is left to their cuts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "flow/graph_flow.hpp"
#include "flow/parts.hpp"

namespace submin::flow {

class DisjointSets {
 public:
  explicit DisjointSets(Index size) : parent_(static_cast<std::size_t>(size)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  Index find(Index v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  // The smallest number stands for all.
  void join(Index a, Index b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<Index> parent_;
};

struct ParametricProblem {
  GraphFlowProblem graph;
  const double* costs;
  const double* masses;
  double* x;
  Index* plateau;  // at first, which nodes may be together; in the end the first node of the same
};

// A resumable solve; the flow is within its bounds after every `advance`, and x is known at the
// end. Mass may be 0; x is infinite where a set has no mass at all and wants in or out.
class ParametricFlow {
 public:
  explicit ParametricFlow(const ParametricProblem& problem)
      : graph_(problem.graph),
        costs_(problem.costs),
        masses_(problem.masses),
        x_(problem.x),
        plateau_(problem.plateau) {
    guess_x();
    guess_plateaus();
    arrays_.resize(size(), graph_.edges);
    collect(std::vector<std::uint8_t>(static_cast<std::size_t>(size()), 1));
  }

  // Works for about `budget` node visits a thread; true when finished.
  bool advance(std::int64_t budget, int threads) {
    if (finished_) return true;
    divide(budget, threads);
    if (small_.empty() && large_.empty()) finished_ = ++rounds_ >= kMostRounds || !conquer();
    return finished_;
  }
  bool finished() const { return finished_; }
  std::int64_t rounds() const { return rounds_; }

 private:
  using Cut = std::unique_ptr<PartCut>;

  static constexpr Index kSmall = 4096;       // nodes of a part that one thread does to the end
  static constexpr std::int64_t kGrain = 64;  // small parts in a piece of parallel work
  static constexpr std::int64_t kMostRounds = 1000;  // should rounding play at joining and dividing
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max() / 2;

  Index size() const { return static_cast<Index>(graph_.nodes); }

  // Whether a residual arc leads from a higher x to a lower, or from like to like.
  bool disputed(std::int64_t e) const {
    return x_[graph_.tails[e]] > x_[graph_.heads[e]] ? graph_.flow[e] < graph_.forward[e]
                                                     : -graph_.flow[e] < graph_.backward[e];
  }
  bool residual(std::int64_t e) const {
    return graph_.flow[e] < graph_.forward[e] || -graph_.flow[e] < graph_.backward[e];
  }

  void guess_x() {
    for (Index v = 0; v < size(); ++v) x_[v] = -costs_[v];
    for (std::int64_t e = 0; e < graph_.edges; ++e) {
      x_[graph_.tails[e]] -= graph_.flow[e];
      x_[graph_.heads[e]] += graph_.flow[e];
    }
    for (Index v = 0; v < size(); ++v) x_[v] = masses_[v] > 0 ? x_[v] / masses_[v] : 0.0;
  }

  void guess_plateaus() {
    DisjointSets sets(size());
    for (std::int64_t e = 0; e < graph_.edges; ++e) {
      const Index tail = graph_.tails[e], head = graph_.heads[e];
      if (plateau_[tail] != plateau_[head]) continue;
      const bool heavy = masses_[tail] > 0 && masses_[head] > 0;
      if (heavy ? disputed(e) : residual(e)) sets.join(tail, head);
    }
    if (std::any_of(masses_, masses_ + size(), [](double mass) { return !(mass > 0); }))
      join_weightless(sets);
    for (Index v = 0; v < size(); ++v) plateau_[v] = sets.find(v);
  }

  // Every plateau has a mass then, unless none of its neighbours has one.
  void join_weightless(DisjointSets& sets) const {
    std::vector<double> mass(static_cast<std::size_t>(size()));
    for (Index v = 0; v < size(); ++v) mass[sets.find(v)] += masses_[v];
    for (std::int64_t e = 0; e < graph_.edges; ++e) {
      const Index a = sets.find(graph_.tails[e]), b = sets.find(graph_.heads[e]);
      if (a == b || (mass[a] > 0 && mass[b] > 0)) continue;
      sets.join(a, b);
      mass[std::min(a, b)] = mass[a] + mass[b];
    }
  }

  // Makes parts of the plateaus whose first node is marked.
  void collect(const std::vector<std::uint8_t>& marked) {
    std::vector<Part> parts;
    std::vector<Index> number(static_cast<std::size_t>(size()), kNobody), local(number);
    for (Index v = 0; v < size(); ++v) {
      if (!marked[plateau_[v]]) continue;
      if (plateau_[v] == v) {
        number[v] = static_cast<Index>(parts.size());
        parts.push_back({0, 0, 0, 0});
      }
      local[v] = parts[number[plateau_[v]]].size++;
    }
    const auto part_of = [&](Index v) { return number[plateau_[v]]; };
    for (std::int64_t e = 0; e < graph_.edges; ++e) {
      const Index tail = part_of(graph_.tails[e]);
      if (tail != kNobody && tail == part_of(graph_.heads[e])) ++parts[tail].edges;
    }
    for (std::size_t k = 1; k < parts.size(); ++k) {
      parts[k].first = parts[k - 1].first + parts[k - 1].size;
      parts[k].first_edge = parts[k - 1].first_edge + parts[k - 1].edges;
    }
    fill(parts, part_of, local);
    for (const Part& part : parts) add(part);
  }

  template <class PartOf>
  void fill(const std::vector<Part>& parts, const PartOf& part_of,
            const std::vector<Index>& local) {
    const auto place = [&](Index v) { return parts[part_of(v)].first + local[v]; };
    for (Index v = 0; v < size(); ++v) {
      if (part_of(v) == kNobody) continue;
      arrays_.nodes[place(v)] = v;
      arrays_.costs[place(v)] = costs_[v];
      arrays_.masses[place(v)] = masses_[v];
    }
    std::vector<std::int64_t> next(parts.size());
    std::transform(parts.begin(), parts.end(), next.begin(),
                   [](const Part& part) { return part.first_edge; });
    for (std::int64_t e = 0; e < graph_.edges; ++e) {
      const Index tail = graph_.tails[e], head = graph_.heads[e];
      if (part_of(tail) != part_of(head)) {
        if (part_of(tail) != kNobody) arrays_.costs[place(tail)] += graph_.flow[e];
        if (part_of(head) != kNobody) arrays_.costs[place(head)] -= graph_.flow[e];
      } else if (part_of(tail) != kNobody) {
        arrays_.set_edge(next[part_of(tail)]++, e, local[tail], local[head], graph_);
      }
    }
  }

  void add(const Part& part) {
    if (part.size <= kSmall) {
      small_.push_back(part);
    } else {
      large_.push_back(std::make_unique<PartCut>(arrays_, part));
    }
  }

  // One cut, or a piece of it, for every large part; after them, small parts of that many nodes.
  void divide(std::int64_t budget, int threads) {
    const auto count = static_cast<std::int64_t>(large_.size());
    parallel_for(count, 1, threads, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t k = first; k < last; ++k) large_[k]->advance(budget);
    });
    for (Cut& cut : std::exchange(large_, {})) {
      SplitMemory memory;
      store_flow(cut->part());
      if (!cut->finished()) {
        large_.push_back(std::move(cut));
      } else if (cut->above() != nullptr) {
        for (const Part& part : divided(*cut, memory)) add(part);
      } else {
        finish(*cut);
      }
    }
    if (count == 0) divide_small(budget, threads);
  }

  void divide_small(std::int64_t budget, int threads) {
    std::size_t left = small_.size();
    while (left > 0 && budget > 0) budget -= small_[--left].size;
    const auto count = static_cast<std::int64_t>(small_.size() - left);
    parallel_for(count, kGrain, threads, [&](std::int64_t first, std::int64_t last) {
      SplitMemory memory;
      for (std::int64_t k = first; k < last; ++k)
        divide_to_the_end(small_[left + static_cast<std::size_t>(k)], memory);
    });
    small_.resize(left);
  }

  void divide_to_the_end(const Part& part, SplitMemory& memory) {
    std::vector<Part> open = {part};
    while (!open.empty()) {
      PartCut cut(arrays_, open.back());
      open.pop_back();
      cut.advance(kUnlimited);
      if (cut.above() != nullptr) {
        for (const Part& side : divided(cut, memory)) open.push_back(side);
      } else {
        finish(cut);
      }
    }
  }

  std::array<Part, 2> divided(const PartCut& cut, SplitMemory& memory) {
    return split(arrays_, cut.part(), *cut.above(), memory,
                 [&](Index edge, double flow) { graph_.flow[edge] = flow; });
  }

  void finish(const PartCut& cut) {
    const Part& part = cut.part();
    const Index* const nodes = arrays_.nodes.data() + part.first;
    for (Index i = 0; i < part.size; ++i) {
      x_[nodes[i]] = cut.level();
      plateau_[nodes[i]] = nodes[0];
    }
    store_flow(part);
  }

  void store_flow(const Part& part) {
    for (std::int64_t e = part.first_edge; e < part.first_edge + part.edges; ++e)
      graph_.flow[arrays_.edges[e]] = arrays_.flow[e];
  }

  // Joins the plateaus that dispute an edge, and makes parts of them; false if there are none.
  bool conquer() {
    DisjointSets sets(size());
    std::vector<std::uint8_t> marked(static_cast<std::size_t>(size()), 0);
    bool found = false;
    for (std::int64_t e = 0; e < graph_.edges; ++e) {
      const Index tail = graph_.tails[e], head = graph_.heads[e];
      if (plateau_[tail] == plateau_[head] || x_[tail] == x_[head] || !disputed(e)) continue;
      sets.join(plateau_[tail], plateau_[head]);
      marked[plateau_[tail]] = marked[plateau_[head]] = found = true;
    }
    if (!found) return false;
    for (Index v = 0; v < size(); ++v) marked[sets.find(v)] |= marked[v];
    for (Index v = 0; v < size(); ++v) plateau_[v] = sets.find(plateau_[v]);
    collect(marked);
    return true;
  }

  GraphFlowProblem graph_;
  const double* costs_;
  const double* masses_;
  double* x_;
  Index* plateau_;
  PartArrays arrays_;
  std::vector<Cut> large_;
  std::vector<Part> small_;
  std::int64_t rounds_ = 0;
  bool finished_ = false;
};

}  // namespace submin::flow

// Expansions of a labelling that find their place themselves.
//
// With the dual of message passing, an element that has a good label gains by no other: costs with
// the duals of its edges are nearly all least where they should be. So an expansion begins at the
// few nodes that do gain by taking the label, and looks no further than their excess may flow:
//
//     R <- the nodes that gain, and those a residual arc away
//     Repeat:
//         S <- the smallest minimum cut of R, as if nodes beyond it took the label for nothing
//         If S has no node with a residual arc that leaves R: it is the smallest one of all; stop
//         R <- R and the nodes some more arcs away from those
//
// Gains of a node below a millionth of the costs around it, which single precision makes, count as
// none. What nodes gain by each label is computed once, and again where labels have changed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/parallel.hpp"
#include "flow/graph_flow.hpp"
#include "labels/distances.hpp"
#include "labels/fusion.hpp"
#include "labels/node_edges.hpp"

namespace submin {
namespace labels {

template <class Cost>
class Expansions {
 public:
  // costs: a row of all nodes for each label, infinite where it is forbidden. `current` changes.
  Expansions(const MoveEdges& edges, const Cost* costs, std::int64_t nodes, std::int64_t labels,
             std::int32_t* current, int threads)
      : edges_(edges),
        costs_(costs),
        nodes_(nodes),
        labels_(labels),
        current_(current),
        around_(edges.tails, edges.heads, edges.count, nodes),
        gaining_(static_cast<std::size_t>(labels)),
        changed_(static_cast<std::size_t>(nodes)),
        place_(static_cast<std::size_t>(nodes), kOutside) {
    std::vector<std::vector<Gain>> parts(at((nodes + kGrain - 1) / kGrain));
    parallel_for(static_cast<std::int64_t>(parts.size()), 1, threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t k = begin; k < end; ++k)
                     for (std::int64_t v = k * kGrain; v < std::min((k + 1) * kGrain, nodes_); ++v)
                       find_gains(v, parts[at(k)]);
                 });
    for (const auto& part : parts)
      for (const Gain& gain : part) gaining_[at(gain.label)].push_back(gain.node);
  }

  // Nodes take a label where that is best; returns how many. The first expansion of a label looks
  // everywhere, later ones where labels have changed since. Nothing is done if what nodes gain by
  // themselves sums to `least` or less.
  std::int64_t expand(std::int32_t alpha, double least) {
    alpha_ = alpha;
    ++expansions_;
    std::vector<std::int32_t> start, known;
    known.swap(gaining_[at(alpha)]);
    double sum = 0.0;
    for (const std::int32_t v : known) {
      const double own = moves(v) ? gain(v) : 0.0;
      if (own > 0.0) start.push_back(v);
      sum += own;
    }
    if (start.empty() || sum <= least) return 0;
    grow(start, kFirstSteps);
    std::vector<std::uint8_t> member = cut();
    std::vector<std::int32_t> open = leaving(member);
    for (std::int64_t steps = kFirstSteps; !open.empty(); steps *= 2) {
      grow(open, steps);
      member = cut();
      open = leaving(member);
    }
    const std::int64_t changed = take(member);
    clear();
    return changed;
  }

 private:
  static constexpr double kNoise = 0x1p-20;
  static constexpr std::int64_t kFirstSteps = 1;
  static constexpr std::int32_t kOutside = -1;
  static constexpr std::int64_t kGrain = 4096;
  static constexpr std::int64_t kBudget = std::int64_t{1} << 40;

  struct Arc {
    std::int32_t head;
    double out, in;
    double flow = 0.0;  // to the head, of the last cut; kept at the end that came first
  };
  struct Gain {
    std::int32_t node, label;
  };

  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
  double cost(std::int64_t v, std::int32_t p) const {
    return static_cast<double>(costs_[p * nodes_ + v]);
  }
  bool moves(std::int64_t v) const { return current_[v] != alpha_ && !std::isinf(cost(v, alpha_)); }
  // What a node may take: its own label where alpha is forbidden.
  std::int32_t offered(std::int64_t v) const { return moves(v) ? alpha_ : current_[v]; }

  // Appends the labels by which v gains as far as its edges allow, its own among them or not.
  void find_gains(std::int64_t v, std::vector<Gain>& out) const {
    double gains[kMostLabels];
    const std::int32_t own = current_[v];
    double size = std::abs(cost(v, own));
    for (std::int64_t p = 0; p < labels_; ++p)
      gains[p] = static_cast<double>(costs_[p * nodes_ + v]) - cost(v, own);
    for (const std::int32_t* e = around_.begin(v); e < around_.end(v); ++e)
      size += add_edge_gains(*e, v, gains);
    for (std::int64_t p = 0; p < labels_; ++p)
      if (gains[p] < -kNoise * size && p != own)
        out.push_back({static_cast<std::int32_t>(v), static_cast<std::int32_t>(p)});
  }

  // Adds what the expansion of each label takes from v for an edge, as `edge_move` has it; returns
  // the size of the numbers.
  double add_edge_gains(std::int64_t e, std::int64_t v, double* gains) const {
    const bool from_tail = edges_.tails[e] == v;
    const std::int32_t w = from_tail ? edges_.heads[e] : edges_.tails[e];
    const std::int32_t own = current_[v], other = current_[w];
    const float* const a = (from_tail ? edges_.at_tail : edges_.at_head) + e * edges_.padded;
    const float* const b = (from_tail ? edges_.at_head : edges_.at_tail) + e * edges_.padded;
    const double* const d = edges_.distances + edges_.kinds[e] * edges_.padded * edges_.padded;
    const double* const to_own = d + own * edges_.padded;
    const double* const to_other = d + other * edges_.padded;
    const double weight = edges_.weights[e];
    const double at_own = static_cast<double>(a[own]), at_other = static_cast<double>(b[other]);
    const double keep = weight * to_own[other];
    for (std::int64_t p = 0; p < labels_; ++p) {
      const double mine = static_cast<double>(a[p]) - at_own;
      const double others = static_cast<double>(b[p]) - at_other;
      const double alone = weight * to_other[p] - keep - mine;
      const double head = weight * to_own[p] - keep - others;
      const double both = -keep - mine - others;
      const double low = both - head;
      double shift = std::min(std::max(low, 0.0), alone);
      shift = low > alone ? 0.5 * (low + alone) : shift;
      const double far = both - std::min(std::max(both - alone, 0.0), head);
      const double shared =
          from_tail ? shift : (low > alone ? both - 0.5 * (both - alone + head) : far);
      const bool stays = p == other || std::isinf(b[p]);
      gains[p] += (stays ? alone : shared) + mine;
    }
    return keep + std::abs(at_own) + std::abs(at_other);
  }

  EdgeMove move_of(std::int64_t e) const {
    const std::int32_t i = edges_.tails[e], j = edges_.heads[e];
    return edge_move(edges_, e, current_[i], offered(i), current_[j], offered(j));
  }

  // What v gains by alpha as far as its edges allow; 0 if that is noise.
  double gain(std::int64_t v) const {
    double sum = 0.0, size = 0.0;
    const auto add = [&](double term) {
      sum += term;
      size += std::abs(term);
    };
    add(cost(v, alpha_));
    add(-cost(v, current_[v]));
    for (const std::int32_t* e = around_.begin(v); e < around_.end(v); ++e) {
      const EdgeMove move = move_of(*e);
      add(edges_.tails[*e] == v ? move.tail : move.head);
    }
    return sum < -kNoise * size ? -sum : 0.0;
  }

  // Puts nodes into the region, and those at most `steps` residual arcs away.
  void grow(const std::vector<std::int32_t>& start, std::int64_t steps) {
    std::vector<std::int32_t> front = start;
    for (const std::int32_t v : start) put(v);
    for (std::int64_t step = 0; step < steps && !front.empty(); ++step) {
      std::vector<std::int32_t> next;
      for (const std::int32_t v : front) {
        const std::int64_t k = place_[at(v)], end = first_arc_[at(k + 1)];
        for (std::int64_t i = first_arc_[at(k)]; i < end; ++i) {
          const Arc arc = arcs_[at(i)];
          if (arc.out > 0.0 && put(arc.head)) next.push_back(arc.head);
        }
      }
      front.swap(next);
    }
  }

  // Puts a node into the region, with its gain and its arcs; false if it is there already.
  bool put(std::int32_t v) {
    if (place_[at(v)] != kOutside) return false;
    place_[at(v)] = static_cast<std::int32_t>(region_.size());
    region_.push_back(v);
    double s = cost(v, alpha_) - cost(v, current_[v]);
    for (const std::int32_t* e = around_.begin(v); e < around_.end(v); ++e) {
      const EdgeMove move = move_of(*e);
      const bool from_tail = edges_.tails[*e] == v;
      s += from_tail ? move.tail : move.head;
      if (move.forward == 0.0 && move.backward == 0.0) continue;
      if (from_tail) {
        arcs_.push_back({edges_.heads[*e], move.forward, move.backward});
      } else {
        arcs_.push_back({edges_.tails[*e], move.backward, move.forward});
      }
    }
    gains_.push_back(s);
    first_arc_.push_back(static_cast<std::int64_t>(arcs_.size()));
    return true;
  }

  void clear() {
    for (const std::int32_t v : region_) place_[at(v)] = kOutside;
    region_.clear();
    gains_.clear();
    arcs_.clear();
    first_arc_.assign(1, 0);
  }

  // The smallest minimum cut of the region, which goes on from the flow of the last one.
  std::vector<std::uint8_t> cut() {
    std::vector<flow::Index> tails, heads;
    std::vector<double> backward, forward, flow;
    std::vector<Arc*> cut_arcs;
    bool finite = true;
    for (const double gain : gains_) finite = finite && std::isfinite(gain);
    for_each_arc([&](std::size_t k, Arc& arc) {
      const std::int32_t head = place_[at(arc.head)];
      if (head <= static_cast<std::int32_t>(k)) return;  // outside, or counted there
      tails.push_back(static_cast<flow::Index>(k));
      heads.push_back(head);
      forward.push_back(arc.out);
      backward.push_back(arc.in);
      flow.push_back(arc.flow);
      cut_arcs.push_back(&arc);
      finite = finite && std::isfinite(arc.out) && std::isfinite(arc.in);
    });
    if (!finite) return std::vector<std::uint8_t>(gains_.size(), 0);  // nothing to decide by
    flow::GraphFlow search({static_cast<std::int64_t>(gains_.size()),
                            static_cast<std::int64_t>(tails.size()),
                            tails.data(),
                            heads.data(),
                            {backward.data(), false},
                            {forward.data(), false},
                            flow.data(),
                            gains_.data()},
                           true);
    while (!search.advance(kBudget)) continue;
    for (std::size_t e = 0; e < flow.size(); ++e) cut_arcs[e]->flow = flow[e];
    std::vector<std::uint8_t> member(gains_.size());
    search.members(false, member.data());
    return member;
  }

  // The members from which a residual arc leads out of the region.
  std::vector<std::int32_t> leaving(const std::vector<std::uint8_t>& member) {
    std::vector<std::int32_t> open;
    for_each_arc([&](std::size_t k, const Arc& arc) {
      if (member[k] == 0 || arc.out == 0.0 || place_[at(arc.head)] != kOutside) return;
      if (open.empty() || open.back() != region_[k]) open.push_back(region_[k]);
    });
    return open;
  }

  template <class Visit>
  void for_each_arc(const Visit& visit) {
    for (std::size_t k = 0; k < region_.size(); ++k)
      for (std::int64_t i = first_arc_[k]; i < first_arc_[k + 1]; ++i) visit(k, arcs_[at(i)]);
  }

  std::int64_t take(const std::vector<std::uint8_t>& member) {
    std::vector<std::int32_t> changed;
    for (std::size_t k = 0; k < region_.size(); ++k)
      if (member[k] != 0) changed.push_back(region_[k]);
    for (const std::int32_t v : changed) current_[v] = alpha_;
    for (const std::int32_t v : changed) {
      renew(v);
      for (const std::int32_t* e = around_.begin(v); e < around_.end(v); ++e)
        renew(edges_.tails[*e] == v ? edges_.heads[*e] : edges_.tails[*e]);
    }
    return static_cast<std::int64_t>(changed.size());
  }

  // Finds the gains of a node by which labels have changed, once after each expansion.
  void renew(std::int64_t v) {
    if (changed_[at(v)] == expansions_) return;
    changed_[at(v)] = expansions_;
    std::vector<Gain> found;
    find_gains(v, found);
    for (const Gain& gain : found) {
      auto& list = gaining_[at(gain.label)];
      if (list.empty() || list.back() != gain.node) list.push_back(gain.node);
    }
  }

  MoveEdges edges_;
  const Cost* costs_;
  std::int64_t nodes_, labels_;
  std::int32_t* current_;
  std::int32_t alpha_ = 0;
  NodeEdges around_;
  std::vector<std::vector<std::int32_t>> gaining_;  // nodes that may gain by each label
  std::vector<std::int64_t> changed_;  // the last expansion that changed labels around, or 0
  std::int64_t expansions_ = 0;
  std::vector<std::int32_t> place_, region_;
  std::vector<double> gains_;
  std::vector<Arc> arcs_;
  std::vector<std::int64_t> first_arc_ = {0};
};

}  // namespace labels
}  // namespace submin

// Blocks of chains: exact weighted, directed total variation along rows, columns, diagonals of a
// grid or along paths of a graph. chains/taut_string.hpp has the mathematics.
//
// A projection of y - s / c of its duals t: with r = s / c in place of s, the new ones are
// those of the taut string, and the new r is its slopes. With c = 1 that is the new s: a sweep.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "chains/chain_arrays.hpp"
#include "chains/lanes.hpp"
#include "chains/taut_string.hpp"
#include "core/parallel.hpp"

namespace submin {

// Chains of a grid: node j of chain k is node_start[k] + j node_stride, likewise its edges.
struct GridChains {
  const std::int64_t* node_start;
  const std::int64_t* edge_start;
  const std::int64_t* lengths;
  std::int64_t count, node_stride, edge_stride;

  std::int64_t length(std::int64_t k) const { return lengths[k]; }
  std::int64_t node(std::int64_t k, std::int64_t j) const {
    return node_start[k] + j * node_stride;
  }
  std::int64_t edge(std::int64_t k, std::int64_t j) const {
    return edge_start[k] + j * edge_stride;
  }
  bool reversed(std::int64_t, std::int64_t) const { return false; }
};

// Paths of a graph: chain k has the nodes nodes[indptr[k]:indptr[k + 1]]; its edges, one fewer,
// start at edges[indptr[k] - k]. Orientation -1 marks an edge which the path runs through from head
// to tail.
struct PathChains {
  const std::int64_t* indptr;
  const std::int32_t* nodes;
  const std::int32_t* edges;
  const std::int8_t* orientation;
  std::int64_t count;

  std::int64_t length(std::int64_t k) const { return indptr[k + 1] - indptr[k]; }
  std::int64_t node(std::int64_t k, std::int64_t j) const { return nodes[indptr[k] + j]; }
  std::int64_t edge(std::int64_t k, std::int64_t j) const { return edges[indptr[k] - k + j]; }
  bool reversed(std::int64_t k, std::int64_t j) const { return orientation[indptr[k] - k + j] < 0; }
};

constexpr std::int64_t kBatchNodes = 12288;  // 40 bytes each: what the second-level cache holds
constexpr std::int64_t kFirstNode = 2;       // of a batch; two more serve lanes that have none

struct Progress {
  std::int64_t node;  // the first node of the chain's next piece
  double change;      // of the flow before it
};

struct ChainWorkspace {
  std::vector<Node> nodes;
  std::vector<Chain> chains;
  std::vector<Progress> progress;
  std::vector<Piece> pieces;
  Funnel funnel;
#ifdef SUBMIN_LANES
  std::vector<double>
      slopes;  // at the first node of each piece of a string; elsewhere not a number
  std::vector<std::int64_t> unfinished;
  std::vector<LanePlace> places;
  PieceLog log;
#endif

  void reserve(std::int64_t size) {
    if (static_cast<std::int64_t>(nodes.size()) < size) {
      nodes.resize(size);
#ifdef SUBMIN_LANES
      slopes.resize(size);
#endif
    }
    nodes[0] = {0, 0, 0, 0};
    nodes[1] = {0, 0, 1, 1};
  }
};

#ifdef SUBMIN_LANES
// Where vectors of chains lie, if they are either contiguous or side by side.
inline bool find_places(int, const PathChains&, std::int64_t, const std::vector<Chain>&,
                        std::vector<LanePlace>&) {
  return false;
}

inline bool find_places(int lanes, const GridChains& grid, std::int64_t first,
                        const std::vector<Chain>& chains, std::vector<LanePlace>& places) {
  places.clear();
  const auto count = static_cast<std::int64_t>(chains.size());
  for (std::int64_t k = 0; k < count; k += lanes) {
    LanePlace place(lanes, chains.data() + k, count - k, grid.node_stride, grid.edge_stride);
    if (!place.find(grid.node_start + first + k, grid.edge_start + first + k)) return false;
    places.push_back(place);
  }
  return true;
}
#endif

// Solves the chains begin, ..., end - 1 of a block together.
template <class Chains>
class ChainBatch {
 public:
  ChainBatch(const Chains& chains, const ChainArrays& arrays, ChainWorkspace& work,
             std::int64_t begin, std::int64_t end)
      : chains_(chains), arrays_(arrays), work_(work), begin_(begin) {
    work_.chains.clear();
    work_.progress.clear();
    size_ = kFirstNode;
    for (std::int64_t k = begin; k < end; ++k) {
      work_.chains.push_back({size_, chains.length(k)});
      work_.progress.push_back({size_, 0.0});
      size_ += chains.length(k) + 1;
    }
    size_ += 8;  // lanes are stored whole
    work_.reserve(size_);
  }

  void solve() {
#ifdef SUBMIN_LANES
    if (count() >= kFewestLanes) {
      if (vector_width() == VectorWidth::avx512) return solve_in_lanes<Avx512Lanes>();
      if (vector_width() == VectorWidth::avx2) return solve_in_lanes<Avx2Lanes>();
    }
#endif
    load();
    for (std::int64_t k = 0; k < count(); ++k)
      solve_alone(k, [&](std::int64_t chain, std::int64_t end, double slope) {
        settle_piece(chain, end, slope);
      });
    store();
  }

 private:
  static constexpr std::int64_t kFewestLanes = 3;  // below, one chain after the other is faster

  std::int64_t count() const { return static_cast<std::int64_t>(work_.chains.size()); }

  void load() {
    each_node([&](std::int64_t k, std::int64_t j, Node& node) {
      const std::int64_t chain = begin_ + k;
      node.value = arrays_.s[chains_.node(chain, j)];
      if (arrays_.c != 1) node.value /= arrays_.c;
      node.flow = node.forward = node.backward = 0;
      if (j + 1 == chains_.length(chain)) return;
      const std::int64_t edge = chains_.edge(chain, j);
      node.flow = arrays_.flow[edge];
      node.forward = arrays_.forward[edge];
      node.backward = arrays_.backward[edge];
      if (!chains_.reversed(chain, j)) return;
      node.flow = -node.flow;
      std::swap(node.forward, node.backward);
    });
  }

  void store() {
    each_node([&](std::int64_t k, std::int64_t j, const Node& node) {
      const std::int64_t chain = begin_ + k;
      if (arrays_.new_s != nullptr) arrays_.new_s[chains_.node(chain, j)] = node.value;
      if (j + 1 == chains_.length(chain)) return;
      arrays_.new_flow[chains_.edge(chain, j)] =
          chains_.reversed(chain, j) ? -node.flow : node.flow;
    });
  }

  // Stretch by stretch, as neighbouring chains may share cache lines.
  template <class Use>
  void each_node(const Use& use) {
    std::int64_t longest = 0;
    for (const Chain& chain : work_.chains) longest = std::max(longest, chain.length);
    for (std::int64_t first = 0; first < longest; first += 16)
      for (std::int64_t k = 0; k < count(); ++k) {
        const Chain& chain = work_.chains[k];
        for (std::int64_t j = first; j < std::min(first + 16, chain.length); ++j)
          use(k, j, work_.nodes[chain.begin + j]);
      }
  }

  // Calls use(k, end, slope) for each piece of chain k.
  template <class Use>
  void solve_alone(std::int64_t k, const Use& use) {
    const Chain& chain = work_.chains[k];
    if (static_cast<std::int64_t>(work_.pieces.size()) < chain.length)
      work_.pieces.resize(chain.length);
    Piece* pieces = work_.pieces.data();
    std::int64_t found = Walk(work_.nodes.data()).solve(chain, pieces);
    if (found < 0) found = work_.funnel.solve(work_.nodes.data(), chain, pieces);
    for (std::int64_t p = 0; p < found; ++p) use(k, pieces[p].end(), pieces[p].slope());
  }

  void settle_piece(std::int64_t k, std::int64_t end, double slope) {
    Progress& at = work_.progress[k];
    at.change = settle(work_.nodes.data(), at.node, end, slope, at.change);
    at.node = end + 1;
  }

#ifdef SUBMIN_LANES
  template <class Lanes>
  void solve_in_lanes() {
    std::vector<LanePlace>& places = work_.places;
    if (!find_places(Lanes::kLanes, chains_, begin_, work_.chains, places)) {
      load();
      walk_in_lanes<Lanes>(
          [&](std::int64_t k, std::int64_t end, double slope) { settle_piece(k, end, slope); });
      return store();
    }
    typename Lanes::Chains lanes(arrays_, work_.nodes.data(), work_.slopes.data());
    std::fill(work_.slopes.begin(), work_.slopes.begin() + size_,
              std::numeric_limits<double>::quiet_NaN());
    lanes.read(places);
    walk_in_lanes<Lanes>([&](std::int64_t k, std::int64_t end, double slope) {
      Progress& at = work_.progress[k];
      work_.slopes[at.node] = slope;
      at.node = end + 1;
    });
    lanes.settle(places);
  }

  template <class Lanes, class Use>
  void walk_in_lanes(const Use& use) {
    PieceLog& log = work_.log;
    log.reserve(2 * size_);
    const std::int64_t found =
        typename Lanes::Taut(work_.nodes.data(), work_.chains, Lanes::Chains::kParking, log)
            .run(work_.unfinished);
    for (std::int64_t k : work_.unfinished) work_.progress[k].node = -1;
    for (std::int64_t p = 0; p < found; ++p) {
      const std::int64_t k = log.chain(p);
      if (k >= 0 && work_.progress[k].node >= 0) use(k, log.end(p), log.slope(p));
    }
    for (std::int64_t k : work_.unfinished) {
      work_.progress[k].node = work_.chains[k].begin;
      solve_alone(k, use);
    }
  }
#endif

  const Chains& chains_;
  const ChainArrays& arrays_;
  ChainWorkspace& work_;
  std::int64_t begin_, size_;
};

// Cuts a block into batches: consecutive chains, up to a number of nodes.
template <class Chains>
std::vector<std::int64_t> chain_batches(const Chains& chains) {
  std::vector<std::int64_t> bounds = {0};
  std::int64_t nodes = 0;
  for (std::int64_t k = 0; k < chains.count; ++k) {
    const bool full = nodes + chains.length(k) > kBatchNodes || k - bounds.back() == kBatchChains;
    const bool eight = (k - bounds.back()) % 8 == 0;  // full vectors
    if (k > bounds.back() && full && (eight || chains.length(k) > kBatchNodes)) {
      bounds.push_back(k);
      nodes = 0;
    }
    nodes += chains.length(k);
  }
  bounds.push_back(chains.count);
  return bounds;
}

template <class Chains>
void solve_chains(const Chains& chains, const ChainArrays& arrays, int threads) {
  if (chains.count == 0) return;
  const std::vector<std::int64_t> bounds = chain_batches(chains);
  parallel_for(static_cast<std::int64_t>(bounds.size()) - 1, 1, threads,
               [&](std::int64_t begin, std::int64_t end) {
                 static thread_local ChainWorkspace work;
                 for (std::int64_t b = begin; b < end; ++b)
                   ChainBatch<Chains>(chains, arrays, work, bounds[b], bounds[b + 1]).solve();
               });
}

}  // namespace submin

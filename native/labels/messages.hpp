// Sequential tree-reweighted message passing (Kolmogorov, TPAMI 2006,
// doi:10.1109/TPAMI.2006.200).
//
// With the nodes in an order, D_v the costs of node v, M_e the message of an edge to the end that
// is reached next, and g_v = 1 / max(edges to earlier nodes, edges to later ones):
//
//     For each node v in the order:
//         T <- D_v + sum of M_e over all edges of v
//         For each edge e = (v, w) to a later node:
//             M_e(q) <- min over p of  g_v T(p) - M_e(p) + weight_e d(p, q),  less its least value
//     Then the same from the last node to the first.
//
// On the way back the least values of T (taken off T) and of the messages sum to a lower bound.
//
// Nodes lie in strips, whose order is that of the numbers or, in every second strip, its reverse:
// strips run side by side, and wait for each other where an edge leads out of one. The order, and
// so every bit, is the same for any number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/compensated.hpp"
#include "core/parallel.hpp"
#include "core/vectorize.hpp"
#include "labels/distances.hpp"
#include "labels/node_edges.hpp"

namespace submin {
namespace labels {

// costs: one row of padded labels a node, infinite where a label is forbidden.
struct Energy {
  std::int64_t nodes, edges, padded;
  const float* costs;
  const std::int32_t* tails;
  const std::int32_t* heads;
  const float* weights;
  const std::uint8_t* kinds;
  std::vector<Distance> distances;
};

class Strips {
 public:
  static constexpr std::int64_t kMost = 8;
  static constexpr std::int64_t kLeastNodes = 2048;

  explicit Strips(const Energy& energy) : nodes_(energy.nodes) {
    split(std::clamp<std::int64_t>(nodes_ / kLeastNodes, 1, kMost));
    std::int64_t crossing = 0;
    for (std::int64_t e = 0; e < energy.edges; ++e)
      crossing += of(energy.tails[e]) != of(energy.heads[e]);
    if (crossing > energy.edges / 16) split(1);
  }

  std::int64_t count() const { return count_; }
  std::int64_t size(std::int64_t strip) const { return end(strip) - strip * length_; }
  std::int64_t of(std::int64_t v) const { return v / length_; }
  std::int64_t node(std::int64_t strip, std::int64_t place) const {
    return strip % 2 == 0 ? strip * length_ + place : end(strip) - 1 - place;
  }
  std::int64_t place(std::int64_t v) const {
    const std::int64_t strip = of(v);
    return strip % 2 == 0 ? v - strip * length_ : end(strip) - 1 - v;
  }
  bool before(std::int64_t v, std::int64_t w) const {
    return of(v) != of(w) ? of(v) < of(w) : place(v) < place(w);
  }

 private:
  void split(std::int64_t count) {
    length_ = std::max<std::int64_t>((nodes_ + count - 1) / count, 1);
    count_ = (nodes_ + length_ - 1) / length_;
  }
  std::int64_t end(std::int64_t strip) const { return std::min((strip + 1) * length_, nodes_); }

  std::int64_t nodes_, length_ = 1, count_ = 0;
};

// The edges of each node, those to later nodes first.
class Incidence {
 public:
  Incidence(const Energy& energy, const Strips& strips)
      : edges_(energy.tails, energy.heads, energy.edges, energy.nodes),
        middle_(static_cast<std::size_t>(energy.nodes)) {
    for (std::int64_t v = 0; v < energy.nodes; ++v) {
      const auto leads_on = [&](std::int32_t e) {
        const std::int32_t tail = energy.tails[e];
        return strips.before(v, tail == v ? energy.heads[e] : tail);
      };
      middle_[static_cast<std::size_t>(v)] =
          std::stable_partition(edges_.begin(v), edges_.end(v), leads_on);
    }
  }

  Incidence(const Incidence&) = delete;  // middle_ leads into edges_
  Incidence& operator=(const Incidence&) = delete;

  const std::int32_t* begin(std::int64_t v) const { return edges_.begin(v); }
  const std::int32_t* middle(std::int64_t v) const { return middle_[static_cast<std::size_t>(v)]; }
  const std::int32_t* end(std::int64_t v) const { return edges_.end(v); }

 private:
  NodeEdges edges_;
  std::vector<const std::int32_t*> middle_;
};

// Where the dual of a pass goes: for each edge a row at its tail and at its head.
struct EdgeDual {
  float* at_tail = nullptr;
  float* at_head = nullptr;
};

class Messages {
 public:
  Messages(Energy energy, float* messages)
      : energy_(std::move(energy)),
        messages_(messages),
        strips_(energy_),
        incidence_(energy_, strips_),
        crosses_(static_cast<std::size_t>(energy_.nodes), 0) {
    for (std::int64_t e = 0; e < energy_.edges; ++e) {
      const std::int64_t tail = energy_.tails[e], head = energy_.heads[e];
      if (strips_.of(tail) == strips_.of(head)) continue;
      crosses_[static_cast<std::size_t>(tail)] = crosses_[static_cast<std::size_t>(head)] = 1;
    }
  }

  // The pass from the first node to the last. If asked to, it also chooses a label of each node,
  // the best beside those chosen before and the messages from later nodes.
  void forward(int threads, std::int32_t* chosen) {
    with_width([&](auto width) { forth<width>(threads, chosen); });
  }

  // The pass back, after one forward; returns the bound.
  double backward(int threads) {
    double bound = 0.0;
    with_width([&](auto width) { bound = back<width, false>(threads, {}, nullptr); });
    return bound;
  }

  // A pass back, after one forward, that writes a row for each node: its costs with all messages,
  // less the least one.
  double marginals(int threads, float* rows) {
    double bound = 0.0;
    with_width([&](auto width) { bound = back<width, false>(threads, {}, rows); });
    return bound;
  }

  // A pass back, after one forward, whose bound is that of the dual.
  double dual(int threads, const EdgeDual& out) {
    double bound = 0.0;
    with_width([&](auto width) { bound = back<width, true>(threads, out, nullptr); });
    return bound;
  }

 private:
  // Calls body with the number of padded labels, as a constant where they are few.
  template <class Body>
  void with_width(const Body& body) {
    switch (energy_.padded) {
      case 8:
        return body(std::integral_constant<std::int64_t, 8>());
      case 16:
        return body(std::integral_constant<std::int64_t, 16>());
      case 24:
        return body(std::integral_constant<std::int64_t, 24>());
      default:
        return body(std::integral_constant<std::int64_t, 0>());
    }
  }

  template <std::int64_t width>
  SUBMIN_INLINE std::int64_t padded() const {
    return width > 0 ? width : energy_.padded;
  }

  template <std::int64_t width>
  using Row = float[width > 0 ? width : kMostLabels];

  template <std::int64_t width>
  void forth(int threads, std::int32_t* chosen) {
    run(threads, false, [&](std::int64_t v) SUBMIN_INLINE {
      Row<width> sum;
      for (std::int64_t p = 0; p < padded<width>(); ++p) sum[p] = costs(v)[p];
      add_messages<width>(incidence_.begin(v), incidence_.middle(v), sum);
      if (chosen != nullptr) chosen[v] = best_beside<width>(v, sum, chosen);
      add_messages<width>(incidence_.middle(v), incidence_.end(v), sum);
      const float share =
          1.0F / static_cast<float>(std::max<std::int64_t>({later(v), earlier(v), 1}));
      for (const std::int32_t* e = incidence_.begin(v); e < incidence_.middle(v); ++e)
        send<width>(*e, sum, share, message(*e));
    });
  }

  template <std::int64_t width, bool keeps>
  double back(int threads, const EdgeDual& out, float* rows) {
    std::vector<Compensated> bounds(static_cast<std::size_t>(strips_.count()));
    run(threads, true, [&](std::int64_t v) SUBMIN_INLINE {
      Row<width> sum;
      for (std::int64_t p = 0; p < padded<width>(); ++p) sum[p] = costs(v)[p];
      add_messages<width>(incidence_.begin(v), incidence_.end(v), sum);
      Compensated& bound = bounds[static_cast<std::size_t>(strips_.of(v))];
      const float lowest = least(sum, padded<width>());
      for (std::int64_t p = 0; p < padded<width>(); ++p) sum[p] -= lowest;
      bound.add(static_cast<double>(lowest));
      if (rows != nullptr) std::copy(sum, sum + padded<width>(), rows + v * energy_.padded);
      const std::int64_t most = keeps ? earlier(v) : std::max(later(v), earlier(v));
      const float share = 1.0F / static_cast<float>(std::max<std::int64_t>(most, 1));
      for (const std::int32_t* e = incidence_.middle(v); e < incidence_.end(v); ++e) {
        if (keeps) keep_near(*e, v, sum, share, out);
        bound.add(static_cast<double>(send<width>(*e, sum, share, message(*e))));
        if (keeps) keep_far(*e, v, out);
      }
    });
    Compensated total;
    for (const Compensated& bound : bounds) total += bound;
    return total.rounded();
  }

  SUBMIN_INLINE float* message(std::int64_t e) const { return messages_ + e * energy_.padded; }
  SUBMIN_INLINE const float* costs(std::int64_t v) const {
    return energy_.costs + v * energy_.padded;
  }
  SUBMIN_INLINE std::int64_t later(std::int64_t v) const {
    return incidence_.middle(v) - incidence_.begin(v);
  }
  SUBMIN_INLINE std::int64_t earlier(std::int64_t v) const {
    return incidence_.end(v) - incidence_.middle(v);
  }
  SUBMIN_INLINE const Distance& distance(std::int64_t e) const {
    return energy_.distances[energy_.kinds[e]];
  }

  template <std::int64_t width>
  SUBMIN_INLINE void add_messages(const std::int32_t* begin, const std::int32_t* end,
                                  float* sum) const {
    for (const std::int32_t* e = begin; e < end; ++e) {
      const float* const own = message(*e);
      for (std::int64_t p = 0; p < padded<width>(); ++p) sum[p] += own[p];
    }
  }

  template <std::int64_t width>
  SUBMIN_INLINE std::int32_t best_beside(std::int64_t v, const float* sum,
                                         const std::int32_t* chosen) const {
    Row<width> total;
    for (std::int64_t p = 0; p < padded<width>(); ++p) total[p] = sum[p];
    for (const std::int32_t* e = incidence_.middle(v); e < incidence_.end(v); ++e) {
      const std::int32_t other = energy_.tails[*e] == v ? energy_.heads[*e] : energy_.tails[*e];
      const float weight = energy_.weights[*e];
      const float* const row = distance(*e).row(chosen[other]);
      for (std::int64_t p = 0; p < padded<width>(); ++p) total[p] += weight * row[p];
    }
    const float lowest = least(total, padded<width>());
    std::int32_t label = 0;
    while (label + 1 < padded<width>() && total[label] != lowest) ++label;
    return label;
  }

  // Writes the message to the other end over the one from there; returns its least value.
  template <std::int64_t width>
  SUBMIN_INLINE float send(std::int64_t e, const float* sum, float share, float* out) const {
    Row<width> h;
    for (std::int64_t p = 0; p < padded<width>(); ++p) h[p] = share * sum[p] - out[p];
    const float lowest = least(h, padded<width>());
    for (std::int64_t p = 0; p < padded<width>(); ++p) h[p] -= lowest;
    distance(e).envelope(h, energy_.weights[e], padded<width>(), out);
    return lowest;
  }

  // At v: the message that it received, less the share of its sum that the edge takes over.
  SUBMIN_INLINE void keep_near(std::int64_t e, std::int64_t v, const float* sum, float share,
                               const EdgeDual& out) const {
    float* const to = (energy_.tails[e] == v ? out.at_tail : out.at_head) + e * energy_.padded;
    const float* const own = message(e);
    for (std::int64_t p = 0; p < energy_.padded; ++p) to[p] = own[p] - share * sum[p];
  }
  SUBMIN_INLINE void keep_far(std::int64_t e, std::int64_t v, const EdgeDual& out) const {
    float* const to = (energy_.tails[e] == v ? out.at_head : out.at_tail) + e * energy_.padded;
    const float* const own = message(e);
    for (std::int64_t p = 0; p < energy_.padded; ++p) to[p] = own[p];
  }

  // Calls visit(v) for all nodes in the order, or back.
  template <class Visit>
  void run(int threads, bool back, const Visit& visit) {
    const std::int64_t count = strips_.count();
    const auto done =
        std::make_unique<std::atomic<std::int64_t>[]>(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k) done[static_cast<std::size_t>(k)].store(0);
    parallel_for(count, 1, threads, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t k = first; k < last; ++k)
        run_strip(back ? count - 1 - k : k, back, visit, done.get());
    });
  }

  template <class Visit>
  void run_strip(std::int64_t strip, bool back, const Visit& visit,
                 std::atomic<std::int64_t>* done) const {
    const std::int64_t size = strips_.size(strip);
    const auto loop = [&](std::int64_t first, std::int64_t last) SUBMIN_INLINE {
      for (std::int64_t k = first; k < last; ++k) {
        const std::int64_t v = strips_.node(strip, back ? size - 1 - k : k);
        if (crosses_[static_cast<std::size_t>(v)]) wait(v, back, done);
        visit(v);
        if (k % kPublished == 0) done[strip].store(k + 1, std::memory_order_release);
      }
    };
    vectorized(loop, 0, size);
    done[strip].store(size, std::memory_order_release);
  }

  // Waits for the nodes of other strips that come before v.
  void wait(std::int64_t v, bool back, std::atomic<std::int64_t>* done) const {
    const std::int32_t* const begin = back ? incidence_.begin(v) : incidence_.middle(v);
    const std::int32_t* const end = back ? incidence_.middle(v) : incidence_.end(v);
    for (const std::int32_t* e = begin; e < end; ++e) {
      const std::int64_t w = energy_.tails[*e] == v ? energy_.heads[*e] : energy_.tails[*e];
      const std::int64_t strip = strips_.of(w);
      if (strip == strips_.of(v)) continue;
      const std::int64_t place = strips_.place(w);
      const std::int64_t needed = back ? strips_.size(strip) - place : place + 1;
      while (done[strip].load(std::memory_order_acquire) < needed) std::this_thread::yield();
    }
  }

  static constexpr std::int64_t kPublished = 64;  // nodes between two notes of how far a strip is

  Energy energy_;
  float* messages_;
  Strips strips_;
  Incidence incidence_;
  std::vector<std::uint8_t> crosses_;
};

}  // namespace labels
}  // namespace submin

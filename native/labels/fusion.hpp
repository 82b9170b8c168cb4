// The binary problem of a move: every node keeps its first label or takes its second.
//
// For an edge (i, j) with the costs A (both keep), B (i takes), C (j takes), D (both take), less
// the dual of the edge at these labels,
//
//     A + c_i [i takes] + c_j [j takes] + forward [i alone] + backward [j alone],
//     c_i + c_j = D - A,    forward = B - A - c_i >= 0,    backward = C - A - c_j >= 0,
//
// with the c_i nearest to 0. Where A + D > B + C no such c_i exists; B and C are then raised as
// little as will do, so that the costs of a move are never below what it really costs, and those of
// keeping all labels are right (Rother, Kumar, Kolmogorov and Blake, CVPR 2005,
// doi:10.1109/CVPR.2005.130).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace submin {
namespace labels {

// Rows of `padded` labels; a dual without rows is 0.
struct MoveEdges {
  std::int64_t count, padded;
  const std::int32_t* tails;
  const std::int32_t* heads;
  const double* weights;
  const std::uint8_t* kinds;
  const double* distances;
  const float* at_tail;
  const float* at_head;

  double distance(std::int64_t e, std::int64_t p, std::int64_t q) const {
    return weights[e] * distances[(kinds[e] * padded + p) * padded + q];
  }
  double tail_dual(std::int64_t e, std::int64_t p) const {
    return at_tail == nullptr ? 0.0 : static_cast<double>(at_tail[e * padded + p]);
  }
  double head_dual(std::int64_t e, std::int64_t p) const {
    return at_head == nullptr ? 0.0 : static_cast<double>(at_head[e * padded + p]);
  }
};

// What an edge adds to the binary problem: costs of taking at its ends, and its arcs.
struct EdgeMove {
  double tail = 0.0, head = 0.0, forward = 0.0, backward = 0.0;
  bool raised = false;
};

constexpr double kRaised = 1e-9;  // of an edge's size: more than what rounding makes

inline EdgeMove edge_move(const MoveEdges& edges, std::int64_t e, std::int32_t p0, std::int32_t p1,
                          std::int32_t q0, std::int32_t q1) {
  EdgeMove move;
  const double keep = edges.distance(e, p0, q0);
  const double own = edges.tail_dual(e, p1) - edges.tail_dual(e, p0);
  const double other = edges.head_dual(e, q1) - edges.head_dual(e, q0);
  const double tail = edges.distance(e, p1, q0) - keep - own;
  const double head = edges.distance(e, p0, q1) - keep - other;
  if (q0 == q1) {
    move.tail = p0 == p1 ? 0.0 : tail + own;
  } else if (p0 == p1) {
    move.head = head + other;
  } else {
    const double both = edges.distance(e, p1, q1) - keep - own - other;
    const double low = both - head;
    const double shift = low > tail ? 0.5 * (low + tail) : std::clamp(0.0, low, tail);
    move.tail = shift + own;
    move.head = (both - shift) + other;
    move.forward = std::max(tail - shift, 0.0);
    move.backward = std::max(shift - low, 0.0);
    move.raised = low - tail > kRaised * (std::abs(low) + std::abs(tail));
  }
  return move;
}

// Adds the modular parts to s and writes the arcs; returns how many edges had B and C raised.
inline std::int64_t fusion(const MoveEdges& edges, const std::int32_t* first,
                           const std::int32_t* second, double* s, double* backward,
                           double* forward) {
  std::int64_t raised = 0;
  for (std::int64_t e = 0; e < edges.count; ++e) {
    const std::int32_t i = edges.tails[e], j = edges.heads[e];
    const EdgeMove move = edge_move(edges, e, first[i], second[i], first[j], second[j]);
    s[i] += move.tail;
    s[j] += move.head;
    forward[e] = move.forward;
    backward[e] = move.backward;
    raised += move.raised;
  }
  return raised;
}

}  // namespace labels
}  // namespace submin

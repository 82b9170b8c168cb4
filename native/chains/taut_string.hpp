// The taut string: the exact total-variation projection of chains.
//
// A chain has nodes 0..k-1 with values r_j and edges (j, j+1) with duals t_j in [-b_j, f_j].
// Changing the t_j by d_j changes the values by d_j - d_{j-1}, hence their sums X_j = r_0 + ... +
// r_j + d_j, which have to pass the gates
//     R_j - b_j - t_j <= X_j <= R_j + f_j - t_j,    R_j = r_0 + ... + r_j,    X_{k-1} = R_{k-1}.
// The new values are the slopes of the string X and have least norm when it is taut (Davies & Kovac
// 2001, doi:10.1214/aos/996986501): straight between the gate ends that it touches, turning up at
// an upper end and down at a lower one. These are the optimality conditions; whoever finds such a
// string has found the only one.
//
// The walk starts at the last touched gate, the apex, and keeps the highest slope that lower ends
// and the lowest slope that upper ends demand. A gate out of their reach tells which end the string
// touches and where; the walk goes back there and starts again. Sums start at the apex: errors do
// not grow along the chain.
//
// Saturated edges are guesses: the string probably touches the same ends again. The walk takes a
// guess that it can reach straight away, without looking further, and withdraws it when the string
// turns to the wrong side there. In a solver's later sweeps nearly all guesses hold and the walk
// takes about one step a node, as against three to six without them.
//
// A chain that uses up its budget of steps is solved by the funnel, whose time is linear for any
// data.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace submin {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kStepsPerNode = 5;  // then the funnel is cheaper than walking on

struct alignas(32) Node {
  double value;
  double flow, forward, backward;  // of the edge to the next node
};

struct Chain {
  std::int64_t begin;   // its first node in the batch
  std::int64_t length;  // its number of nodes, at least 1
};

enum Side : std::int64_t {
  kNoSide = 0,
  kUpper = 1,
  kLower = 2
};  // the touched end; none where the gate has no width

// A straight piece of a string. Its slope is rise / run; `code` holds its last node and the side
// touched there.
struct Piece {
  double rise, run;
  std::int64_t code;

  double slope() const { return rise / run; }
  std::int64_t end() const { return code >> 2; }
  Side side() const { return static_cast<Side>(code & 3); }
  static std::int64_t encode(std::int64_t end, std::int64_t side) { return 4 * end + side; }
};

// Closes a chain: the string has to meet the last sum, which is a gate without width.
inline void seal(Node* nodes, const Chain& chain) {
  Node& last = nodes[chain.begin + chain.length - 1];
  last.flow = last.forward = last.backward = 0;
}

// Here and below 0 - x in place of -x: no negative zeros come in, so that lanes give the same bits.
inline double clip_flow(const Node& node, double flow) {
  const double lowest = 0 - node.backward;
  flow = flow < lowest ? lowest : flow;
  return node.forward < flow ? node.forward : flow;
}

// The string touches one end of the gate: the nearer one, the other is out of reach by more than
// rounding.
inline double saturated_flow(const Node& node, double flow) {
  return node.forward - flow < flow + node.backward ? node.forward : 0 - node.backward;
}

// Replaces values and duals by the new ones along a piece, nodes begin, ..., end. Takes the change
// of the flow before it and returns that of its last one.
inline double settle(Node* nodes, std::int64_t begin, std::int64_t end, double slope,
                     double change) {
  for (std::int64_t j = begin; j < end; ++j) {
    Node& node = nodes[j];
    change += slope - node.value;
    node.value = slope;
    node.flow = clip_flow(node, node.flow + change);
  }
  Node& last = nodes[end];
  change += slope - last.value;
  const double flow = saturated_flow(last, last.flow + change);
  change = flow - last.flow;
  last.value = slope;
  last.flow = flow;
  return change;
}

// Lee & Preparata's funnel: the hulls of the gates beyond the apex, kept in one double-ended array
// from the last lower end over the apex to the last upper end, with slopes that increase all along.
// Sums are carried in two parts.
class Funnel {
 public:
  // Solves a chain; `pieces` has room for one piece a node, and the number of pieces is returned.
  // There are no more, unless values or bounds are not finite.
  std::int64_t solve(const Node* nodes, const Chain& chain, Piece* pieces) {
    reserve(2 * chain.length + 3);
    apex_ = lower_ = upper_ = chain.length + 1;
    points_[apex_] = {chain.begin - 1, 0.0, 0.0};
    pieces_ = pieces;
    count_ = 0;
    most_ = chain.length;
    double sum = 0, rest = 0;
    for (std::int64_t j = chain.begin; j < chain.begin + chain.length; ++j) {
      add(sum, rest, nodes[j].value);
      const double up = nodes[j].forward - nodes[j].flow, down = nodes[j].backward + nodes[j].flow;
      if (up < kInfinity) push_upper(point(j, sum, rest, up));
      if (down < kInfinity) push_lower(point(j, sum, rest, -down));
    }
    for (; apex_ < upper_; ++apex_) emit(points_[apex_], points_[apex_ + 1], kUpper);
    return count_;
  }

 private:
  struct Point {
    std::int64_t node;
    double value, rest;
  };

  void reserve(std::int64_t size) {
    if (static_cast<std::int64_t>(points_.size()) >= size) return;
    points_.resize(size);
    slopes_.resize(size);
  }

  static void add(double& sum, double& rest,
                  double term) {  // Knuth's error-free sum of two numbers
    const double total = sum + term, part = total - sum;
    rest += (sum - (total - part)) + (term - part);
    sum = total;
  }

  static Point point(std::int64_t node, double sum, double rest, double offset) {
    add(sum, rest, offset);
    return {node, sum, rest};
  }

  static double rise(const Point& from, const Point& to) {
    return (to.value - from.value) + (to.rest - from.rest);
  }
  static double run(const Point& from, const Point& to) {
    return static_cast<double>(to.node - from.node);
  }
  static double slope(const Point& from, const Point& to) { return rise(from, to) / run(from, to); }

  void emit(const Point& from, const Point& to, Side side) {
    if (count_ == most_) return;
    pieces_[count_++] = {rise(from, to), run(from, to), Piece::encode(to.node, side)};
  }

  void push_upper(const Point& next) {
    while (apex_ < upper_ && slope(points_[upper_], next) <= slopes_[upper_ - 1]) --upper_;
    while (apex_ == upper_ && lower_ < apex_ && slope(points_[apex_], next) < slopes_[apex_ - 1]) {
      emit(points_[apex_], points_[apex_ - 1], kLower);
      upper_ = --apex_;
    }
    slopes_[upper_] = slope(points_[upper_], next);
    points_[++upper_] = next;
  }

  void push_lower(const Point& next) {
    while (lower_ < apex_ && slope(points_[lower_], next) >= slopes_[lower_]) ++lower_;
    while (apex_ == lower_ && apex_ < upper_ && slope(points_[apex_], next) > slopes_[apex_]) {
      emit(points_[apex_], points_[apex_ + 1], kUpper);
      lower_ = ++apex_;
    }
    const double first = slope(points_[lower_], next);
    slopes_[--lower_] = first;
    points_[lower_] = next;
  }

  std::vector<Point> points_;
  std::vector<double> slopes_;
  std::int64_t apex_ = 0, lower_ = 0, upper_ = 0, count_ = 0, most_ = 0;
  Piece* pieces_ = nullptr;
};

// The walk along one chain, one piece at a time.
class Walk {
 public:
  explicit Walk(const Node* nodes) : nodes_(nodes) {}

  // As Funnel::solve, or -1 if the budget does not suffice.
  std::int64_t solve(const Chain& chain, Piece* pieces) {
    std::int64_t count = 0, apex = chain.begin - 1;
    const std::int64_t last = chain.begin + chain.length - 1;
    withdrawn_ = apex;
    budget_ = kStepsPerNode * chain.length;
    while (apex < last) {
      const Piece next = walk(apex, count == 0 ? 0.0 : offset(pieces[count - 1]));
      if (budget_ < 0) return -1;
      if (count > 0 && turns_wrong(pieces[count - 1], next)) {
        if (withdrawn_ < apex) withdrawn_ = apex;
        --count;
      } else {
        pieces[count++] = next;
      }
      apex = count == 0 ? chain.begin - 1 : pieces[count - 1].end();
    }
    return count;
  }

  double offset(const Piece& piece) const {
    const Node& node = nodes_[piece.end()];
    return piece.side() == kLower ? -(node.backward + node.flow) : node.forward - node.flow;
  }

  static bool turns_wrong(const Piece& piece, const Piece& next) {
    const double old_rise = piece.rise * next.run, new_rise = next.rise * piece.run;
    return piece.side() == kUpper ? new_rise < old_rise
                                  : piece.side() == kLower && new_rise > old_rise;
  }

 private:
  Piece walk(std::int64_t apex, double offset) {
    double sum = 0 - offset, run = 1, low_rise = -kInfinity, low_run = 1, high_rise = kInfinity,
           high_run = 1;
    std::int64_t low_end = apex, high_end = apex;
    for (std::int64_t j = apex + 1;; ++j, run += 1) {
      const Node& node = nodes_[j];
      double up = node.forward - node.flow, down = node.backward + node.flow;
      const bool up_shut = node.forward == node.flow, down_shut = -node.backward == node.flow,
                 fixed = up_shut && down_shut,
                 guess = fixed || ((up_shut || down_shut) && j > withdrawn_);
      const std::int64_t side = fixed ? kNoSide : up_shut ? kUpper : kLower;
      if (guess) up = down = 0;
      sum += node.value;
      const double top = sum + up, bottom = sum - down;
      const double low_limit = low_rise * run, high_limit = high_rise * run;
      budget_ -= 1;
      if (top * low_run < low_limit) return {low_rise, low_run, Piece::encode(low_end, kLower)};
      if (bottom * high_run > high_limit)
        return {high_rise, high_run, Piece::encode(high_end, kUpper)};
      if (guess) return {top, run, Piece::encode(j, side)};
      if (!(top * high_run > high_limit)) high_rise = top, high_run = run, high_end = j;
      if (!(bottom * low_run < low_limit)) low_rise = bottom, low_run = run, low_end = j;
    }
  }

  const Node* nodes_;
  std::int64_t withdrawn_ = 0;  // guesses up to here are not taken again
  std::int64_t budget_ = 0;
};

}  // namespace submin

// Functions given by a table of their 2^k values: the decomposition algorithm over bit masks.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "parallel.hpp"

namespace submin {

constexpr int kMostTableMembers = 20;
constexpr std::int64_t kTableWork = 32768;  // table entries in a piece of parallel work

struct Tables {
  const std::int32_t* members;  // (m, arity)
  const double* values;         // (m, 2^arity), or one row for all
  int arity;
  bool shared;

  const double* row(std::int64_t table) const { return values + (shared ? 0 : table << arity); }
};

// Arity 2: y = (t, F(12) - t) with F(12) - F(2) <= t <= F(1).
inline void project_pair(const double* a, const double* values, double* y) {
  const double total = values[3];
  const double free = 0.5 * (a[0] + total - a[1]);
  y[0] = std::min(std::max(free, total - values[2]), values[1]);
  y[1] = total - y[0];
}

// Buffers of one thread.
class TableProjector {
 public:
  static TableProjector& of_this_thread() {
    thread_local TableProjector projector;
    return projector;
  }

  // y := projection of a onto the base polytope of F. A minor (base, free) is S -> F(base + S) -
  // F(base) on S within free: project onto its hyperplane; if some proper S violates y(S) <= F(S),
  // the worst one is tight at the answer, which splits the minor into its restriction to S and its
  // contraction by S.
  void project(const double* a, const double* values, int arity, double* y) {
    const std::size_t subsets = std::size_t{1} << arity;
    if (masks_.size() < subsets) {
      masks_.resize(subsets);
      sums_.resize(subsets);
    }
    std::array<Minor, kMostTableMembers + 1> pending;
    int count = 0;
    pending[count++] = {0, static_cast<std::uint32_t>(subsets - 1)};
    while (count > 0) {
      const Minor minor = pending[--count];
      const std::uint32_t worst = solve(minor, a, values, y);
      if (worst == 0) continue;
      pending[count++] = {minor.base | worst, minor.free & ~worst};
      pending[count++] = {minor.base, worst};
    }
  }

 private:
  struct Minor {
    std::uint32_t base;
    std::uint32_t free;
  };

  // Writes the projection onto the hyperplane of the minor; returns the most violated set, or 0.
  std::uint32_t solve(const Minor& minor, const double* a, const double* values, double* y) {
    std::array<int, kMostTableMembers> members;
    int size = 0;
    double total = values[minor.base | minor.free] - values[minor.base];
    for (std::uint32_t rest = minor.free; rest != 0; rest &= rest - 1) {
      int member = 0;
      while ((rest >> member & 1) == 0) ++member;
      total -= a[member];
      members[size++] = member;
    }
    double magnitude = 0.0;
    for (int k = 0; k < size; ++k) {
      y[members[k]] = a[members[k]] + total / size;
      magnitude += std::abs(y[members[k]]);
    }
    if (size == 1) return 0;
    const double rounding = 4 * size * std::numeric_limits<double>::epsilon() * magnitude;
    enumerate(members.data(), size, y);
    return most_violated(minor.base, values, std::size_t{1} << size, rounding);
  }

  // Masks and sums y(S) of all subsets of the members, by doubling.
  void enumerate(const int* members, int size, const double* y) {
    masks_[0] = 0;
    sums_[0] = 0.0;
    for (int k = 0; k < size; ++k) {
      const std::size_t half = std::size_t{1} << k;
      const std::uint32_t bit = std::uint32_t{1} << members[k];
      const double value = y[members[k]];
      for (std::size_t set = 0; set < half; ++set) {
        masks_[half + set] = masks_[set] | bit;
        sums_[half + set] = sums_[set] + value;
      }
    }
  }

  std::uint32_t most_violated(std::uint32_t base, const double* values, std::size_t subsets,
                              double rounding) const {
    double least = -rounding;
    std::uint32_t worst = 0;
    for (std::size_t set = 1; set + 1 < subsets; ++set) {
      const double slack = values[base | masks_[set]] - values[base] - sums_[set];
      if (slack < least) {
        least = slack;
        worst = masks_[set];
      }
    }
    return worst;
  }

  std::vector<std::uint32_t> masks_;
  std::vector<double> sums_;
};

// Calls use(k, projection of table tables[k], its members, the start of its row of y) for all k <
// count.
template <class Use>
void visit_tables(const Tables& all, const std::int32_t* tables, std::int64_t count,
                  const double* y, const double* s, double c, int threads, const Use& use) {
  const int arity = all.arity;
  const std::int64_t grain = std::max<std::int64_t>(1, kTableWork >> arity);
  parallel_for(count, grain, threads, [&](std::int64_t begin, std::int64_t end) {
    TableProjector& projector = TableProjector::of_this_thread();
    std::array<double, kMostTableMembers> a;
    std::array<double, kMostTableMembers> projected;
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t table = tables[k];
      const std::int32_t* const members = all.members + table * arity;
      for (int b = 0; b < arity; ++b) a[b] = y[table * arity + b] - s[members[b]] / c;
      if (arity == 2)
        project_pair(a.data(), all.row(table), projected.data());
      else
        projector.project(a.data(), all.row(table), arity, projected.data());
      use(k, projected.data(), members, table * arity);
    }
  });
}

inline void table_project(const Tables& all, const std::int32_t* tables, std::int64_t count,
                          const double* y, const double* s, double c, double* out, int threads) {
  visit_tables(all, tables, count, y, s, c, threads,
               [&](std::int64_t k, const double* projected, const std::int32_t*, std::int64_t) {
                 std::copy_n(projected, all.arity, out + k * all.arity);
               });
}

inline void table_sweep(const Tables& all, const std::int32_t* tables, std::int64_t count,
                        double* y, double* s, int threads) {
  visit_tables(
      all, tables, count, y, s, 1.0, threads,
      [&](std::int64_t, const double* projected, const std::int32_t* members, std::int64_t row) {
        for (int b = 0; b < all.arity; ++b) {
          s[members[b]] += projected[b] - y[row + b];
          y[row + b] = projected[b];
        }
      });
}

}  // namespace submin

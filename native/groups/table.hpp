// Functions given by a table of their 2^k values: the decomposition algorithm over bit masks.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/indices.hpp"
#include "core/parallel.hpp"

namespace submin {

constexpr int kMostTableMembers = 20;
constexpr std::int64_t kTableWork = 32768;  // table entries in a piece of parallel work

struct Tables {
  const std::int32_t* members;  // (m, arity)
  const double* values;         // (m, 2^arity), or one row for all
  int arity;
  bool shared;
  std::int64_t elements;

  std::int64_t element(std::int64_t place) const {
    return checked_index(members, place, elements, "members.ravel()");
  }
  const double* row(std::int64_t table) const { return values + (shared ? 0 : table << arity); }
};

// Buffers of one thread.
class TableProjector {
 public:
  static TableProjector& of_this_thread() {
    thread_local TableProjector projector;
    return projector;
  }

  // y := projection of a onto the base polytope of F. A minor (base, free) is the function
  // S -> F(base + S) - F(base) of the subsets S of free. Project onto its hyperplane; if a proper S
  // has y(S) > F(S), the worst one is tight at the answer, which splits the minor into its
  // restriction to S and its contraction by S. One and two elements have closed forms.
  // In the metric d: the y that minimises sum (y - a)^2 / d.
  void project(const double* a, const double* d, const double* values, int arity, double* y) {
    std::array<Minor, kMostTableMembers> pending;  // disjoint, hence never more than the arity
    int count = 0;
    pending[count++] = {0, (std::uint32_t{1} << arity) - 1};
    while (count > 0) {
      const Minor minor = pending[--count];
      const int size = list_members(minor.free);
      if (size == 1) {
        project_single(minor, values, y);
      } else if (size == 2) {
        project_pair(minor, a, d, values, y);
      } else if (const std::uint32_t worst = project_hyperplane(minor, size, a, d, values, y)) {
        pending[count++] = {minor.base | worst, minor.free & ~worst};
        pending[count++] = {minor.base, worst};
      }
    }
  }

 private:
  struct Minor {
    std::uint32_t base;
    std::uint32_t free;
  };

  int list_members(std::uint32_t free) {
    int size = 0;
    for (int member = 0; free != 0; ++member, free >>= 1) {
      members_[size] = member;
      size += static_cast<int>(free & 1);
    }
    return size;
  }

  void project_single(const Minor& minor, const double* values, double* y) const {
    y[members_[0]] = values[minor.base | minor.free] - values[minor.base];
  }

  // y = (t, F(12) - t) with F(12) - F(2) <= t <= F(1).
  void project_pair(const Minor& minor, const double* a, const double* d, const double* values,
                    double* y) const {
    const int i = members_[0];
    const int j = members_[1];
    const double empty = values[minor.base];
    const double total = values[minor.base | minor.free] - empty;
    const double least = total - (values[minor.base | std::uint32_t{1} << j] - empty);
    const double most = values[minor.base | std::uint32_t{1} << i] - empty;
    const double share = d[i] / (d[i] + d[j]);
    y[i] = std::min(std::max(a[i] + share * (total - a[i] - a[j]), least), most);
    y[j] = total - y[i];
  }

  // Returns the set that the projection onto the hyperplane violates most, or 0.
  std::uint32_t project_hyperplane(const Minor& minor, int size, const double* a, const double* d,
                                   const double* values, double* y) {
    double excess = values[minor.base | minor.free] - values[minor.base];
    double width = 0.0;
    for (int k = 0; k < size; ++k) {
      excess -= a[members_[k]];
      width += d[members_[k]];
    }
    double magnitude = 0.0;
    for (int k = 0; k < size; ++k) {
      y[members_[k]] = a[members_[k]] + d[members_[k]] * (excess / width);
      magnitude += std::abs(y[members_[k]]);
    }
    const double rounding = 4 * size * std::numeric_limits<double>::epsilon() * magnitude;
    enumerate(size, y);
    return most_violated(minor.base, values, std::size_t{1} << size, rounding);
  }

  // Masks and sums y(S) of all subsets of the members, by doubling.
  void enumerate(int size, const double* y) {
    const std::size_t subsets = std::size_t{1} << size;
    if (masks_.size() < subsets) {
      masks_.resize(subsets);
      sums_.resize(subsets);
    }
    masks_[0] = 0;
    sums_[0] = 0.0;
    for (int k = 0; k < size; ++k) {
      const std::size_t half = std::size_t{1} << k;
      const std::uint32_t bit = std::uint32_t{1} << members_[k];
      const double value = y[members_[k]];
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

  std::array<int, kMostTableMembers + 1> members_;
  std::vector<std::uint32_t> masks_;
  std::vector<double> sums_;
};

// Calls use(k, projection for tables[k], its members, the start of its row of y) for all k < count.
template <class Use>
void visit_tables(const Tables& all, const std::int32_t* tables, std::int64_t count,
                  const double* y, const double* s, double c, int threads, const Use& use) {
  const int arity = all.arity;
  const std::int64_t grain = std::max<std::int64_t>(1, kTableWork >> arity);
  parallel_for(count, grain, threads, [&](std::int64_t begin, std::int64_t end) {
    TableProjector& projector = TableProjector::of_this_thread();
    std::array<double, kMostTableMembers> a;
    std::array<double, kMostTableMembers> projected;
    std::array<double, kMostTableMembers> ones;
    ones.fill(1.0);
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t table = tables[k];
      const std::int32_t* const members = all.members + table * arity;
      for (int b = 0; b < arity; ++b)
        a[b] = y[table * arity + b] - s[all.element(table * arity + b)] / c;
      projector.project(a.data(), ones.data(), all.row(table), arity, projected.data());
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

// The least F(A + i) + F(A + j) - F(A) - F(A + i + j) over all i, j and all sets A without them.
inline double least_second_difference(const double* values, int arity) {
  const std::size_t subsets = std::size_t{1} << arity;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t j = 2; j < subsets; j *= 2)
    for (std::size_t i = 1; i < j; i *= 2)
      for (std::size_t high = 0; high < subsets; high += 2 * j)
        for (std::size_t middle = high; middle < high + j; middle += 2 * i)
          for (std::size_t set = middle; set < middle + i; ++set)
            least = std::min(
                least, (values[set + i] + values[set + j]) - (values[set] + values[set + i + j]));
  return least;
}

inline void table_second_differences(const double* values, int arity, std::int64_t count,
                                     double* out, int threads) {
  const std::int64_t grain = std::max<std::int64_t>(1, kTableWork >> arity);
  parallel_for(count, grain, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      out[row] = least_second_difference(values + (row << arity), arity);
  });
}

}  // namespace submin

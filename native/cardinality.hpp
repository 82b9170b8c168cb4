// Concave functions of the cardinality: sort, pool adjacent violators, subtract.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "sorting.hpp"

namespace submin {

constexpr std::int64_t kMemberGrain = 8192;  // members in a piece of parallel work

struct Groups {
  const std::int64_t* indptr;
  const std::int32_t* members;
  const double* gains;
};

// Pools of a nonincreasing regression: sums and sizes, the means descending strictly.
class Pools {
 public:
  void reserve(std::int64_t count) {
    totals_.resize(std::max<std::size_t>(totals_.size(), count));
    sizes_.resize(std::max<std::size_t>(sizes_.size(), count));
  }

  // values := values minus the nonincreasing regression of values - gains, at the places order[0],
  // order[1], ...
  void subtract_regression(const double* sorted, const double* gains, const std::int32_t* order,
                           double* values, std::int64_t count) {
    const std::int64_t pools = pool(sorted, gains, count);
    std::int64_t k = 0;
    for (std::int64_t p = 0; p < pools; ++p) {
      const double mean = totals_[p] / sizes_[p];
      for (const std::int64_t end = k + static_cast<std::int64_t>(sizes_[p]); k < end; ++k)
        values[order[k]] = sorted[k] - mean;
    }
  }

 private:
  // The last pool stays in registers, and means are compared without a division.
  std::int64_t pool(const double* sorted, const double* gains, std::int64_t count) {
    std::int64_t top = 0;
    double total = sorted[0] - gains[0];
    double size = 1.0;
    for (std::int64_t k = 1; k < count; ++k) {
      const double value = sorted[k] - gains[k];
      if (value * size < total) {
        totals_[top] = total;
        sizes_[top++] = size;
        total = value;
        size = 1.0;
        continue;
      }
      total += value;
      size += 1.0;
      while (top > 0 && totals_[top - 1] * size <= total * sizes_[top - 1]) {
        total += totals_[--top];
        size += sizes_[top];
      }
    }
    totals_[top] = total;
    sizes_[top] = size;
    return top + 1;
  }

  std::vector<double> totals_;
  std::vector<double> sizes_;
};

// Buffers of one thread.
class CardinalityProjector {
 public:
  static CardinalityProjector& of_this_thread() {
    thread_local CardinalityProjector projector;
    return projector;
  }

  // Returns the projection of y - s[members] / c, in member order, valid until the next call.
  const double* project(const std::int32_t* members, const double* gains, const double* y,
                        const double* s, double c, std::int32_t* order, std::int64_t count) {
    if (count == 0) return nullptr;
    values_.resize(std::max<std::size_t>(values_.size(), count));
    sorted_.resize(std::max<std::size_t>(sorted_.size(), count));
    pools_.reserve(count);
    double* const values = values_.data();
    if (c == 1.0)
      for (std::int64_t k = 0; k < count; ++k) values[k] = y[k] - s[members[k]];
    else
      for (std::int64_t k = 0; k < count; ++k) values[k] = y[k] - s[members[k]] / c;
    sorter_.sort(values, order, sorted_.data(), count);
    pools_.subtract_regression(sorted_.data(), gains, order, values, count);
    return values;
  }

 private:
  std::vector<double> values_;
  std::vector<double> sorted_;
  DescendingSorter sorter_;
  Pools pools_;
};

// Calls visit(k) for k < count in pieces of about kMemberGrain members.
template <class Visit>
void visit_groups(std::int64_t count, std::int64_t members, int threads, const Visit& visit) {
  const std::int64_t grain =
      std::max<std::int64_t>(1, count * kMemberGrain / std::max<std::int64_t>(1, members));
  if (members < 2 * kMemberGrain) threads = 1;
  parallel_for(count, grain, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) visit(k);
  });
}

// `places[k]` is where the results of the group `groups[k]` begin in `out`; places[count] is the
// end.
inline void cardinality_project(const Groups& all, const std::int32_t* groups,
                                const std::vector<std::int64_t>& places, const double* y,
                                const double* s, double c, std::int32_t* order, double* out,
                                int threads) {
  visit_groups(static_cast<std::int64_t>(places.size()) - 1, places.back(), threads,
               [&](std::int64_t k) {
                 const std::int64_t begin = all.indptr[groups[k]];
                 const std::int64_t count = places[k + 1] - places[k];
                 const double* const result = CardinalityProjector::of_this_thread().project(
                     all.members + begin, all.gains + begin, y + begin, s, c, order + begin, count);
                 std::copy_n(result, count, out + places[k]);
               });
}

inline void cardinality_sweep(const Groups& all, const std::int32_t* groups,
                              const std::vector<std::int64_t>& places, double* y, double* s,
                              std::int32_t* order, int threads) {
  visit_groups(static_cast<std::int64_t>(places.size()) - 1, places.back(), threads,
               [&](std::int64_t k) {
                 const std::int64_t begin = all.indptr[groups[k]];
                 const std::int64_t count = places[k + 1] - places[k];
                 const std::int32_t* const members = all.members + begin;
                 const double* const result = CardinalityProjector::of_this_thread().project(
                     members, all.gains + begin, y + begin, s, 1.0, order + begin, count);
                 for (std::int64_t j = 0; j < count; ++j) {
                   s[members[j]] += result[j] - y[begin + j];
                   y[begin + j] = result[j];
                 }
               });
}

// Greedy vertices: in each group the j-th member in increasing rank gets gains[j].
inline void cardinality_greedy(const Groups& all, std::int64_t count, const std::int32_t* rank,
                               double* out, int threads) {
  visit_groups(count, all.indptr[count] - all.indptr[0], threads, [&](std::int64_t group) {
    thread_local std::vector<std::uint64_t> words;
    const std::int64_t begin = all.indptr[group];
    const std::int64_t size = all.indptr[group + 1] - begin;
    words.resize(std::max<std::size_t>(words.size(), 2 * size));
    for (std::int64_t j = 0; j < size; ++j)
      words[j] = static_cast<std::uint64_t>(rank[all.members[begin + j]]) << 32 |
                 static_cast<std::uint64_t>(j);
    if (size > 1) radix_sort(words.data(), words.data() + size, size, 4);
    for (std::int64_t j = 0; j < size; ++j)
      out[begin + (words[j] & 0xffffffffu)] = all.gains[begin + j];
  });
}

}  // namespace submin

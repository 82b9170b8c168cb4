// Concave functions of the cardinality: sort, pool adjacent violators, subtract.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/sorting.hpp"
#include "groups/groups.hpp"

namespace submin {

// Pools of a nonincreasing regression: sums and sizes, the means descending strictly.
class Pools {
 public:
  void reserve(std::int64_t count) {
    totals_.resize(std::max<std::size_t>(totals_.size(), count));
    sizes_.resize(std::max<std::size_t>(sizes_.size(), count));
  }

  // Subtracts from values[order[0]], values[order[1]], ..., which are `sorted`, the nonincreasing
  // regression of sorted - gains.
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

  // Replaces `values` by their projection; `first` is the place of `order` in its array.
  void project(const double* gains, std::int32_t* order, double* values, std::int64_t count,
               std::int64_t first) {
    if (count == 0) return;
    sorted_.resize(std::max<std::size_t>(sorted_.size(), count));
    pools_.reserve(count);
    sorter_.sort(values, order, sorted_.data(), count, first);
    pools_.subtract_regression(sorted_.data(), gains, order, values, count);
  }

 private:
  std::vector<double> sorted_;
  DescendingSorter sorter_;
  Pools pools_;
};

// Projects one group in place, for project_selected and sweep_selected.
inline auto cardinality_projection(const double* gains, std::int32_t* order) {
  return [=](std::int64_t, std::int64_t begin, std::int64_t count, const double*, double* values) {
    CardinalityProjector::of_this_thread().project(gains + begin, order + begin, values, count,
                                                   begin);
  };
}

// The largest excess of the k largest values of y over g(k): g(0), ..., g(count) are `costs`.
class CardinalityExcess {
 public:
  static CardinalityExcess& of_this_thread() {
    thread_local CardinalityExcess excess;
    return excess;
  }

  Excess operator()(const double* costs, const double* y, std::int64_t count) {
    sorted_.resize(std::max<std::size_t>(sorted_.size(), count));
    order_.resize(sorted_.size());
    std::iota(order_.begin(), order_.begin() + count, 0);
    sorter_.sort(y, order_.data(), sorted_.data(), count);
    Compensated sum;
    double largest = 0.0, magnitude = 0.0;
    for (std::int64_t k = 0; k < count; ++k) {
      sum.add(sorted_[k]);
      magnitude += std::abs(sorted_[k]);
      largest = larger(largest, (sum.sum - costs[k + 1]) + sum.error);
    }
    return with_error(largest, count, magnitude);
  }

 private:
  std::vector<double> sorted_;
  std::vector<std::int32_t> order_;
  DescendingSorter sorter_;
};

// The sum over all groups; the costs of a group begin at its pointer and its number.
inline Excess cardinality_excess(const std::int64_t* indptr, std::int64_t count,
                                 const double* costs, const double* y, int threads) {
  return sum_of_excesses(indptr, count, threads, [=](std::int64_t group) {
    const std::int64_t begin = indptr[group];
    return CardinalityExcess::of_this_thread()(costs + begin + group, y + begin,
                                               indptr[group + 1] - begin);
  });
}

// Greedy vertices: in each group the j-th member in increasing rank gets gains[j].
inline void cardinality_greedy(const std::int64_t* indptr, std::int64_t count,
                               const std::int32_t* members, const double* gains,
                               const std::int32_t* rank, double* out, int threads) {
  visit_groups(count, indptr[count] - indptr[0], threads, [=](std::int64_t group) {
    thread_local std::vector<std::uint64_t> words;
    const std::int64_t begin = indptr[group];
    const std::int64_t size = indptr[group + 1] - begin;
    words.resize(std::max<std::size_t>(words.size(), 2 * size));
    for (std::int64_t j = 0; j < size; ++j)
      words[j] = static_cast<std::uint64_t>(rank[members[begin + j]]) << 32 |
                 static_cast<std::uint64_t>(j);
    if (size > 1) radix_sort(words.data(), words.data() + size, size, 4);
    for (std::int64_t j = 0; j < size; ++j)
      out[begin + (words[j] & 0xffffffffu)] = gains[begin + j];
  });
}

}  // namespace submin

// What the families with one value of y per member of a group share: projections and sweeps of the
// selected groups, given how one group is projected; and sums over all groups.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/compensated.hpp"
#include "core/indices.hpp"
#include "core/parallel.hpp"

namespace submin {

constexpr std::int64_t kMemberGrain = 8192;  // members in a piece of parallel work

// How many groups have about kMemberGrain members.
inline std::int64_t group_grain(std::int64_t count, std::int64_t members) {
  return std::max<std::int64_t>(1, count * kMemberGrain / std::max<std::int64_t>(1, members));
}

// Calls visit(k) for k < count in pieces of about kMemberGrain members.
template <class Visit>
void visit_groups(std::int64_t count, std::int64_t members, int threads, const Visit& visit) {
  const std::int64_t grain = group_grain(count, members);
  if (members < 2 * kMemberGrain) threads = 1;
  parallel_for(count, grain, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) visit(k);
  });
}

// The groups of a block: `places[k]` is where the results of the group `groups[k]` begin,
// places[count] the end.
struct Selection {
  const std::int64_t* indptr;
  const std::int32_t* members;
  const std::int32_t* groups;
  std::int64_t elements;
  std::vector<std::int64_t> places;

  std::int64_t begin(std::int64_t k) const { return indptr[groups[k]]; }
  std::int64_t count(std::int64_t k) const { return places[k + 1] - places[k]; }
  std::int64_t element(std::int64_t place) const {
    return checked_index(members, place, elements, "members");
  }
};

// The y - s / c of the members of one group, in a buffer of this thread. Refuses members that are
// no elements; nothing has been done to the group then.
inline double* group_target(const Selection& chosen, std::int64_t k, const double* y,
                            const double* s, double c) {
  thread_local std::vector<double> buffer;
  const std::int64_t begin = chosen.begin(k), count = chosen.count(k);
  buffer.resize(std::max<std::size_t>(buffer.size(), count));
  double* const values = buffer.data();
  if (c == 1.0)
    for (std::int64_t j = 0; j < count; ++j)
      values[j] = y[begin + j] - s[chosen.element(begin + j)];
  else
    for (std::int64_t j = 0; j < count; ++j)
      values[j] = y[begin + j] - s[chosen.element(begin + j)] / c;
  return values;
}

// `project(group, begin, count, y, values)` replaces the target of one group, `values`, by its
// projection; the group's members begin at `begin`, and y is where its values start from.
template <class Project>
void project_selected(const Selection& chosen, const double* y, const double* s, double c,
                      double* out, int threads, const Project& project) {
  const std::vector<std::int64_t>& places = chosen.places;
  visit_groups(static_cast<std::int64_t>(places.size()) - 1, places.back(), threads,
               [&](std::int64_t k) {
                 const std::int64_t begin = chosen.begin(k), count = chosen.count(k);
                 double* const values = group_target(chosen, k, y, s, c);
                 project(chosen.groups[k], begin, count, y + begin, values);
                 std::copy_n(values, count, out + places[k]);
               });
}

template <class Project>
void sweep_selected(const Selection& chosen, double* y, double* s, int threads,
                    const Project& project) {
  const std::vector<std::int64_t>& places = chosen.places;
  visit_groups(static_cast<std::int64_t>(places.size()) - 1, places.back(), threads,
               [&](std::int64_t k) {
                 const std::int64_t begin = chosen.begin(k), count = chosen.count(k);
                 const std::int32_t* const members = chosen.members + begin;
                 double* const values = group_target(chosen, k, y, s, 1.0);
                 project(chosen.groups[k], begin, count, y + begin, values);
                 for (std::int64_t j = 0; j < count; ++j) {
                   s[members[j]] += values[j] - y[begin + j];
                   y[begin + j] = values[j];
                 }
               });
}

// Adds scale times y to s; groups may share members.
inline void groups_accumulate(const std::int32_t* members, const double* y, std::int64_t count,
                              double* s, double scale) {
  for (std::int64_t k = 0; k < count; ++k) s[members[k]] += scale * y[k];
}

// How many members of each group are in a set.
inline void group_counts(const std::int64_t* indptr, std::int64_t count,
                         const std::int32_t* members, const std::uint8_t* member, std::int64_t* out,
                         int threads) {
  visit_groups(count, indptr[count] - indptr[0], threads, [=](std::int64_t group) {
    std::int64_t inside = 0;
    for (std::int64_t k = indptr[group]; k < indptr[group + 1]; ++k)
      inside += member[members[k]] != 0;
    out[group] = inside;
  });
}

// max_S (y(S) - F(S)), or a sum of those, and a bound on its rounding error.
struct Excess {
  double total = 0.0, error = 0.0;
};

// The bound for the largest, at least 0, of compensated sums of `count` numbers whose magnitudes
// sum to `magnitude`, each perhaps less a cost. With the unit roundoff u the error of a sum is at
// most u |sum| + (count u)^2 magnitude (Ogita, Rump, Oishi 2005), and a cost adds as much again;
// the errors of sums below 0 do not count. Twice that, for the rounding of the bound itself.
inline Excess with_error(double largest, std::int64_t count, double magnitude) {
  constexpr double unit_roundoff = 0x1p-53;
  const double share = static_cast<double>(count) * unit_roundoff;
  return {largest, 4.0 * unit_roundoff * largest + 4.0 * share * share * magnitude};
}

// The larger of two numbers, or NaN if the second one is NaN.
inline double larger(double a, double b) { return b <= a ? a : b; }

// The sum of of(group) over all groups; infinite if numbers overflow.
template <class Of>
Excess sum_of_excesses(const std::int64_t* indptr, std::int64_t count, int threads, const Of& of) {
  struct Part {
    Compensated total;
    double error = 0.0;
  };
  const std::int64_t members = indptr[count] - indptr[0];
  const std::int64_t grain = group_grain(count, members);
  std::vector<Part> parts(static_cast<std::size_t>((count + grain - 1) / grain));
  if (members < 2 * kMemberGrain) threads = 1;
  parallel_for(static_cast<std::int64_t>(parts.size()), 1, threads,
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t p = first; p < last; ++p) {
                   Part part;
                   for (std::int64_t k = p * grain; k < std::min((p + 1) * grain, count); ++k) {
                     const Excess excess = of(k);
                     part.total.add(excess.total);
                     part.error += excess.error;
                   }
                   parts[static_cast<std::size_t>(p)] = part;
                 }
               });
  Part sum;
  for (const Part& part : parts) {
    sum.total += part.total;
    sum.error += part.error;
  }
  const double total = sum.total.rounded();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return std::isfinite(total) ? Excess{total, sum.error} : Excess{infinity, infinity};
}

}  // namespace submin

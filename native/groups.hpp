// What the families with one value of y per member of a group share: projections and sweeps of the
// selected groups, given how one group is projected.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace submin {

constexpr std::int64_t kMemberGrain = 8192;  // members in a piece of parallel work

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

// The groups of a block: `places[k]` is where the results of the group `groups[k]` begin,
// places[count] the end.
struct Selection {
  const std::int64_t* indptr;
  const std::int32_t* members;
  const std::int32_t* groups;
  std::vector<std::int64_t> places;
};

// The y - s / c of the members of one group, in a buffer of this thread.
inline double* group_target(const std::int32_t* members, const double* y, const double* s, double c,
                            std::int64_t count) {
  thread_local std::vector<double> buffer;
  buffer.resize(std::max<std::size_t>(buffer.size(), count));
  double* const values = buffer.data();
  if (c == 1.0)
    for (std::int64_t k = 0; k < count; ++k) values[k] = y[k] - s[members[k]];
  else
    for (std::int64_t k = 0; k < count; ++k) values[k] = y[k] - s[members[k]] / c;
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
                 const std::int64_t begin = chosen.indptr[chosen.groups[k]];
                 const std::int64_t count = places[k + 1] - places[k];
                 double* const values =
                     group_target(chosen.members + begin, y + begin, s, c, count);
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
                 const std::int64_t begin = chosen.indptr[chosen.groups[k]];
                 const std::int64_t count = places[k + 1] - places[k];
                 const std::int32_t* const members = chosen.members + begin;
                 double* const values = group_target(members, y + begin, s, 1.0, count);
                 project(chosen.groups[k], begin, count, y + begin, values);
                 for (std::int64_t j = 0; j < count; ++j) {
                   s[members[j]] += values[j] - y[begin + j];
                   y[begin + j] = values[j];
                 }
               });
}

}  // namespace submin

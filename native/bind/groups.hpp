// Checks that the bindings of the families of groups share.
#pragma once

#include <nanobind/stl/pair.h>

#include <utility>

#include "bind/arrays.hpp"
#include "groups/groups.hpp"

namespace submin {

// The size of a group, whose pointers must ascend within the members.
inline std::int64_t checked_count(const std::int64_t* indptr, std::int64_t group,
                                  std::size_t members) {
  const std::int64_t begin = indptr[group];
  const std::int64_t end = indptr[group + 1];
  if (begin < 0 || end < begin || end > size_of(members))
    throw std::invalid_argument("indptr does not point into members at group " +
                                std::to_string(group) + ": it runs from " + std::to_string(begin) +
                                " to " + std::to_string(end) + ", of " + std::to_string(members));
  return end - begin;
}

inline Selection checked_selection(const ConstPointers& indptr, const ConstIndices& members,
                                   const ConstIndices& groups, std::size_t elements) {
  require(indptr.size() >= 1, "indptr is empty");
  require_below(groups, size_of(indptr.size()) - 1, "groups");
  Selection chosen{indptr.data(), members.data(), groups.data(), reach_of(elements), {0}};
  chosen.places.reserve(groups.size() + 1);
  for (std::size_t k = 0; k < groups.size(); ++k)
    chosen.places.push_back(chosen.places.back() +
                            checked_count(chosen.indptr, chosen.groups[k], members.size()));
  return chosen;
}

// The number of groups, whose pointers must all ascend within the members.
inline std::int64_t checked_groups(const ConstPointers& indptr, std::size_t members) {
  require(indptr.size() >= 1, "indptr is empty");
  const std::int64_t count = size_of(indptr.size()) - 1;
  for (std::int64_t group = 0; group < count; ++group) checked_count(indptr.data(), group, members);
  return count;
}

inline std::pair<double, double> as_pair(const Excess& excess) {
  return {excess.total, excess.error};
}

}  // namespace submin

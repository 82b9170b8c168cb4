// Greedy colouring of supports: functions of one colour have no common element and form a block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/pairs.hpp"

namespace submin {

// Give each function the first colour that no earlier function on any of its elements has.
// `first_free[v]` is below every colour that element v still has free, so few colours are tried.
inline void colour(const std::int64_t* pointers, const std::int32_t* members,
                   std::int64_t functions, std::int32_t elements, std::int32_t* colours) {
  PairSet taken(pointers[functions]);
  std::vector<std::int32_t> first_free(static_cast<std::size_t>(elements), 0);
  for (std::int64_t i = 0; i < functions; ++i) {
    const std::int32_t* begin = members + pointers[i];
    const std::int32_t* end = members + pointers[i + 1];
    std::int32_t candidate = 0;
    for (const std::int32_t* v = begin; v != end; ++v)
      candidate = std::max(candidate, first_free[*v]);
    const auto is_taken = [&](std::int32_t v) { return taken.contains(v, candidate); };
    while (std::any_of(begin, end, is_taken)) ++candidate;
    colours[i] = candidate;
    for (const std::int32_t* v = begin; v != end; ++v) {
      taken.insert(*v, candidate);
      while (taken.contains(*v, first_free[*v])) ++first_free[*v];
    }
  }
}

}  // namespace submin

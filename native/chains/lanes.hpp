// Chains side by side, one in each lane of a vector: taut_lanes.hpp and chain_lanes.hpp, compiled
// once for each width of vectors.
//
// They are written in the operations of vectors_avx2.hpp and vectors_avx512.hpp, and included once
// for each, in its namespace. A template with the vectors as parameter would not do: compilers
// inline an operation only into a function of the same target, and a target cannot be a parameter.
#pragma once

#include "core/vectorize.hpp"

#ifdef SUBMIN_MULTIVERSION
#define SUBMIN_LANES

#if defined(__clang__)
#include <immintrin.h>
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // within GCC's intrinsics
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chains/chain_arrays.hpp"
#include "chains/lane_place.hpp"
#include "chains/piece_log.hpp"
#include "chains/taut_string.hpp"
#include "chains/vectors_avx2.hpp"
#include "chains/vectors_avx512.hpp"

#define SUBMIN_WIDTH avx2
#define SUBMIN_TARGET SUBMIN_AVX2
#include "chains/chain_lanes.hpp"
#include "chains/taut_lanes.hpp"
#undef SUBMIN_WIDTH
#undef SUBMIN_TARGET

#define SUBMIN_WIDTH avx512
#define SUBMIN_TARGET SUBMIN_AVX512
#include "chains/chain_lanes.hpp"
#include "chains/taut_lanes.hpp"
#undef SUBMIN_WIDTH
#undef SUBMIN_TARGET

namespace submin {

struct Avx2Lanes {
  using Taut = avx2::TautLanes;
  using Chains = avx2::ChainLanes;
  static constexpr int kLanes = avx2::kLanes;
};

struct Avx512Lanes {
  using Taut = avx512::TautLanes;
  using Chains = avx512::ChainLanes;
  static constexpr int kLanes = avx512::kLanes;
};

}  // namespace submin

#endif

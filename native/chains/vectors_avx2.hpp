// Vectors of four doubles: AVX2. chains/vectors_avx512.hpp offers the same names for eight.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "chains/taut_string.hpp"
#include "core/vectorize.hpp"

namespace submin::avx2 {

constexpr int kLanes = 4;

using Value = __m256d;

struct Mask {
  __m256d lanes;
};
struct AllLanes {};

#define SUBMIN_OPERATION SUBMIN_AVX2 SUBMIN_INLINE inline

SUBMIN_OPERATION Mask operator&(Mask a, Mask b) { return {_mm256_and_pd(a.lanes, b.lanes)}; }
SUBMIN_OPERATION Mask operator|(Mask a, Mask b) { return {_mm256_or_pd(a.lanes, b.lanes)}; }
SUBMIN_OPERATION Mask except(Mask a, Mask b) { return {_mm256_andnot_pd(b.lanes, a.lanes)}; }
SUBMIN_OPERATION unsigned bits(Mask a) {
  return static_cast<unsigned>(_mm256_movemask_pd(a.lanes));
}
SUBMIN_OPERATION Mask mask_of(unsigned bits) {
  const __m256i each = _mm256_setr_epi64x(1, 2, 4, 8);
  const __m256i all = _mm256_set1_epi64x(static_cast<std::int64_t>(bits));
  return {_mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(all, each), each))};
}
SUBMIN_OPERATION bool none(Mask a, Mask b) { return bits(a | b) == 0; }

SUBMIN_OPERATION Value broadcast(double value) { return _mm256_set1_pd(value); }
SUBMIN_OPERATION Value load(const double* at) { return _mm256_load_pd(at); }
SUBMIN_OPERATION void store(double* at, Value a) { _mm256_store_pd(at, a); }

// Of any alignment, and zero in the other lanes.
SUBMIN_OPERATION Value load(AllLanes, const double* at) { return _mm256_loadu_pd(at); }
SUBMIN_OPERATION Value load(Mask lanes, const double* at) {
  return _mm256_maskload_pd(at, _mm256_castpd_si256(lanes.lanes));
}
SUBMIN_OPERATION Value load(AllLanes, const float* at) { return _mm256_cvtps_pd(_mm_loadu_ps(at)); }
SUBMIN_OPERATION Value load(Mask lanes, const float* at) {
  const __m256i halves = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
  const __m256i mask = _mm256_permutevar8x32_epi32(_mm256_castpd_si256(lanes.lanes), halves);
  return _mm256_cvtps_pd(_mm_maskload_ps(at, _mm256_castsi256_si128(mask)));
}
SUBMIN_OPERATION void store(AllLanes, double* at, Value a) { _mm256_storeu_pd(at, a); }
SUBMIN_OPERATION void store(Mask lanes, double* at, Value a) {
  _mm256_maskstore_pd(at, _mm256_castpd_si256(lanes.lanes), a);
}
SUBMIN_OPERATION Value keep(AllLanes, Value a) { return a; }
SUBMIN_OPERATION Value keep(Mask lanes, Value a) { return _mm256_and_pd(lanes.lanes, a); }

// Comparisons with what is not a number: false for the first three, true for the last two.
SUBMIN_OPERATION Mask equal(Value a, Value b) { return {_mm256_cmp_pd(a, b, _CMP_EQ_OQ)}; }
SUBMIN_OPERATION Mask less(Value a, Value b) { return {_mm256_cmp_pd(a, b, _CMP_LT_OQ)}; }
SUBMIN_OPERATION Mask ordered(Value a) { return {_mm256_cmp_pd(a, a, _CMP_ORD_Q)}; }
SUBMIN_OPERATION Mask not_less(Value a, Value b) { return {_mm256_cmp_pd(a, b, _CMP_NLT_UQ)}; }
SUBMIN_OPERATION Mask not_greater(Value a, Value b) { return {_mm256_cmp_pd(a, b, _CMP_NGT_UQ)}; }

// Not the intrinsic: compilers make a comparison with zero of it, and a blend.
SUBMIN_OPERATION Value select(Mask lanes, Value yes, Value no) {
  Value result;
  asm("vblendvpd %3, %2, %1, %0" : "=x"(result) : "x"(no), "xm"(yes), "x"(lanes.lanes));
  return result;
}
// Adds outside of the mask; in its lanes a, which must not be a negative zero, stays.
SUBMIN_OPERATION Value add_except(Mask lanes, Value a, Value b) {
  return a + _mm256_andnot_pd(lanes.lanes, b);
}
SUBMIN_OPERATION Value subtract_except(Mask lanes, Value a, Value b) {
  return a - _mm256_andnot_pd(lanes.lanes, b);
}
SUBMIN_OPERATION Value negate_in(Mask lanes, Value a) {
  return _mm256_xor_pd(a, keep(lanes, _mm256_set1_pd(-0.0)));
}

// For each set of lanes: where its lanes come from, as pairs of 32-bit words, and how many lanes
// of the set lie before each lane.
struct PackingTable {
  alignas(32) std::int32_t words[16][8] = {};
  alignas(32) double before[16][4] = {};

  constexpr PackingTable() {
    for (int lanes = 0; lanes < 16; ++lanes) {
      int count = 0;
      for (int lane = 0; lane < 4; ++lane) {
        before[lanes][lane] = count;
        if (!(lanes >> lane & 1)) continue;
        words[lanes][2 * count] = 2 * lane;
        words[lanes][2 * count + 1] = 2 * lane + 1;
        ++count;
      }
    }
  }
};
inline constexpr PackingTable kPacking;

// The lanes of a mask, moved together.
class Packing {
 public:
  SUBMIN_OPERATION explicit Packing(Mask lanes)
      : lanes_(lanes),
        bits_(bits(lanes)),
        words_(_mm256_load_si256(reinterpret_cast<const __m256i*>(kPacking.words[bits_]))) {}
  SUBMIN_OPERATION std::int64_t count() const { return __builtin_popcount(bits_); }
  // Writes a whole vector, of which the first `count` lanes matter.
  SUBMIN_OPERATION void store(double* at, Value a) const {
    const __m256i packed = _mm256_permutevar8x32_epi32(_mm256_castpd_si256(a), words_);
    _mm256_storeu_pd(at, _mm256_castsi256_pd(packed));
  }
  // Replaces the lanes of the mask by first, first + 1, ...
  SUBMIN_OPERATION Value number(Value a, double first) const {
    return select(lanes_, _mm256_load_pd(kPacking.before[bits_]) + _mm256_set1_pd(first), a);
  }

 private:
  Mask lanes_;
  unsigned bits_;
  __m256i words_;
};

// 32 times the bits of a.
SUBMIN_OPERATION void node_offsets(Value a, std::uint64_t* offsets) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(offsets),
                     _mm256_slli_epi64(_mm256_castpd_si256(a), 5));
}

SUBMIN_OPERATION Value gather(const double* from, const std::int64_t* at) {
  return _mm256_setr_pd(from[at[0]], from[at[1]], from[at[2]], from[at[3]]);
}

struct NodeLanes {
  Value value, flow, forward, backward;
};

SUBMIN_OPERATION void transpose(Value (&v)[4]) {
  const Value low_a = _mm256_unpacklo_pd(v[0], v[1]), high_a = _mm256_unpackhi_pd(v[0], v[1]);
  const Value low_b = _mm256_unpacklo_pd(v[2], v[3]), high_b = _mm256_unpackhi_pd(v[2], v[3]);
  v[0] = _mm256_permute2f128_pd(low_a, low_b, 0x20);
  v[1] = _mm256_permute2f128_pd(high_a, high_b, 0x20);
  v[2] = _mm256_permute2f128_pd(low_a, low_b, 0x31);
  v[3] = _mm256_permute2f128_pd(high_a, high_b, 0x31);
}

SUBMIN_OPERATION Value load_halves(const double* low, const double* high) {
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(low)), _mm_load_pd(high), 1);
}

// Loads the nodes at(0), ..., at(3) and transposes them, which beats gathering.
template <class At>
SUBMIN_OPERATION NodeLanes load_nodes(const At& at) {
  const Node *n0 = at(0), *n1 = at(1), *n2 = at(2), *n3 = at(3);
  const Value even_a = load_halves(&n0->value, &n2->value),
              odd_a = load_halves(&n1->value, &n3->value);
  const Value even_b = load_halves(&n0->forward, &n2->forward),
              odd_b = load_halves(&n1->forward, &n3->forward);
  return {_mm256_unpacklo_pd(even_a, odd_a), _mm256_unpackhi_pd(even_a, odd_a),
          _mm256_unpacklo_pd(even_b, odd_b), _mm256_unpackhi_pd(even_b, odd_b)};
}

template <class At>
SUBMIN_OPERATION void store_nodes(const NodeLanes& nodes, const At& at) {
  Value rows[4] = {nodes.value, nodes.flow, nodes.forward, nodes.backward};
  transpose(rows);
  for (int lane = 0; lane < 4; ++lane) _mm256_store_pd(&at(lane)->value, rows[lane]);
}

#undef SUBMIN_OPERATION

}  // namespace submin::avx2

// Vectors of eight doubles: AVX-512. chains/vectors_avx2.hpp offers the same names for four.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "chains/taut_string.hpp"
#include "core/vectorize.hpp"

namespace submin::avx512 {

constexpr int kLanes = 8;

using Value = __m512d;

struct Mask {
  __mmask8 lanes;
};
struct AllLanes {};

#define SUBMIN_OPERATION SUBMIN_AVX512 SUBMIN_INLINE inline

SUBMIN_OPERATION Mask operator&(Mask a, Mask b) { return {_kand_mask8(a.lanes, b.lanes)}; }
SUBMIN_OPERATION Mask operator|(Mask a, Mask b) { return {_kor_mask8(a.lanes, b.lanes)}; }
SUBMIN_OPERATION Mask except(Mask a, Mask b) { return {_kandn_mask8(b.lanes, a.lanes)}; }
SUBMIN_OPERATION unsigned bits(Mask a) { return _cvtmask8_u32(a.lanes); }
SUBMIN_OPERATION Mask mask_of(unsigned bits) { return {static_cast<__mmask8>(bits)}; }
SUBMIN_OPERATION bool none(Mask a, Mask b) { return _kortestz_mask8_u8(a.lanes, b.lanes); }

SUBMIN_OPERATION Value broadcast(double value) { return _mm512_set1_pd(value); }
SUBMIN_OPERATION Value load(const double* at) { return _mm512_load_pd(at); }
SUBMIN_OPERATION void store(double* at, Value a) { _mm512_store_pd(at, a); }

// Of any alignment, and zero in the other lanes.
SUBMIN_OPERATION Value load(AllLanes, const double* at) { return _mm512_loadu_pd(at); }
SUBMIN_OPERATION Value load(Mask lanes, const double* at) {
  return _mm512_maskz_loadu_pd(lanes.lanes, at);
}
SUBMIN_OPERATION Value load(AllLanes, const float* at) {
  return _mm512_cvtps_pd(_mm256_loadu_ps(at));
}
SUBMIN_OPERATION Value load(Mask lanes, const float* at) {
  const __m512 values = _mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes.lanes), at);
  return _mm512_cvtps_pd(_mm512_castps512_ps256(values));
}
SUBMIN_OPERATION void store(AllLanes, double* at, Value a) { _mm512_storeu_pd(at, a); }
SUBMIN_OPERATION void store(Mask lanes, double* at, Value a) {
  _mm512_mask_storeu_pd(at, lanes.lanes, a);
}
SUBMIN_OPERATION Value keep(AllLanes, Value a) { return a; }
SUBMIN_OPERATION Value keep(Mask lanes, Value a) { return _mm512_maskz_mov_pd(lanes.lanes, a); }

// Comparisons with what is not a number: false for the first three, true for the last two.
SUBMIN_OPERATION Mask equal(Value a, Value b) { return {_mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ)}; }
SUBMIN_OPERATION Mask less(Value a, Value b) { return {_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)}; }
SUBMIN_OPERATION Mask ordered(Value a) { return {_mm512_cmp_pd_mask(a, a, _CMP_ORD_Q)}; }
SUBMIN_OPERATION Mask not_less(Value a, Value b) { return {_mm512_cmp_pd_mask(a, b, _CMP_NLT_UQ)}; }
SUBMIN_OPERATION Mask not_greater(Value a, Value b) {
  return {_mm512_cmp_pd_mask(a, b, _CMP_NGT_UQ)};
}

SUBMIN_OPERATION Value select(Mask lanes, Value yes, Value no) {
  return _mm512_mask_mov_pd(no, lanes.lanes, yes);
}
// Adds outside of the mask; in its lanes a, which must not be a negative zero, stays.
SUBMIN_OPERATION Value add_except(Mask lanes, Value a, Value b) {
  return _mm512_mask_add_pd(a, _knot_mask8(lanes.lanes), a, b);
}
SUBMIN_OPERATION Value subtract_except(Mask lanes, Value a, Value b) {
  return _mm512_mask_sub_pd(a, _knot_mask8(lanes.lanes), a, b);
}
SUBMIN_OPERATION Value negate_in(Mask lanes, Value a) {
  return _mm512_mask_xor_pd(a, lanes.lanes, a, _mm512_set1_pd(-0.0));
}

// The lanes of a mask, moved together.
class Packing {
 public:
  SUBMIN_OPERATION explicit Packing(Mask lanes) : lanes_(lanes) {}
  SUBMIN_OPERATION std::int64_t count() const { return __builtin_popcount(bits(lanes_)); }
  // Writes a whole vector, of which the first `count` lanes matter.
  SUBMIN_OPERATION void store(double* at, Value a) const {
    _mm512_storeu_pd(at, _mm512_maskz_compress_pd(lanes_.lanes, a));
  }
  // Replaces the lanes of the mask by first, first + 1, ...
  SUBMIN_OPERATION Value number(Value a, double first) const {
    return _mm512_mask_expand_pd(a, lanes_.lanes,
                                 _mm512_setr_pd(0, 1, 2, 3, 4, 5, 6, 7) + _mm512_set1_pd(first));
  }

 private:
  Mask lanes_;
};

// 32 times the bits of a.
SUBMIN_OPERATION void node_offsets(Value a, std::uint64_t* offsets) {
  _mm512_store_si512(offsets, _mm512_slli_epi64(_mm512_castpd_si512(a), 5));
}

SUBMIN_OPERATION Value gather(const double* from, const std::int64_t* at) {
  return _mm512_setr_pd(from[at[0]], from[at[1]], from[at[2]], from[at[3]], from[at[4]],
                        from[at[5]], from[at[6]], from[at[7]]);
}

struct NodeLanes {
  Value value, flow, forward, backward;
};

SUBMIN_OPERATION Value load_pair(const Node* first, const Node* second) {
  return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_load_pd(&first->value)),
                            _mm256_load_pd(&second->value), 1);
}

SUBMIN_OPERATION void store_pair(Value pair, Node* first, Node* second) {
  _mm256_store_pd(&first->value, _mm512_castpd512_pd256(pair));
  _mm256_store_pd(&second->value, _mm512_extractf64x4_pd(pair, 1));
}

// Loads the nodes at(0), ..., at(7) whole, 32 bytes each, and transposes them, which beats
// gathering.
template <class At>
SUBMIN_OPERATION NodeLanes load_nodes(const At& at) {
  const __m512i evens = _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13),
                odds = _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15);
  const Value n02 = load_pair(at(0), at(2)), n13 = load_pair(at(1), at(3));
  const Value n46 = load_pair(at(4), at(6)), n57 = load_pair(at(5), at(7));
  const Value even_a = _mm512_unpacklo_pd(n02, n13), odd_a = _mm512_unpackhi_pd(n02, n13);
  const Value even_b = _mm512_unpacklo_pd(n46, n57), odd_b = _mm512_unpackhi_pd(n46, n57);
  return {_mm512_permutex2var_pd(even_a, evens, even_b),
          _mm512_permutex2var_pd(odd_a, evens, odd_b), _mm512_permutex2var_pd(even_a, odds, even_b),
          _mm512_permutex2var_pd(odd_a, odds, odd_b)};
}

template <class At>
SUBMIN_OPERATION void store_nodes(const NodeLanes& nodes, const At& at) {
  const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  const Value even_a = _mm512_unpacklo_pd(nodes.value, nodes.flow),
              odd_a = _mm512_unpackhi_pd(nodes.value, nodes.flow);
  const Value even_b = _mm512_unpacklo_pd(nodes.forward, nodes.backward),
              odd_b = _mm512_unpackhi_pd(nodes.forward, nodes.backward);
  store_pair(_mm512_permutex2var_pd(even_a, low, even_b), at(0), at(2));
  store_pair(_mm512_permutex2var_pd(odd_a, low, odd_b), at(1), at(3));
  store_pair(_mm512_permutex2var_pd(even_a, high, even_b), at(4), at(6));
  store_pair(_mm512_permutex2var_pd(odd_a, high, odd_b), at(5), at(7));
}

SUBMIN_OPERATION void transpose(Value (&v)[8]) {
  Value pairs[8], quads[8];
  for (int k = 0; k < 8; k += 2) {
    pairs[k] = _mm512_unpacklo_pd(v[k], v[k + 1]);
    pairs[k + 1] = _mm512_unpackhi_pd(v[k], v[k + 1]);
  }
  for (int k = 0; k < 2; ++k) {
    for (int half = 0; half < 2; ++half) {
      quads[4 * half + k] =
          _mm512_shuffle_f64x2(pairs[4 * half + k], pairs[4 * half + 2 + k], 0x88);
      quads[4 * half + 2 + k] =
          _mm512_shuffle_f64x2(pairs[4 * half + k], pairs[4 * half + 2 + k], 0xdd);
    }
  }
  for (int k = 0; k < 2; ++k) {
    v[k] = _mm512_shuffle_f64x2(quads[k], quads[4 + k], 0x88);
    v[4 + k] = _mm512_shuffle_f64x2(quads[k], quads[4 + k], 0xdd);
    v[2 + k] = _mm512_shuffle_f64x2(quads[2 + k], quads[6 + k], 0x88);
    v[6 + k] = _mm512_shuffle_f64x2(quads[2 + k], quads[6 + k], 0xdd);
  }
}

#undef SUBMIN_OPERATION

}  // namespace submin::avx512

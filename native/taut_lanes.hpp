// The walk of taut_string.hpp along eight chains at a time, one in each lane of AVX-512 vectors.
//
// Same arithmetic, same result, bit for bit. No branch depends on the data except the rare ones: a
// withdrawn guess, the end of a chain. Nodes are loaded whole, 32 bytes a lane, and transposed in
// registers, which beats gathering.
#pragma once

#include "taut_string.hpp"
#include "vectorize.hpp"

#ifdef SUBMIN_MULTIVERSION
#define SUBMIN_TAUT_LANES
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // within the intrinsics of some compilers
#include <immintrin.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <vector>

namespace submin {

#define SUBMIN_AVX512_INLINE \
  __attribute__((always_inline, target("avx512f,avx512vl,avx512dq"))) inline

// The pieces of many chains in the order in which they were found; those of one chain are in order,
// and each knows the one before it, so that a withdrawal costs the same for any batch.
// `run` is negative, and so is `rise`, where the string touches the lower end.
struct PieceLog {
  std::vector<double> rises, runs;
  std::vector<double> codes;  // the last node plus kChainUnit times the chain, exact in 53 bits
  std::vector<double> previous;  // the piece of the same chain before it, -1 for none

  static constexpr double kChainUnit = 4294967296.0;
  static constexpr double kRemoved = -1;

  void reserve(std::int64_t size) {
    if (this->size() >= size) return;
    rises.resize(size);
    runs.resize(size);
    codes.resize(size);
    previous.resize(size);
  }
  std::int64_t size() const { return static_cast<std::int64_t>(codes.size()); }
  std::int64_t before(std::int64_t k) const { return static_cast<std::int64_t>(previous[k]); }
  std::int64_t chain(std::int64_t k) const { return static_cast<std::int64_t>(codes[k]) >> 32; }
  std::int64_t end(std::int64_t k) const {
    return static_cast<std::int64_t>(codes[k]) & 0xffffffff;
  }
  double slope(std::int64_t k) const { return rises[k] / runs[k]; }
};

struct NodeLanes {
  __m512d value, flow, forward, backward;
};

SUBMIN_AVX512_INLINE __m512d load_pair(const Node* first, const Node* second) {
  return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_load_pd(&first->value)),
                            _mm256_load_pd(&second->value), 1);
}

// Loads the nodes at(0), ..., at(7) and transposes them.
template <class At>
SUBMIN_AVX512_INLINE NodeLanes load_nodes(const At& at) {
  const __m512i evens = _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13),
                odds = _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15);
  const __m512d n02 = load_pair(at(0), at(2)), n13 = load_pair(at(1), at(3));
  const __m512d n46 = load_pair(at(4), at(6)), n57 = load_pair(at(5), at(7));
  const __m512d even_a = _mm512_unpacklo_pd(n02, n13), odd_a = _mm512_unpackhi_pd(n02, n13);
  const __m512d even_b = _mm512_unpacklo_pd(n46, n57), odd_b = _mm512_unpackhi_pd(n46, n57);
  return {_mm512_permutex2var_pd(even_a, evens, even_b),
          _mm512_permutex2var_pd(odd_a, evens, odd_b), _mm512_permutex2var_pd(even_a, odds, even_b),
          _mm512_permutex2var_pd(odd_a, odds, odd_b)};
}

class TautLanes {
 public:
  // `parking` is a node where idle lanes stay. Withdrawn pieces stay in the log: twice as many
  // places as nodes are ample.
  TautLanes(const Node* nodes, const std::vector<Chain>& chains, std::int64_t parking,
            PieceLog& log)
      : nodes_(nodes), chains_(chains), parking_(parking), log_(log) {}

  // Returns the number of pieces in the log; `unfinished` are the chains for which the budget did
  // not suffice.
  SUBMIN_AVX512 std::int64_t run(std::vector<std::int64_t>& unfinished) {
    std::int64_t budget = 0;
    for (const Chain& chain : chains_) budget += kStepsPerNode * chain.length;
    walk(budget / 8);
    unfinished.clear();
    for (int lane = 0; lane < 8; ++lane)
      if (chain_[lane] >= 0) unfinished.push_back(chain_[lane]);
    for (auto chain = next_; chain < static_cast<std::int64_t>(chains_.size()); ++chain)
      unfinished.push_back(chain);
    return count_;
  }

 private:
  struct State {
    __m512d apex, last, tag, withdrawn;  // nodes, as numbers; -1 before the first
    __m512d sum, run, stride, low_rise, low_run, low_offset, high_rise, high_run, high_offset,
        old_rise, old_run, tail;  // tail: the place of the last piece in the log
  };

  SUBMIN_AVX512 void walk(std::int64_t budget) {
    State v;
    for (int lane = 0; lane < 8; ++lane) start(lane);
    const __m512d zero = _mm512_setzero_pd(), one = _mm512_set1_pd(1.0),
                  infinity = _mm512_set1_pd(kInfinity);
    v.run = v.low_run = v.high_run = one;
    v.low_offset = v.high_offset = zero;
    v.high_rise = infinity;
    v.low_rise = _mm512_sub_pd(zero, infinity);
    reload(v);
    const double* base = &nodes_->value;
    double *rises = log_.rises.data(), *runs = log_.runs.data(), *codes = log_.codes.data(),
           *previous = log_.previous.data();
    const __m512d places = _mm512_setr_pd(0, 1, 2, 3, 4, 5, 6, 7);
    std::int64_t count = 0;
    const std::int64_t full = log_.size() - 8;  // vectors are stored whole
    while (active_ > 0 && --budget > 0 && count <= full) {
      const __m512d node = _mm512_add_pd(v.apex, v.run);
      alignas(64) std::int64_t place[8];
      _mm512_store_epi64(place, _mm512_slli_epi64(_mm512_cvttpd_epi64(node), 2));
      const NodeLanes at = load_nodes([&](int lane) SUBMIN_INLINE {
        return reinterpret_cast<const Node*>(base + place[lane]);
      });
      const __m512d up = _mm512_sub_pd(at.forward, at.flow),
                    down = _mm512_add_pd(at.backward, at.flow);
      const __mmask8 up_shut = _mm512_cmp_pd_mask(up, zero, _CMP_EQ_OQ);
      const __mmask8 down_shut = _mm512_cmp_pd_mask(down, zero, _CMP_EQ_OQ);
      const __mmask8 fixed = _kand_mask8(up_shut, down_shut);
      const __mmask8 fresh = _mm512_cmp_pd_mask(node, v.withdrawn, _CMP_GT_OQ);
      const __mmask8 guess = _kor_mask8(_kand_mask8(_kor_mask8(up_shut, down_shut), fresh), fixed);
      const __mmask8 open = _knot_mask8(guess);
      v.sum = _mm512_add_pd(v.sum, at.value);
      const __m512d top = _mm512_mask_add_pd(v.sum, open, v.sum, up);
      const __m512d bottom = _mm512_mask_sub_pd(v.sum, open, v.sum, down);
      const __m512d low_limit = _mm512_mul_pd(v.low_rise, v.run),
                    high_limit = _mm512_mul_pd(v.high_rise, v.run);
      const __m512d top_low = _mm512_mul_pd(top, v.low_run),
                    top_high = _mm512_mul_pd(top, v.high_run);
      const __m512d bottom_low = _mm512_mul_pd(bottom, v.low_run),
                    bottom_high = _mm512_mul_pd(bottom, v.high_run);
      const __mmask8 below = _mm512_cmp_pd_mask(top_low, low_limit, _CMP_LT_OQ);
      const __mmask8 bent =
          _kor_mask8(below, _mm512_cmp_pd_mask(bottom_high, high_limit, _CMP_GT_OQ));
      const __mmask8 found = _kor_mask8(bent, guess);
      const __mmask8 lower =
          _kor_mask8(below, _kandn_mask8(_kor_mask8(bent, up_shut), _kand_mask8(guess, down_shut)));

      // A taken guess is both bounds. Those of a bent lane that do not matter any more may become
      // anything.
      const __mmask8 tighter = _mm512_cmp_pd_mask(top_high, high_limit, _CMP_NGT_UQ);
      const __mmask8 steeper = _mm512_cmp_pd_mask(bottom_low, low_limit, _CMP_NLT_UQ);
      v.high_rise = _mm512_mask_mov_pd(v.high_rise, tighter, top);
      v.high_run = _mm512_mask_mov_pd(v.high_run, tighter, v.run);
      v.high_offset = _mm512_mask_mov_pd(v.high_offset, tighter, up);
      v.low_rise = _mm512_mask_mov_pd(v.low_rise, steeper, bottom);
      v.low_run = _mm512_mask_mov_pd(v.low_run, steeper, v.run);
      v.low_offset = _mm512_mask_mov_pd(v.low_offset, steeper, down);

      const __m512d rise = _mm512_mask_mov_pd(v.high_rise, lower, v.low_rise);
      const __m512d run = _mm512_mask_mov_pd(v.high_run, lower, v.low_run);
      const __mmask8 wrong = _mm512_mask_cmp_pd_mask(found, _mm512_mul_pd(rise, v.old_run),
                                                     _mm512_mul_pd(v.old_rise, run), _CMP_LT_OQ);
      const __mmask8 right = _kandn_mask8(wrong, found);
      v.apex = _mm512_mask_add_pd(v.apex, found, v.apex, run);
      const __m512d signed_rise = _mm512_mask_sub_pd(rise, lower, zero, rise);
      const __m512d signed_run = _mm512_mask_sub_pd(run, lower, zero, run);
      _mm512_storeu_pd(rises + count, _mm512_maskz_compress_pd(right, signed_rise));
      _mm512_storeu_pd(runs + count, _mm512_maskz_compress_pd(right, signed_run));
      _mm512_storeu_pd(codes + count,
                       _mm512_maskz_compress_pd(right, _mm512_add_pd(v.apex, v.tag)));
      _mm512_storeu_pd(previous + count, _mm512_maskz_compress_pd(right, v.tail));
      const __m512d ends = _mm512_add_pd(places, _mm512_set1_pd(static_cast<double>(count)));
      v.tail = _mm512_mask_expand_pd(v.tail, right, ends);
      count += __builtin_popcount(_cvtmask8_u32(right));

      v.old_rise = _mm512_mask_mov_pd(v.old_rise, found, signed_rise);
      v.old_run = _mm512_mask_mov_pd(v.old_run, found, signed_run);
      v.sum = _mm512_mask_sub_pd(v.sum, found, zero, v.high_offset);
      v.sum = _mm512_mask_mov_pd(v.sum, lower, v.low_offset);
      v.high_rise = _mm512_mask_mov_pd(v.high_rise, found, infinity);
      v.low_rise = _mm512_mask_sub_pd(v.low_rise, found, zero, infinity);
      v.run = _mm512_mask_mov_pd(_mm512_add_pd(v.run, v.stride), found, one);
      const __mmask8 loose = _kandn_mask8(bent, fixed);
      if (__builtin_expect(_kortestz_mask8_u8(wrong, loose), 1)) continue;

      v.old_run = _mm512_mask_mov_pd(v.old_run, loose, zero);
      v.old_rise = _mm512_mask_mov_pd(v.old_rise, loose, zero);
      const __mmask8 done = _mm512_mask_cmp_pd_mask(right, v.apex, v.last, _CMP_EQ_OQ);
      if (_kortestz_mask8_u8(wrong, done)) continue;
      count_ = count;
      store(v);
      attend(_cvtmask8_u32(wrong), _cvtmask8_u32(done));
      reload(v);
    }
    count_ = count;
  }

  SUBMIN_AVX512_INLINE void store(const State& v) {
    _mm512_store_pd(apex_, v.apex);
    _mm512_store_pd(sum_, v.sum);
    _mm512_store_pd(old_rise_, v.old_rise);
    _mm512_store_pd(old_run_, v.old_run);
    _mm512_store_pd(tail_, v.tail);
  }

  SUBMIN_AVX512_INLINE void reload(State& v) {
    v.apex = _mm512_load_pd(apex_);
    v.last = _mm512_load_pd(last_);
    v.stride = _mm512_load_pd(stride_);
    v.tag = _mm512_load_pd(tag_);
    v.withdrawn = _mm512_load_pd(withdrawn_);
    v.sum = _mm512_load_pd(sum_);
    v.old_rise = _mm512_load_pd(old_rise_);
    v.old_run = _mm512_load_pd(old_run_);
    v.tail = _mm512_load_pd(tail_);
  }

  // Takes back the guess at a lane's apex, or gives the lane its next chain.
  __attribute__((noinline)) void attend(unsigned wrong, unsigned done) {
    for (int lane = 0; lane < 8; ++lane) {
      if (done >> lane & 1) {
        --active_;
        start(lane);
      } else if (wrong >> lane & 1) {
        withdraw(lane);
      }
    }
  }

  void withdraw(int lane) {
    const std::int64_t chain = chain_[lane];
    std::int64_t k = static_cast<std::int64_t>(tail_[lane]);
    withdrawn_[lane] = std::max(withdrawn_[lane], static_cast<double>(log_.end(k)));
    log_.codes[k] = PieceLog::kRemoved;
    k = log_.before(k);
    tail_[lane] = static_cast<double>(k);
    if (k < 0) return restart(lane, chains_[chain].begin - 1);
    restart(lane, log_.end(k));
    const Node& apex = nodes_[log_.end(k)];
    const double up = apex.forward - apex.flow, down = apex.backward + apex.flow;
    sum_[lane] = log_.runs[k] < 0 ? down : -up;
    if (up == 0 && down == 0) return;
    old_rise_[lane] = log_.rises[k];
    old_run_[lane] = log_.runs[k];
  }

  void start(int lane) {
    if (next_ == static_cast<std::int64_t>(chains_.size())) {
      restart(lane, parking_ - 1);
      last_[lane] = -2;
      tail_[lane] = -1;
      stride_[lane] = 0;
      chain_[lane] = -1;
      return;
    }
    const Chain& chain = chains_[next_];
    restart(lane, chain.begin - 1);
    last_[lane] = static_cast<double>(chain.begin + chain.length - 1);
    withdrawn_[lane] = tail_[lane] = -1;
    chain_[lane] = next_;
    tag_[lane] = static_cast<double>(next_++) * PieceLog::kChainUnit;
    stride_[lane] = 1;
    ++active_;
  }

  void restart(int lane, std::int64_t apex) {
    apex_[lane] = static_cast<double>(apex);
    sum_[lane] = old_rise_[lane] = old_run_[lane] = 0;
  }

  alignas(64) double apex_[8], last_[8], stride_[8], tag_[8] = {}, withdrawn_[8] = {}, sum_[8],
                                                     old_rise_[8], old_run_[8], tail_[8];
  std::int64_t chain_[8];
  const Node* nodes_;
  const std::vector<Chain>& chains_;
  std::int64_t parking_;
  PieceLog& log_;
  std::int64_t next_ = 0, count_ = 0;
  int active_ = 0;
};

}  // namespace submin

#endif

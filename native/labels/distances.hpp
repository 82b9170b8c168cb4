// Distances between labels, and the lower envelope that a message is.
//
// A kind is a symmetric matrix d with zeros on its diagonal. Rows are padded to whole lanes, of
// kLanes labels each. Beside its cap, the largest distance, a row differs in a band alone. Steps
// that all cost the same, up to a cap, are taken 1, 2, 4, ... at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "core/vectorize.hpp"

namespace submin {
namespace labels {

constexpr std::int64_t kLanes = 8;
constexpr std::int64_t kMostLabels = 1024;

SUBMIN_INLINE inline float smaller(float a, float b) { return b < a ? b : a; }

// The least of values of whole lanes.
SUBMIN_INLINE inline float least(const float* values, std::int64_t padded) {
  float lanes[kLanes];
  for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] = values[k];
  for (std::int64_t first = kLanes; first < padded; first += kLanes)
    for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] = smaller(lanes[k], values[first + k]);
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2)
    for (std::int64_t k = 0; k < half; ++k) lanes[k] = smaller(lanes[k], lanes[k + half]);
  return lanes[0];
}

struct Band {
  std::int32_t begin, end;  // whole lanes
};

class Distance {
 public:
  Distance(const float* matrix, std::int64_t padded)
      : matrix_(matrix), padded_(padded), bands_(static_cast<std::size_t>(padded)) {
    cap_ = *std::max_element(matrix, matrix + padded * padded);
    is_potts_ = true;
    for (std::int64_t p = 0; p < padded; ++p) {
      bands_[static_cast<std::size_t>(p)] = band(p);
      for (std::int64_t q = 0; q < padded; ++q)
        is_potts_ = is_potts_ && row(p)[q] == (p == q ? 0.0F : cap_);
    }
    find_steps();
  }

  const float* row(std::int64_t p) const { return matrix_ + p * padded_; }
  float operator()(std::int64_t p, std::int64_t q) const { return row(p)[q]; }

  // out[q] = min over p of h[p] + weight d(p, q), for an h of which the least is 0.
  SUBMIN_INLINE void envelope(const float* h, float weight, std::int64_t padded, float* out) const {
    const float most = weight * cap_;
    SUBMIN_INDEPENDENT
    for (std::int64_t q = 0; q < padded; ++q) out[q] = smaller(h[q], most);
    if (is_potts_) return;
    if (reach_ > 0) return envelope_of_steps(weight * step_, most, padded, out);
    for (std::int64_t p = 0; p < padded; ++p) {
      const float base = h[p];
      if (!(base < most)) continue;
      const float* const d = row(p);
      const Band around = bands_[static_cast<std::size_t>(p)];
      for (std::int64_t first = around.begin; first < around.end; first += kLanes) {
        SUBMIN_INDEPENDENT
        for (std::int64_t k = first; k < first + kLanes; ++k)
          out[k] = smaller(out[k], base + weight * d[k]);
      }
    }
  }

 private:
  // out[q] = min over k of out[q + k] + |k| step, for |k| up to the reach at least.
  SUBMIN_INLINE void envelope_of_steps(float step, float most, std::int64_t padded,
                                       float* out) const {
    float wide[3 * kMostLabels];
    float* const h = wide + padded;
    for (std::int64_t q = -padded; q < 0; ++q) h[q] = h[padded - 1 - q] = most;
    for (std::int64_t length = 1; length <= reach_; length *= 2) {
      for (std::int64_t q = 0; q < padded; ++q) h[q] = out[q];
      const float price = step * static_cast<float>(length);
      SUBMIN_INDEPENDENT
      for (std::int64_t q = 0; q < padded; ++q)
        out[q] = smaller(h[q], smaller(h[q - length], h[q + length]) + price);
    }
  }

  // Looks whether the distances are those of equal steps; labels that only fill lanes are at the
  // cap.
  void find_steps() {
    if (is_potts_ || padded_ < 2) return;
    const float step = row(0)[1];
    std::int64_t labels = padded_, reach = 1;
    while (labels > 2 && is_filling(labels - 1)) --labels;
    for (std::int64_t p = 0; p < labels; ++p)
      for (std::int64_t q = 0; q < labels; ++q) {
        const float steps = static_cast<float>(std::abs(p - q));
        if (row(p)[q] != std::min(steps * step, cap_)) return;
        if (steps * step < cap_) reach = std::max(reach, std::abs(p - q));
      }
    step_ = step;
    reach_ = reach;
  }
  bool is_filling(std::int64_t p) const {
    for (std::int64_t q = 0; q < padded_; ++q)
      if (q != p && row(p)[q] != cap_) return false;
    return true;
  }

  Band band(std::int64_t p) const {
    std::int64_t begin = padded_, end = 0;
    for (std::int64_t q = 0; q < padded_; ++q) {
      if (row(p)[q] == cap_) continue;
      begin = std::min(begin, q / kLanes * kLanes);
      end = q / kLanes * kLanes + kLanes;
    }
    return {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)};
  }

  const float* matrix_;
  std::int64_t padded_;
  float cap_, step_ = 0.0F;
  std::int64_t reach_ = 0;  // steps below the cap, where they cost the same
  bool is_potts_;
  std::vector<Band> bands_;
};

}  // namespace labels
}  // namespace submin

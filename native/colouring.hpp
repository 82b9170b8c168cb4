// Greedy colouring of supports: functions of one colour have no common element and form a block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace submin {

// A set of (element, colour) pairs: open addressing with linear probing, at most half full.
class PairSet {
 public:
  explicit PairSet(std::int64_t capacity) {
    std::uint64_t size = 16;
    shift_ = 60;
    for (; size < 2 * static_cast<std::uint64_t>(capacity); size *= 2) --shift_;
    keys_.assign(size, kEmpty);
    mask_ = size - 1;
  }

  bool contains(std::int32_t element, std::int32_t colour) const {
    return keys_[slot(key(element, colour))] != kEmpty;
  }

  void insert(std::int32_t element, std::int32_t colour) {
    const std::uint64_t value = key(element, colour);
    keys_[slot(value)] = value;
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

  static std::uint64_t key(std::int32_t element, std::int32_t colour) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(element)) << 32 | static_cast<std::uint32_t>(colour);
  }

  std::uint64_t slot(std::uint64_t value) const {
    std::uint64_t at = (value * 0x9E3779B97F4A7C15ull) >> shift_;
    while (keys_[at] != kEmpty && keys_[at] != value) at = (at + 1) & mask_;
    return at;
  }

  std::vector<std::uint64_t> keys_;
  std::uint64_t mask_;
  int shift_;
};

// Give each function the first colour that no earlier function on any of its elements has.
// `first_free[v]` is below every colour that element v still has free, so few colours are tried.
inline void colour(const std::int64_t* pointers, const std::int32_t* members, std::int64_t functions,
                   std::int32_t elements, std::int32_t* colours) {
  PairSet taken(pointers[functions]);
  std::vector<std::int32_t> first_free(static_cast<std::size_t>(elements), 0);
  for (std::int64_t i = 0; i < functions; ++i) {
    const std::int32_t* begin = members + pointers[i];
    const std::int32_t* end = members + pointers[i + 1];
    std::int32_t candidate = 0;
    for (const std::int32_t* v = begin; v != end; ++v) candidate = std::max(candidate, first_free[*v]);
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

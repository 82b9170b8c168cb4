// Sets and tables of (element, colour) pairs.
#pragma once

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

 protected:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

  static std::uint64_t key(std::int32_t element, std::int32_t colour) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(element)) << 32 |
           static_cast<std::uint32_t>(colour);
  }

  std::uint64_t slot(std::uint64_t value) const {
    std::uint64_t at = (value * 0x9E3779B97F4A7C15ull) >> shift_;
    while (keys_[at] != kEmpty && keys_[at] != value) at = (at + 1) & mask_;
    return at;
  }

  std::vector<std::uint64_t> keys_;

 private:
  std::uint64_t mask_;
  int shift_;
};

// A number for each of some pairs.
class PairTable : public PairSet {
 public:
  explicit PairTable(std::int64_t capacity) : PairSet(capacity), numbers_(keys_.size()) {}

  // The number of a pair, or `missing`.
  std::int32_t find(std::int32_t element, std::int32_t colour, std::int32_t missing) const {
    const std::uint64_t at = slot(key(element, colour));
    return keys_[at] == kEmpty ? missing : numbers_[at];
  }

  void set(std::int32_t element, std::int32_t colour, std::int32_t number) {
    const std::uint64_t value = key(element, colour);
    const std::uint64_t at = slot(value);
    keys_[at] = value;
    numbers_[at] = number;
  }

 private:
  std::vector<std::int32_t> numbers_;
};

}  // namespace submin

// The log of the pieces that the walks of many chains find.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>

namespace submin {

// The pieces of many chains in the order in which they were found; those of one chain are in order,
// and each knows the one before it, so that a withdrawal costs the same for any batch.
// `run` is negative, and so is `rise`, where the string touches the lower end.
// There is room for as many as there can be, which is touched only as far as there are any.
class PieceLog {
 public:
  std::unique_ptr<double[]> rises, runs;
  std::unique_ptr<double[]> codes;  // last node plus kChainUnit times the chain, exact in 53 bits
  std::unique_ptr<double[]> previous;  // the piece of the same chain before it, -1 for none

  static constexpr double kChainUnit = 4294967296.0;
  static constexpr double kRemoved = -1;

  void reserve(std::int64_t size) {
    if (size_ >= size) return;
    for (auto* part : {&rises, &runs, &codes, &previous}) part->reset(new double[size]);
    size_ = size;
  }
  std::int64_t size() const { return size_; }
  std::int64_t before(std::int64_t k) const { return static_cast<std::int64_t>(previous[k]); }
  std::int64_t chain(std::int64_t k) const { return static_cast<std::int64_t>(codes[k]) >> 32; }
  std::int64_t end(std::int64_t k) const {
    return static_cast<std::int64_t>(codes[k]) & 0xffffffff;
  }
  double slope(std::int64_t k) const { return rises[k] / runs[k]; }

 private:
  std::int64_t size_ = 0;
};

}  // namespace submin

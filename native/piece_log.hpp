// The log of the pieces that the walks of many chains find.
#pragma once

#include <cstdint>
#include <vector>

namespace submin {

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

}  // namespace submin

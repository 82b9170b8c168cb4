#include "bind/arrays.hpp"
#include "core/orders.hpp"

namespace submin {
namespace {

void ranks(const ConstValues& values, const Indices& out) {
  require_size(out.size(), size_of(values.size()), "out");
  require(values.size() <= INT32_MAX, "there are too many values");
  descending_ranks(values.data(), size_of(values.size()), out.data());
}

std::int64_t prefix(const ConstIndices& rank, const ConstValues& gains) {
  require_size(rank.size(), size_of(gains.size()), "rank");
  require_below(rank, size_of(gains.size()), "rank");
  return best_prefix(rank.data(), gains.data(), size_of(gains.size()));
}

}  // namespace

void bind_orders(nb::module_& module) {
  module.def("descending_ranks", &ranks, "values"_a.noconvert(), "out"_a.noconvert(),
             WithoutLock());
  module.def("best_prefix", &prefix, "rank"_a.noconvert(), "gains"_a.noconvert(), WithoutLock());
}

}  // namespace submin

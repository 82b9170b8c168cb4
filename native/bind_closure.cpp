#include "bindings.hpp"
#include "closure.hpp"

namespace submin {
namespace {

void close(const ConstIndices& tails, const ConstIndices& heads, const Array<std::int8_t>& side) {
  require_size(heads.size(), size_of(tails.size()), "heads");
  close_sides(tails.data(), heads.data(), size_of(tails.size()), side.data(),
              size_of(side.size()));
}

}  // namespace

void bind_closure(nb::module_& module) {
  module.def("close_sides", &close, "tails"_a.noconvert(), "heads"_a.noconvert(),
             "side"_a.noconvert(), WithoutLock());
}

}  // namespace submin

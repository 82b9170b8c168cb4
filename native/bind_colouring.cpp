#include <algorithm>

#include "bindings.hpp"
#include "colouring.hpp"

namespace submin {
namespace {

void checked_colour(const ConstPointers& pointers, const ConstIndices& members, const Indices& colours) {
  const std::int64_t functions = size_of(pointers.size()) - 1;
  require(functions >= 0 && pointers.data()[0] == 0, "pointers must start with 0");
  for (std::int64_t i = 0; i < functions; ++i)
    require(pointers.data()[i] <= pointers.data()[i + 1], "pointers must not decrease");
  require_size(members.size(), pointers.data()[functions], "members");
  require_size(colours.size(), functions, "colours");
  std::int32_t elements = 0;
  for (std::size_t k = 0; k < members.size(); ++k) {
    require(members.data()[k] >= 0 && members.data()[k] < INT32_MAX, "members must be 0 to 2**31 - 2");
    elements = std::max(elements, members.data()[k] + 1);
  }
  colour(pointers.data(), members.data(), functions, elements, colours.data());
}

}  // namespace

void bind_colouring(nb::module_& module) {
  module.def("colour", &checked_colour, "pointers"_a.noconvert(), "members"_a.noconvert(), "colours"_a.noconvert(),
             WithoutLock());
}

}  // namespace submin

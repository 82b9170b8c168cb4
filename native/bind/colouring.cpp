#include <algorithm>

#include "bind/arrays.hpp"
#include "graph/colouring.hpp"

namespace submin {
namespace {

void checked_colour(const ConstPointers& pointers, const ConstIndices& members,
                    const Indices& colours) {
  const std::int64_t functions = checked_pointers(pointers, "pointers");
  require_size(members.size(), pointers.data()[functions], "members");
  require_size(colours.size(), functions, "colours");
  std::int32_t elements = 0;
  require_below(members, INT32_MAX, "members");
  for (std::size_t k = 0; k < members.size(); ++k)
    elements = std::max(elements, members.data()[k] + 1);
  colour(pointers.data(), members.data(), functions, elements, colours.data());
}

}  // namespace

void bind_colouring(nb::module_& module) {
  module.def("colour", &checked_colour, "pointers"_a.noconvert(), "members"_a.noconvert(),
             "colours"_a.noconvert(), WithoutLock());
}

}  // namespace submin

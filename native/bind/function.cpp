#include "bind/arrays.hpp"

namespace submin {
namespace {

// F(S) for a mask of `size` bytes, 1 for a member of S and 0 for others.
using SetFunction = double (*)(const std::uint8_t* member, std::int64_t size, void* data);

void evaluate_sets(std::uintptr_t address, std::uintptr_t data,
                   const Array<const std::uint8_t, 2>& sets, const Values& out) {
  require(address != 0, "the address of the function is null");
  require_size(out.size(), size_of(sets.shape(0)), "out");
  const auto function = reinterpret_cast<SetFunction>(address);
  const std::size_t size = sets.shape(1);
  for (std::size_t row = 0; row < out.size(); ++row)
    out.data()[row] =
        function(sets.data() + row * size, size_of(size), reinterpret_cast<void*>(data));
}

}  // namespace

void bind_function(nb::module_& module) {
  module.def("evaluate_sets", &evaluate_sets, "address"_a, "data"_a, "sets"_a.noconvert(),
             "out"_a.noconvert(), WithoutLock());
}

}  // namespace submin

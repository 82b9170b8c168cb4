// Arrays of NumPy in large pages.
#include <algorithm>
#include <memory>

#include "bindings.hpp"
#include "large_pages.hpp"

namespace submin {
namespace {

using OwnedValues = nb::ndarray<nb::numpy, double, nb::ndim<1>, nb::c_contig>;

struct Pages {
  explicit Pages(std::size_t bytes) : bytes(bytes), start(map_pages(bytes)) {}
  ~Pages() { unmap_pages(start, bytes); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::size_t bytes;
  void* start;
};

OwnedValues zeros(std::size_t size) {
  require(size <= static_cast<std::size_t>(-1) / 64, "size is too large");
  auto pages = std::make_unique<Pages>(std::max<std::size_t>(size, 1) * sizeof(double));
  double* const values = static_cast<double*>(pages->start);
  nb::capsule owner(pages.release(),
                    [](void* pages) noexcept { delete static_cast<Pages*>(pages); });
  return OwnedValues(values, {size}, owner);
}

}  // namespace

void bind_memory(nb::module_& module) {
  module.def("zeros", &zeros, "size"_a);
}

}  // namespace submin

// Arrays of NumPy in large pages.
#include <algorithm>
#include <memory>

#include "bind/arrays.hpp"
#include "core/large_pages.hpp"
#include "core/parallel.hpp"

namespace submin {
namespace {

using OwnedValues = nb::ndarray<nb::numpy, double, nb::ndim<1>, nb::c_contig>;

constexpr std::int64_t kClearedAtOnce = 1 << 17;

struct OwnedPages {
  explicit OwnedPages(std::size_t bytes) : bytes(bytes), pages(take_pages(bytes)) {}
  ~OwnedPages() { give_pages(pages.start, bytes); }
  OwnedPages(const OwnedPages&) = delete;
  OwnedPages& operator=(const OwnedPages&) = delete;

  std::size_t bytes;
  Pages pages;
};

OwnedValues long_array(std::size_t size, bool clear) {
  require(size <= static_cast<std::size_t>(-1) / 64, "size is too large");
  auto owned = std::make_unique<OwnedPages>(std::max<std::size_t>(size, 1) * sizeof(double));
  double* const values = static_cast<double*>(owned->pages.start);
  if (clear && !owned->pages.cleared) {
    parallel_for(size_of(size), kClearedAtOnce, 0, [&](std::int64_t begin, std::int64_t end) {
      std::fill(values + begin, values + end, 0.0);
    });
  }
  nb::capsule owner(owned.release(),
                    [](void* owned) noexcept { delete static_cast<OwnedPages*>(owned); });
  return OwnedValues(values, {size}, owner);
}

}  // namespace

void bind_memory(nb::module_& module) {
  module.def("zeros", [](std::size_t size) { return long_array(size, true); }, "size"_a);
  module.def("empty", [](std::size_t size) { return long_array(size, false); }, "size"_a);
}

}  // namespace submin

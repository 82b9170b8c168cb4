// Memory of long arrays, in large pages where the system has them.
//
// A system gives memory when it is touched first, one page at a time, and that takes a microsecond
// or several: for pages of 4 KB often more than a solver spends on the 512 numbers in one. A page
// of 2 MB costs little more than to clear it, and random reads find it sooner.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace submin {

constexpr std::size_t kLargePage = std::size_t{1} << 21;

constexpr std::size_t kFewestBytes = kLargePage / 2;  // shorter arrays waste more than they win

#if defined(__linux__) && defined(MADV_HUGEPAGE)

inline std::size_t mapped_size(std::size_t bytes) {
  return (bytes + kLargePage - 1) / kLargePage * kLargePage;
}

// Cleared memory that starts with a large page, for `unmap_pages` of the same size.
inline void* map_pages(std::size_t bytes) {
  const std::size_t size = mapped_size(bytes);
  void* const reserved = mmap(nullptr, size + kLargePage, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) throw std::bad_alloc();
  char* const first = static_cast<char*>(reserved);
  const std::size_t before =
      (kLargePage - reinterpret_cast<std::size_t>(first) % kLargePage) % kLargePage;
  char* const start = first + before;
  if (before > 0) munmap(first, before);
  if (before < kLargePage) munmap(start + size, kLargePage - before);
  // A rest of less than a quarter of a page is not worth one; all this is only a wish.
  madvise(start, (bytes + kLargePage * 3 / 4) / kLargePage * kLargePage, MADV_HUGEPAGE);
  return start;
}

inline void unmap_pages(void* start, std::size_t bytes) {
  munmap(start, mapped_size(bytes));
}

#else

inline void* map_pages(std::size_t bytes) {
  void* const start = std::calloc(bytes, 1);
  if (start == nullptr) throw std::bad_alloc();
  return start;
}

inline void unmap_pages(void* start, std::size_t) {
  std::free(start);
}

#endif

// The allocator of long vectors; short ones lie where others do.
template <class Scalar>
struct LargePages {
  using value_type = Scalar;

  LargePages() = default;
  template <class Other>
  LargePages(const LargePages<Other>&) {}

  Scalar* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / 2 / sizeof(Scalar)) throw std::bad_alloc();
    const std::size_t bytes = count * sizeof(Scalar);
    return static_cast<Scalar*>(bytes < kFewestBytes ? ::operator new(bytes) : map_pages(bytes));
  }
  void deallocate(Scalar* start, std::size_t count) {
    const std::size_t bytes = count * sizeof(Scalar);
    if (bytes < kFewestBytes) {
      ::operator delete(start);
    } else {
      unmap_pages(start, bytes);
    }
  }
  friend bool operator==(const LargePages&, const LargePages&) { return true; }
  friend bool operator!=(const LargePages&, const LargePages&) { return false; }
};

template <class Scalar>
using LongVector = std::vector<Scalar, LargePages<Scalar>>;

}  // namespace submin

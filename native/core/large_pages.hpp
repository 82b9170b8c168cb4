// Memory of long arrays, in large pages where the system has them.
//
// A system gives memory when it is touched first, one page at a time, and that takes a microsecond
// or several: for pages of 4 KB often more than a solver spends on the 512 numbers in one. A page
// of 2 MB costs little more than to clear it, and random reads find it sooner.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace submin {

constexpr std::size_t kLargePage = std::size_t{1} << 21;

constexpr std::size_t kFewestBytes = kLargePage / 2;  // shorter arrays waste more than they win

struct Pages {
  void* start;
  bool cleared;
};

#if defined(__linux__) && defined(MADV_HUGEPAGE) && defined(MADV_FREE)

inline std::size_t mapped_size(std::size_t bytes) {
  return (bytes + kLargePage - 1) / kLargePage * kLargePage;
}

// Cleared memory of the system that starts with a large page, or null.
inline char* reserve_pages(std::size_t bytes) {
  const std::size_t size = mapped_size(bytes);
  void* const reserved =
      mmap(nullptr, size + kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) return nullptr;
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

// Memory that is free, for the next solve: at most 64 MB, which the system may take back at need.
class SparePages {
 public:
  static SparePages& instance() {
    static SparePages* const spare = new SparePages;  // outlives all that is freed at the end
    return *spare;
  }

  // Null if there is none of that size, or another thread is at work here.
  void* take(std::size_t size) {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock) return nullptr;
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
      if (block->size != size) continue;
      void* const start = block->start;
      blocks_.erase(std::next(block).base());
      total_ -= size;
      return start;
    }
    return nullptr;
  }

  void drop_all() {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    while (lock && !blocks_.empty()) drop_oldest();
  }

  // The oldest make room for new ones.
  void give(void* start, std::size_t size) noexcept {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock || size > kMost) {
      munmap(start, size);
      return;
    }
    while (total_ + size > kMost || count_full()) drop_oldest();
    madvise(start, size, MADV_FREE);
    blocks_.push_back({start, size});
    total_ += size;
  }

 private:
  struct Block {
    void* start;
    std::size_t size;
  };
  static constexpr std::size_t kMost = std::size_t{1} << 26;

  SparePages() { blocks_.reserve(kMost / kLargePage); }

  bool count_full() const { return blocks_.size() == blocks_.capacity(); }

  void drop_oldest() {
    munmap(blocks_.front().start, blocks_.front().size);
    total_ -= blocks_.front().size;
    blocks_.erase(blocks_.begin());
  }

  std::mutex mutex_;  // never waited for: a forked child may find it locked for good
  std::vector<Block> blocks_;
  std::size_t total_ = 0;
};

inline Pages take_pages(std::size_t bytes) {
  SparePages& kept = SparePages::instance();
  if (void* const spare = kept.take(mapped_size(bytes))) return {spare, false};
  char* fresh = reserve_pages(bytes);
  if (fresh == nullptr) {
    kept.drop_all();
    fresh = reserve_pages(bytes);
  }
  if (fresh == nullptr) throw std::bad_alloc();
  return {fresh, true};
}

inline void give_pages(void* start, std::size_t bytes) noexcept {
  SparePages::instance().give(start, mapped_size(bytes));
}

#else

inline Pages take_pages(std::size_t bytes) {
  void* const start = std::calloc(bytes, 1);
  if (start == nullptr) throw std::bad_alloc();
  return {start, true};
}

inline void give_pages(void* start, std::size_t) noexcept { std::free(start); }

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
    const bool few = bytes < kFewestBytes;
    return static_cast<Scalar*>(few ? ::operator new(bytes) : take_pages(bytes).start);
  }
  void deallocate(Scalar* start, std::size_t count) {
    const std::size_t bytes = count * sizeof(Scalar);
    if (bytes < kFewestBytes) {
      ::operator delete(start);
    } else {
      give_pages(start, bytes);
    }
  }
  friend bool operator==(const LargePages&, const LargePages&) { return true; }
  friend bool operator!=(const LargePages&, const LargePages&) { return false; }
};

template <class Scalar>
using LongVector = std::vector<Scalar, LargePages<Scalar>>;

}  // namespace submin

// A small persistent thread pool.
//
// Work is cut into chunks whose number depends on the work alone, and every kernel writes the
// result of an item without looking at the others of its block; hence the same bits for any number
// of threads. The pool starts at its first use, serves one caller at a time (a second one, or a
// nested call, simply works alone) and starts afresh in a forked child.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#define SUBMIN_HAS_FORK 1
#endif

namespace submin {

class ThreadPool {
 public:
  using Chunk = void (*)(const void* body, std::int64_t chunk);

  static ThreadPool& instance() {
    ThreadPool* pool = current().load(std::memory_order_acquire);
    if (pool != nullptr) return *pool;
    // Never destroyed: its workers may outlive static destructors, and a forked child must not
    // touch its parent's.
    ThreadPool* fresh = new ThreadPool;
    if (current().compare_exchange_strong(pool, fresh)) return *fresh;
    delete fresh;
    return *pool;
  }

  // Calls chunk(body, 0), ..., chunk(body, chunks - 1) on up to `threads` threads, the caller being
  // one of them.
  void run(int threads, std::int64_t chunks, Chunk chunk, const void* body) {
    if (busy_.exchange(true, std::memory_order_acquire)) {
      for (std::int64_t k = 0; k < chunks; ++k) chunk(body, k);
      return;
    }
    start_workers(threads - 1);
    post(threads - 1, chunks, chunk, body);
    work();
    join();
    const std::exception_ptr failure = std::exchange(failure_, nullptr);
    busy_.store(false, std::memory_order_release);
    if (failure) std::rethrow_exception(failure);
  }

 private:
  static constexpr int kMostWorkers = 255;
  static constexpr int kSpins = 400;  // about 20 microseconds: what waking a sleeper costs

  static std::atomic<ThreadPool*>& current() {
    static std::atomic<ThreadPool*> pool{nullptr};
#ifdef SUBMIN_HAS_FORK
    static const int registered = pthread_atfork(nullptr, nullptr, [] { pool.store(nullptr); });
    (void)registered;
#endif
    return pool;
  }

  static void pause() {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
  }

  // If the system refuses more threads, those there are do the work.
  void start_workers(int wanted) {
    wanted = std::min(wanted, kMostWorkers);
    try {
      for (; workers_ < wanted; ++workers_) std::thread([this] { serve(); }).detach();
    } catch (const std::exception&) {
      return;
    }
  }

  void post(int helpers, std::int64_t chunks, Chunk chunk, const void* body) {
    {
      const std::lock_guard<std::mutex> lock(state_);
      chunk_ = chunk;
      body_ = body;
      chunks_ = chunks;
      next_.store(0, std::memory_order_relaxed);
      seats_ = helpers;
      posted_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
  }

  void work() {
    try {
      for (;;) {
        const std::int64_t k = next_.fetch_add(1, std::memory_order_relaxed);
        if (k >= chunks_) return;
        chunk_(body_, k);
      }
    } catch (...) {
      const std::lock_guard<std::mutex> lock(state_);
      failure_ = std::current_exception();
      next_.store(chunks_, std::memory_order_relaxed);
    }
  }

  // A worker which has not woken up by now finds no seat and is not waited for.
  void join() {
    for (int spin = 0; spin < kSpins && active_.load(std::memory_order_acquire) > 0; ++spin)
      pause();
    std::unique_lock<std::mutex> lock(state_);
    seats_ = 0;
    done_.wait(lock, [this] { return active_.load(std::memory_order_relaxed) == 0; });
  }

  void serve() {
    std::uint64_t seen = 0;
    for (;;) {
      for (int spin = 0; spin < kSpins && posted_.load(std::memory_order_acquire) == seen; ++spin)
        pause();
      std::unique_lock<std::mutex> lock(state_);
      wake_.wait(lock, [&] { return posted_.load(std::memory_order_relaxed) != seen; });
      seen = posted_.load(std::memory_order_relaxed);
      if (seats_ == 0) continue;
      --seats_;
      active_.fetch_add(1, std::memory_order_relaxed);
      lock.unlock();
      work();
      lock.lock();
      if (active_.fetch_sub(1, std::memory_order_release) == 1) done_.notify_one();
    }
  }

  std::atomic<bool> busy_{false};  // a caller is being served
  std::mutex state_;
  std::condition_variable wake_;
  std::condition_variable done_;
  Chunk chunk_ = nullptr;
  const void* body_ = nullptr;
  std::int64_t chunks_ = 0;
  std::exception_ptr failure_;
  int seats_ = 0;
  int workers_ = 0;
  std::atomic<int> active_{0};
  std::atomic<std::uint64_t> posted_{0};
  std::atomic<std::int64_t> next_{0};
};

inline int available_threads() {
  static const int count = static_cast<int>(std::thread::hardware_concurrency());
  return count;
}

// Calls body(begin, end) on pieces of [0, count) of `grain` items; small work stays on the caller's
// thread, and so does all work for threads = 1. threads <= 0 means every core.
template <class Body>
void parallel_for(std::int64_t count, std::int64_t grain, int threads, const Body& body) {
  if (count <= 0) return;
  if (count >= 2 * grain && threads <= 0) threads = available_threads();
  if (count < 2 * grain || threads <= 1) {
    body(std::int64_t{0}, count);
    return;
  }
  const auto piece = [&](std::int64_t k) { body(k * grain, std::min((k + 1) * grain, count)); };
  const ThreadPool::Chunk call = [](const void* target, std::int64_t k) {
    (*static_cast<const std::remove_reference_t<decltype(piece)>*>(target))(k);
  };
  ThreadPool::instance().run(threads, (count + grain - 1) / grain, call, &piece);
}

}  // namespace submin

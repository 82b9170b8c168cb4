// What the bindings share: array types and size checks. Each family has a file of its own.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/indices.hpp"

namespace submin {

namespace nb = nanobind;
using nb::literals::operator""_a;

template <class Scalar, int Dimensions = 1>
using Array = nb::ndarray<Scalar, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

using Values = Array<double>;  // written
using ConstValues = Array<const double>;
using Indices = Array<std::int32_t>;  // written
using ConstIndices = Array<const std::int32_t>;
using ConstPointers = Array<const std::int64_t>;

// Releases the interpreter lock while a kernel runs.
//
// A daemon thread can not take the lock of an interpreter that is shutting down. Up to Python 3.13,
// PyEval_RestoreThread then ends the thread with pthread_exit. That unwinds the stack like an
// exception, and the first noexcept function on it, such as this destructor, aborts the process.
// The unwinding is therefore stopped here: the thread waits until the process ends, which is what
// Python 3.14 does itself.
class Unlocked {
 public:
  Unlocked() noexcept : state_(PyEval_SaveThread()) {}
  ~Unlocked() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* const state_;
};

using WithoutLock = nb::call_guard<Unlocked>;

inline std::int64_t size_of(std::size_t size) { return static_cast<std::int64_t>(size); }

// The size of an array that numbers of 32 bits point into.
inline std::int64_t reach_of(std::size_t size) { return std::min(size_of(size), kMostIndices); }

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

inline void require_size(std::size_t size, std::int64_t expected, const char* name) {
  if (size_of(size) == expected) return;
  throw std::invalid_argument(std::string(name) + " has size " + std::to_string(size) +
                              ", expected " + std::to_string(expected));
}

inline void require_positive(double c) { require(c > 0.0, "c must be positive"); }

inline void require_below(const ConstIndices& numbers, std::int64_t bound, const char* name) {
  require_below(numbers.data(), size_of(numbers.size()), bound, name);
}

// The number of groups whose pointers start with 0 and do not decrease; the last one is the number
// of members.
inline std::int64_t checked_pointers(const ConstPointers& pointers, const char* name) {
  const std::int64_t* const at = pointers.data();
  if (pointers.size() < 1 || at[0] != 0)
    throw std::invalid_argument(std::string(name) + " must start with 0");
  const std::int64_t count = size_of(pointers.size()) - 1;
  for (std::int64_t k = 1; k <= count; ++k)
    if (at[k] < at[k - 1])
      throw std::invalid_argument(std::string(name) + "[" + std::to_string(k) +
                                  "] = " + std::to_string(at[k]) + " is below " +
                                  std::to_string(at[k - 1]) + ": " + name + " must not decrease");
  return count;
}

void bind_chains(nb::module_& module);
void bind_closure(nb::module_& module);
void bind_colouring(nb::module_& module);
void bind_edges(nb::module_& module);
void bind_flow(nb::module_& module);
void bind_function(nb::module_& module);
void bind_grid(nb::module_& module);
void bind_groups(nb::module_& module);
void bind_cardinality(nb::module_& module);
void bind_labels(nb::module_& module);
void bind_linear_forests(nb::module_& module);
void bind_memory(nb::module_& module);
void bind_networks(nb::module_& module);
void bind_orders(nb::module_& module);
void bind_table(nb::module_& module);
void bind_hyperedge(nb::module_& module);
void bind_sums(nb::module_& module);
void bind_metric(nb::module_& module);
void bind_truncation(nb::module_& module);

}  // namespace submin

#include "bind/arrays.hpp"
#include "core/vectorize.hpp"

namespace nb = nanobind;

namespace {

// nanobind frees arrays under the lock of the main interpreter. In a sub-interpreter, which holds
// that lock already, the first kernel would wait for itself. The main interpreter has the number 0.
void refuse_subinterpreter() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
    throw nb::import_error("they need the main interpreter, and this is a sub-interpreter");
}

}  // namespace

NB_MODULE(_native, module) {
  refuse_subinterpreter();
#ifdef NDEBUG
  nb::set_leak_warnings(false);  // a daemon thread may hold objects at the end
#endif
  module.doc() = "Compiled kernels; submin.kernels.reference documents them.";
  module.def("vector_width",
             [] { return submin::kVectorNames[static_cast<int>(submin::vector_width())]; });
  submin::bind_chains(module);
  submin::bind_closure(module);
  submin::bind_colouring(module);
  submin::bind_edges(module);
  submin::bind_flow(module);
  submin::bind_function(module);
  submin::bind_grid(module);
  submin::bind_groups(module);
  submin::bind_cardinality(module);
  submin::bind_orders(module);
  submin::bind_table(module);
  submin::bind_hyperedge(module);
  submin::bind_sums(module);
  submin::bind_labels(module);
  submin::bind_linear_forests(module);
  submin::bind_memory(module);
  submin::bind_networks(module);
  submin::bind_truncation(module);
  submin::bind_metric(module);
}

#include "bindings.hpp"
#include "vectorize.hpp"

NB_MODULE(_native, module) {
  module.doc() = "Compiled kernels; submin.kernels.protocol documents them.";
  module.def("vector_width",
             [] { return submin::kVectorNames[static_cast<int>(submin::vector_width())]; });
  submin::bind_chains(module);
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
  submin::bind_linear_forests(module);
  submin::bind_memory(module);
  submin::bind_networks(module);
  submin::bind_truncation(module);
  submin::bind_metric(module);
}

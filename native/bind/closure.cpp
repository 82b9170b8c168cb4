#include "bind/arrays.hpp"
#include "bind/weights.hpp"
#include "flow/closure.hpp"

namespace submin {
namespace {

void close(const ConstIndices& tails, const ConstIndices& heads, const Array<std::int8_t>& side) {
  require_size(heads.size(), size_of(tails.size()), "heads");
  close_sides(tails.data(), heads.data(), size_of(tails.size()), side.data(), size_of(side.size()));
}

void close_edges(const ConstIndices& tails, const ConstIndices& heads, const Weights& backward,
                 const Weights& forward, const ConstValues& flow, double room,
                 const Array<std::int8_t>& side) {
  require_size(tails.size(), size_of(flow.size()), "tails");
  require_size(heads.size(), size_of(flow.size()), "heads");
  require_below(tails, size_of(side.size()), "tails");
  require_below(heads, size_of(side.size()), "heads");
  const auto [lower, upper] = checked_bounds(backward, forward, flow.size());
  const EdgeArcs arcs(tails.data(), heads.data(), size_of(flow.size()), size_of(side.size()), lower,
                      upper, flow.data());
  close_residual_sides(arcs, room, side.data(), size_of(side.size()));
}

void raise(const ConstIndices& tails, const ConstIndices& heads, const Values& values) {
  require_size(heads.size(), size_of(tails.size()), "heads");
  require(values.size() <= INT32_MAX, "there are too many values");
  raise_along(tails.data(), heads.data(), size_of(tails.size()), values.data(),
              size_of(values.size()));
}

}  // namespace

void bind_closure(nb::module_& module) {
  module.def("close_sides", &close, "tails"_a.noconvert(), "heads"_a.noconvert(),
             "side"_a.noconvert(), WithoutLock());
  module.def("edges_close_sides", &close_edges, "tails"_a.noconvert(), "heads"_a.noconvert(),
             "backward"_a.noconvert(), "forward"_a.noconvert(), "flow"_a.noconvert(), "room"_a,
             "side"_a.noconvert(), WithoutLock());
  module.def("raise_along", &raise, "tails"_a.noconvert(), "heads"_a.noconvert(),
             "values"_a.noconvert(), WithoutLock());
}

}  // namespace submin

#include "bind_groups.hpp"
#include "cardinality.hpp"

namespace submin {
namespace {

void project(const ConstPointers& indptr, const ConstIndices& members, const ConstValues& gains,
             const ConstIndices& groups, const ConstValues& y, const ConstValues& s, double c,
             const Indices& order, const Values& out, int threads) {
  require_size(gains.size(), size_of(members.size()), "gains");
  require_size(y.size(), size_of(members.size()), "y");
  require_size(order.size(), size_of(members.size()), "order");
  require_positive(c);
  const Selection chosen = checked_selection(indptr, members, groups);
  require_size(out.size(), chosen.places.back(), "out");
  project_selected(chosen, y.data(), s.data(), c, out.data(), threads,
                   cardinality_projection(gains.data(), order.data()));
}

void sweep(const ConstPointers& indptr, const ConstIndices& members, const ConstValues& gains,
           const ConstIndices& groups, const Values& y, const Values& s, const Indices& order,
           int threads) {
  require_size(gains.size(), size_of(members.size()), "gains");
  require_size(y.size(), size_of(members.size()), "y");
  require_size(order.size(), size_of(members.size()), "order");
  const Selection chosen = checked_selection(indptr, members, groups);
  sweep_selected(chosen, y.data(), s.data(), threads,
                 cardinality_projection(gains.data(), order.data()));
}

void greedy(const ConstPointers& indptr, const ConstIndices& members, const ConstValues& gains,
            const ConstIndices& rank, const Values& out, int threads) {
  require(indptr.size() >= 1, "indptr is empty");
  require_size(gains.size(), size_of(members.size()), "gains");
  require_size(out.size(), size_of(members.size()), "out");
  const std::int64_t count = size_of(indptr.size()) - 1;
  for (std::int64_t group = 0; group < count; ++group)
    checked_count(indptr.data(), group, members.size());
  cardinality_greedy(indptr.data(), count, members.data(), gains.data(), rank.data(), out.data(),
                     threads);
}

}  // namespace

void bind_cardinality(nb::module_& module) {
  module.def("cardinality_project", &project, "indptr"_a.noconvert(), "members"_a.noconvert(),
             "gains"_a.noconvert(), "groups"_a.noconvert(), "y"_a.noconvert(), "s"_a.noconvert(),
             "c"_a, "order"_a.noconvert(), "out"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("cardinality_sweep", &sweep, "indptr"_a.noconvert(), "members"_a.noconvert(),
             "gains"_a.noconvert(), "groups"_a.noconvert(), "y"_a.noconvert(), "s"_a.noconvert(),
             "order"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("cardinality_greedy", &greedy, "indptr"_a.noconvert(), "members"_a.noconvert(),
             "gains"_a.noconvert(), "rank"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
             WithoutLock());
}

}  // namespace submin

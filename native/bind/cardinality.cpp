#include "bind/groups.hpp"
#include "groups/cardinality.hpp"

namespace submin {
namespace {

void project(const ConstPointers& indptr, const ConstIndices& members, const ConstValues& gains,
             const ConstIndices& groups, const ConstValues& y, const ConstValues& s, double c,
             const Indices& order, const Values& out, int threads) {
  require_size(gains.size(), size_of(members.size()), "gains");
  require_size(y.size(), size_of(members.size()), "y");
  require_size(order.size(), size_of(members.size()), "order");
  require_positive(c);
  const Selection chosen = checked_selection(indptr, members, groups, s.size());
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
  const Selection chosen = checked_selection(indptr, members, groups, s.size());
  sweep_selected(chosen, y.data(), s.data(), threads,
                 cardinality_projection(gains.data(), order.data()));
}

void greedy(const ConstPointers& indptr, const ConstIndices& members, const ConstValues& gains,
            const ConstIndices& rank, const Values& out, int threads) {
  require_size(gains.size(), size_of(members.size()), "gains");
  require_size(out.size(), size_of(members.size()), "out");
  require_below(members, size_of(rank.size()), "members");
  cardinality_greedy(indptr.data(), checked_groups(indptr, members.size()), members.data(),
                     gains.data(), rank.data(), out.data(), threads);
}

std::pair<double, double> excess(const ConstPointers& indptr, const ConstValues& costs,
                                 const ConstValues& y, int threads) {
  const std::int64_t count = checked_groups(indptr, y.size());
  require_size(costs.size(), size_of(y.size()) + count, "costs");
  return as_pair(cardinality_excess(indptr.data(), count, costs.data(), y.data(), threads));
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
  module.def("cardinality_excess", &excess, "indptr"_a.noconvert(), "costs"_a.noconvert(),
             "y"_a.noconvert(), "threads"_a, WithoutLock());
}

}  // namespace submin

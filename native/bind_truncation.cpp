#include "bind_groups.hpp"
#include "truncation.hpp"

namespace submin {
namespace {

Truncations checked_truncations(const ConstPointers& indptr, const ConstIndices& members,
                                const ConstValues& lower, const ConstValues& upper,
                                const ConstValues& totals) {
  require_size(lower.size(), size_of(members.size()), "lower");
  require_size(upper.size(), size_of(members.size()), "upper");
  require_size(totals.size(), size_of(indptr.size()) - 1, "totals");
  return {lower.data(), upper.data(), totals.data()};
}

void project(const ConstPointers& indptr, const ConstIndices& members, const ConstValues& lower,
             const ConstValues& upper, const ConstValues& totals, const ConstIndices& groups,
             const ConstValues& y, const ConstValues& s, double c, const Values& out,
             int threads) {
  const Selection chosen = checked_selection(indptr, members, groups);
  const Truncations all = checked_truncations(indptr, members, lower, upper, totals);
  require_positive(c);
  require_size(y.size(), size_of(members.size()), "y");
  require_size(out.size(), chosen.places.back(), "out");
  project_selected(chosen, y.data(), s.data(), c, out.data(), threads, truncation_projection(all));
}

void sweep(const ConstPointers& indptr, const ConstIndices& members, const ConstValues& lower,
           const ConstValues& upper, const ConstValues& totals, const ConstIndices& groups,
           const Values& y, const Values& s, int threads) {
  const Selection chosen = checked_selection(indptr, members, groups);
  const Truncations all = checked_truncations(indptr, members, lower, upper, totals);
  require_size(y.size(), size_of(members.size()), "y");
  sweep_selected(chosen, y.data(), s.data(), threads, truncation_projection(all));
}

}  // namespace

void bind_truncation(nb::module_& module) {
  module.def("truncation_project", &project, "indptr"_a.noconvert(), "members"_a.noconvert(),
             "lower"_a.noconvert(), "upper"_a.noconvert(), "totals"_a.noconvert(),
             "groups"_a.noconvert(), "y"_a.noconvert(), "s"_a.noconvert(), "c"_a,
             "out"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("truncation_sweep", &sweep, "indptr"_a.noconvert(), "members"_a.noconvert(),
             "lower"_a.noconvert(), "upper"_a.noconvert(), "totals"_a.noconvert(),
             "groups"_a.noconvert(), "y"_a.noconvert(), "s"_a.noconvert(), "threads"_a,
             WithoutLock());
}

}  // namespace submin

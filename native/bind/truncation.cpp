#include "bind/groups.hpp"
#include "groups/truncation.hpp"

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
             const ConstValues& y, const ConstValues& s, double c, const Values& out, int threads) {
  const Selection chosen = checked_selection(indptr, members, groups, s.size());
  const Truncations all = checked_truncations(indptr, members, lower, upper, totals);
  require_positive(c);
  require_size(y.size(), size_of(members.size()), "y");
  require_size(out.size(), chosen.places.back(), "out");
  project_selected(chosen, y.data(), s.data(), c, out.data(), threads, truncation_projection(all));
}

void sweep(const ConstPointers& indptr, const ConstIndices& members, const ConstValues& lower,
           const ConstValues& upper, const ConstValues& totals, const ConstIndices& groups,
           const Values& y, const Values& s, int threads) {
  const Selection chosen = checked_selection(indptr, members, groups, s.size());
  const Truncations all = checked_truncations(indptr, members, lower, upper, totals);
  require_size(y.size(), size_of(members.size()), "y");
  sweep_selected(chosen, y.data(), s.data(), threads, truncation_projection(all));
}

std::pair<double, double> excess(const ConstPointers& indptr, const ConstValues& modular,
                                 const ConstValues& masses, const ConstValues& caps,
                                 const ConstValues& y, int threads) {
  const std::int64_t count = checked_groups(indptr, y.size());
  require_size(modular.size(), size_of(y.size()), "modular");
  require_size(masses.size(), size_of(y.size()), "masses");
  require_size(caps.size(), count, "caps");
  return as_pair(sum_of_excesses(indptr.data(), count, threads, [&](std::int64_t group) {
    const std::int64_t begin = indptr.data()[group];
    return truncation_excess(modular.data() + begin, masses.data() + begin, caps.data()[group],
                             y.data() + begin, indptr.data()[group + 1] - begin);
  }));
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
  module.def("truncation_excess", &excess, "indptr"_a.noconvert(), "modular"_a.noconvert(),
             "masses"_a.noconvert(), "caps"_a.noconvert(), "y"_a.noconvert(), "threads"_a,
             WithoutLock());
}

}  // namespace submin

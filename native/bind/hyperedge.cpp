#include "bind/groups.hpp"
#include "groups/hyperedge.hpp"

namespace submin {
namespace {

using ConstRoles = Array<const std::uint8_t>;

Hyperedges checked_hyperedges(const ConstPointers& indptr, std::size_t members,
                              const ConstRoles& roles, const ConstValues& weights) {
  require_size(weights.size(), size_of(indptr.size()) - 1, "weights");
  if (roles.size() == 1 && roles.data()[0] == (kTail | kHead)) return {weights.data(), nullptr};
  require_size(roles.size(), size_of(members), "roles");
  return {weights.data(), roles.data()};
}

void project(const ConstPointers& indptr, const ConstIndices& members, const ConstRoles& roles,
             const ConstValues& weights, const ConstIndices& groups, const ConstValues& y,
             const ConstValues& s, double c, const Values& out, int threads) {
  const Selection chosen = checked_selection(indptr, members, groups, s.size());
  const Hyperedges all = checked_hyperedges(indptr, members.size(), roles, weights);
  require_positive(c);
  require_size(y.size(), size_of(members.size()), "y");
  require_size(out.size(), chosen.places.back(), "out");
  project_selected(chosen, y.data(), s.data(), c, out.data(), threads, hyperedge_projection(all));
}

void sweep(const ConstPointers& indptr, const ConstIndices& members, const ConstRoles& roles,
           const ConstValues& weights, const ConstIndices& groups, const Values& y, const Values& s,
           int threads) {
  const Selection chosen = checked_selection(indptr, members, groups, s.size());
  const Hyperedges all = checked_hyperedges(indptr, members.size(), roles, weights);
  require_size(y.size(), size_of(members.size()), "y");
  sweep_selected(chosen, y.data(), s.data(), threads, hyperedge_projection(all));
}

std::pair<double, double> excess(const ConstPointers& indptr, const ConstRoles& roles,
                                 const ConstValues& weights, const ConstValues& y, int threads) {
  const std::int64_t count = checked_groups(indptr, y.size());
  const Hyperedges all = checked_hyperedges(indptr, y.size(), roles, weights);
  return as_pair(sum_of_excesses(indptr.data(), count, threads, [&](std::int64_t group) {
    const std::int64_t begin = indptr.data()[group];
    return hyperedge_excess(all.weights[group], all.roles == nullptr ? nullptr : all.roles + begin,
                            y.data() + begin, indptr.data()[group + 1] - begin);
  }));
}

}  // namespace

void bind_hyperedge(nb::module_& module) {
  module.def("hyperedge_project", &project, "indptr"_a.noconvert(), "members"_a.noconvert(),
             "roles"_a.noconvert(), "weights"_a.noconvert(), "groups"_a.noconvert(),
             "y"_a.noconvert(), "s"_a.noconvert(), "c"_a, "out"_a.noconvert(), "threads"_a,
             WithoutLock());
  module.def("hyperedge_sweep", &sweep, "indptr"_a.noconvert(), "members"_a.noconvert(),
             "roles"_a.noconvert(), "weights"_a.noconvert(), "groups"_a.noconvert(),
             "y"_a.noconvert(), "s"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("hyperedge_excess", &excess, "indptr"_a.noconvert(), "roles"_a.noconvert(),
             "weights"_a.noconvert(), "y"_a.noconvert(), "threads"_a, WithoutLock());
}

}  // namespace submin

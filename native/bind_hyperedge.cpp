#include "bind_groups.hpp"
#include "hyperedge.hpp"

namespace submin {
namespace {

using ConstRoles = Array<const std::uint8_t>;

Hyperedges checked_hyperedges(const ConstPointers& indptr, const ConstIndices& members,
                              const ConstRoles& roles, const ConstValues& weights) {
  require_size(weights.size(), size_of(indptr.size()) - 1, "weights");
  if (roles.size() == 1 && roles.data()[0] == (kTail | kHead)) return {weights.data(), nullptr};
  require_size(roles.size(), size_of(members.size()), "roles");
  return {weights.data(), roles.data()};
}

void project(const ConstPointers& indptr, const ConstIndices& members, const ConstRoles& roles,
             const ConstValues& weights, const ConstIndices& groups, const ConstValues& y,
             const ConstValues& s, double c, const Values& out, int threads) {
  const Selection chosen = checked_selection(indptr, members, groups);
  const Hyperedges all = checked_hyperedges(indptr, members, roles, weights);
  require_positive(c);
  require_size(y.size(), size_of(members.size()), "y");
  require_size(out.size(), chosen.places.back(), "out");
  project_selected(chosen, y.data(), s.data(), c, out.data(), threads, hyperedge_projection(all));
}

void sweep(const ConstPointers& indptr, const ConstIndices& members, const ConstRoles& roles,
           const ConstValues& weights, const ConstIndices& groups, const Values& y,
           const Values& s, int threads) {
  const Selection chosen = checked_selection(indptr, members, groups);
  const Hyperedges all = checked_hyperedges(indptr, members, roles, weights);
  require_size(y.size(), size_of(members.size()), "y");
  sweep_selected(chosen, y.data(), s.data(), threads, hyperedge_projection(all));
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
}

}  // namespace submin

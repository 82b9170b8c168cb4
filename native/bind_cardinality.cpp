#include "bindings.hpp"
#include "cardinality.hpp"

namespace submin {
namespace {

Groups checked_groups(const ConstPointers& indptr, const ConstIndices& members,
                      const ConstValues& gains) {
  require(indptr.size() >= 1, "indptr is empty");
  require_size(gains.size(), size_of(members.size()), "gains");
  return {indptr.data(), members.data(), gains.data()};
}

// The size of a group, whose pointers must ascend within the members.
std::int64_t checked_count(const Groups& all, std::int64_t group, std::size_t members) {
  const std::int64_t begin = all.indptr[group];
  const std::int64_t end = all.indptr[group + 1];
  if (begin < 0 || end < begin || end > size_of(members))
    throw std::invalid_argument("indptr does not point into members at group " +
                                std::to_string(group));
  return end - begin;
}

// Where the results of each selected group begin, and the end.
std::vector<std::int64_t> checked_places(const Groups& all, const ConstPointers& indptr,
                                         const ConstIndices& groups, std::size_t members) {
  require_below(groups, size_of(indptr.size()) - 1, "groups");
  std::vector<std::int64_t> places{0};
  places.reserve(groups.size() + 1);
  for (std::size_t k = 0; k < groups.size(); ++k)
    places.push_back(places.back() + checked_count(all, groups.data()[k], members));
  return places;
}

void project(const ConstPointers& indptr, const ConstIndices& members, const ConstValues& gains,
             const ConstIndices& groups, const ConstValues& y, const ConstValues& s, double c,
             const Indices& order, const Values& out, int threads) {
  const Groups all = checked_groups(indptr, members, gains);
  const std::vector<std::int64_t> places = checked_places(all, indptr, groups, members.size());
  require_positive(c);
  require_size(y.size(), size_of(members.size()), "y");
  require_size(order.size(), size_of(members.size()), "order");
  require_size(out.size(), places.back(), "out");
  cardinality_project(all, groups.data(), places, y.data(), s.data(), c, order.data(), out.data(),
                      threads);
}

void sweep(const ConstPointers& indptr, const ConstIndices& members, const ConstValues& gains,
           const ConstIndices& groups, const Values& y, const Values& s, const Indices& order,
           int threads) {
  const Groups all = checked_groups(indptr, members, gains);
  const std::vector<std::int64_t> places = checked_places(all, indptr, groups, members.size());
  require_size(y.size(), size_of(members.size()), "y");
  require_size(order.size(), size_of(members.size()), "order");
  cardinality_sweep(all, groups.data(), places, y.data(), s.data(), order.data(), threads);
}

void greedy(const ConstPointers& indptr, const ConstIndices& members, const ConstValues& gains,
            const ConstIndices& rank, const Values& out, int threads) {
  const Groups all = checked_groups(indptr, members, gains);
  const std::int64_t count = size_of(indptr.size()) - 1;
  for (std::int64_t group = 0; group < count; ++group) checked_count(all, group, members.size());
  require_size(out.size(), size_of(members.size()), "out");
  cardinality_greedy(all, count, rank.data(), out.data(), threads);
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

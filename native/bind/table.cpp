#include "bind/arrays.hpp"
#include "groups/table.hpp"

namespace submin {
namespace {

using Members = Array<const std::int32_t, 2>;
using TableValues = Array<const double, 2>;

Tables checked_tables(const Members& members, const TableValues& values, const ConstIndices& tables,
                      std::size_t elements) {
  const std::int64_t arity = size_of(members.shape(1));
  require(1 <= arity && arity <= kMostTableMembers, "members must have between 1 and 20 columns");
  require_size(values.shape(1), std::int64_t{1} << arity, "a row of values");
  const bool shared = values.shape(0) == 1;
  if (!shared) require_size(values.shape(0), size_of(members.shape(0)), "the first axis of values");
  require_below(tables, size_of(members.shape(0)), "tables");
  return {members.data(), values.data(), static_cast<int>(arity), shared, reach_of(elements)};
}

void project(const Members& members, const TableValues& values, const ConstIndices& tables,
             const ConstValues& y, const ConstValues& s, double c, const Values& out, int threads) {
  const Tables all = checked_tables(members, values, tables, s.size());
  require_positive(c);
  require_size(y.size(), size_of(members.size()), "y");
  require_size(out.size(), size_of(tables.size()) * all.arity, "out");
  table_project(all, tables.data(), size_of(tables.size()), y.data(), s.data(), c, out.data(),
                threads);
}

void sweep(const Members& members, const TableValues& values, const ConstIndices& tables,
           const Values& y, const Values& s, int threads) {
  const Tables all = checked_tables(members, values, tables, s.size());
  require_size(y.size(), size_of(members.size()), "y");
  table_sweep(all, tables.data(), size_of(tables.size()), y.data(), s.data(), threads);
}

void second_differences(const TableValues& values, const Values& out, int threads) {
  int arity = 0;
  while (arity < kMostTableMembers && (std::size_t{1} << arity) < values.shape(1)) ++arity;
  require_size(values.shape(1), std::int64_t{1} << arity, "a row of values");
  require_size(out.size(), size_of(values.shape(0)), "out");
  table_second_differences(values.data(), arity, size_of(out.size()), out.data(), threads);
}

}  // namespace

void bind_table(nb::module_& module) {
  module.def("table_project", &project, "members"_a.noconvert(), "values"_a.noconvert(),
             "tables"_a.noconvert(), "y"_a.noconvert(), "s"_a.noconvert(), "c"_a,
             "out"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("table_sweep", &sweep, "members"_a.noconvert(), "values"_a.noconvert(),
             "tables"_a.noconvert(), "y"_a.noconvert(), "s"_a.noconvert(), "threads"_a,
             WithoutLock());
  module.def("table_second_differences", &second_differences, "values"_a.noconvert(),
             "out"_a.noconvert(), "threads"_a, WithoutLock());
}

}  // namespace submin

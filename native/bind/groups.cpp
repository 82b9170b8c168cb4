#include "bind/groups.hpp"

namespace submin {
namespace {

void accumulate(const ConstIndices& members, const ConstValues& y, const Values& s, double scale) {
  require_size(y.size(), size_of(members.size()), "y");
  require_below(members, size_of(s.size()), "members");
  groups_accumulate(members.data(), y.data(), size_of(y.size()), s.data(), scale);
}

void counts(const ConstPointers& indptr, const ConstIndices& members,
            const Array<const std::uint8_t>& member, const Array<std::int64_t>& out, int threads) {
  const std::int64_t count = checked_groups(indptr, members.size());
  require_size(out.size(), count, "out");
  require_below(members, size_of(member.size()), "members");
  group_counts(indptr.data(), count, members.data(), member.data(), out.data(), threads);
}

}  // namespace

void bind_groups(nb::module_& module) {
  module.def("groups_accumulate", &accumulate, "members"_a.noconvert(), "y"_a.noconvert(),
             "s"_a.noconvert(), "scale"_a, WithoutLock());
  module.def("group_counts", &counts, "indptr"_a.noconvert(), "members"_a.noconvert(),
             "member"_a.noconvert(), "out"_a.noconvert(), "threads"_a, WithoutLock());
}

}  // namespace submin

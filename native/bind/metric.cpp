#include <initializer_list>

#include "bind/arrays.hpp"
#include "groups/groups.hpp"
#include "groups/metric.hpp"
#include "groups/table.hpp"

namespace submin {
namespace {

using ConstRoles = Array<const std::uint8_t>;
using Rows = Array<const double, 2>;

struct Named {
  const char* name;
  std::size_t size;
};

// Consecutive groups; the arrays have one entry for each of their members.
std::int64_t checked_groups(const ConstPointers& pointers, std::initializer_list<Named> arrays) {
  const std::int64_t count = checked_pointers(pointers, "pointers");
  for (const auto& [name, size] : arrays) require_size(size, pointers.data()[count], name);
  return count;
}

template <class Project>
void visit(const ConstPointers& pointers, std::int64_t count, int threads, const Project& project) {
  const std::int64_t* const starts = pointers.data();
  visit_groups(count, starts[count], threads,
               [&](std::int64_t k) { project(k, starts[k], starts[k + 1] - starts[k]); });
}

void cardinality(const ConstPointers& pointers, const ConstValues& a, const ConstValues& d,
                 const ConstValues& gains, const Values& out, int threads) {
  const std::int64_t count = checked_groups(
      pointers, {{"a", a.size()}, {"d", d.size()}, {"gains", gains.size()}, {"out", out.size()}});
  visit(pointers, count, threads, [&](std::int64_t, std::int64_t begin, std::int64_t size) {
    WeightedCardinality::of_this_thread().project(gains.data() + begin, a.data() + begin,
                                                  d.data() + begin, out.data() + begin, size);
  });
}

void hyperedge(const ConstPointers& pointers, const ConstValues& a, const ConstValues& d,
               const ConstRoles& roles, const ConstValues& weights, const Values& out,
               int threads) {
  const std::int64_t count = checked_groups(
      pointers, {{"a", a.size()}, {"d", d.size()}, {"roles", roles.size()}, {"out", out.size()}});
  require_size(weights.size(), count, "weights");
  visit(pointers, count, threads, [&](std::int64_t k, std::int64_t begin, std::int64_t size) {
    WeightedHyperedge::of_this_thread().project(weights.data()[k], roles.data() + begin,
                                                a.data() + begin, d.data() + begin,
                                                out.data() + begin, size);
  });
}

void truncation(const ConstPointers& pointers, const ConstValues& a, const ConstValues& d,
                const ConstValues& lower, const ConstValues& upper, const ConstValues& totals,
                const Values& out, int threads) {
  const std::int64_t count = checked_groups(pointers, {{"a", a.size()},
                                                       {"d", d.size()},
                                                       {"lower", lower.size()},
                                                       {"upper", upper.size()},
                                                       {"out", out.size()}});
  require_size(totals.size(), count, "totals");
  visit(pointers, count, threads, [&](std::int64_t k, std::int64_t begin, std::int64_t size) {
    weighted_slice(lower.data() + begin, upper.data() + begin, totals.data()[k], a.data() + begin,
                   d.data() + begin, out.data() + begin, size);
  });
}

void chains(const ConstPointers& pointers, const ConstValues& step, const ConstValues& d,
            const ConstValues& backward, const ConstValues& forward, const ConstValues& flow,
            const Values& out, int threads) {
  const std::int64_t count = checked_groups(pointers, {{"step", step.size()}, {"d", d.size()}});
  for (std::int64_t k = 0; k < count; ++k)
    if (pointers.data()[k] == pointers.data()[k + 1])
      throw std::invalid_argument("pointers must increase, but chain " + std::to_string(k) +
                                  " is empty");
  for (const auto& [name, size] :
       {Named{"backward", backward.size()}, Named{"forward", forward.size()},
        Named{"flow", flow.size()}, Named{"out", out.size()}})
    require_size(size, pointers.data()[count] - count, name);
  visit(pointers, count, threads, [&](std::int64_t k, std::int64_t begin, std::int64_t size) {
    const std::int64_t edge = begin - k;
    WeightedChain::of_this_thread().project(step.data() + begin, d.data() + begin,
                                            backward.data() + edge, forward.data() + edge,
                                            flow.data() + edge, out.data() + edge, size);
  });
}

void table(const Rows& a, const Rows& d, const Rows& values, const Array<double, 2>& out,
           int threads) {
  const std::int64_t count = size_of(a.shape(0));
  const std::int64_t arity = size_of(a.shape(1));
  require(1 <= arity && arity <= kMostTableMembers, "a must have between 1 and 20 columns");
  require_size(d.size(), size_of(a.size()), "d");
  require_size(out.size(), size_of(a.size()), "out");
  require_size(values.shape(1), std::int64_t{1} << arity, "a row of values");
  const bool shared = values.shape(0) == 1;
  if (!shared) require_size(values.shape(0), count, "the first axis of values");
  const Tables all{nullptr, values.data(), static_cast<int>(arity), shared, 0};
  visit_groups(count, count * arity, threads, [&](std::int64_t k) {
    TableProjector::of_this_thread().project(a.data() + k * arity, d.data() + k * arity, all.row(k),
                                             all.arity, out.data() + k * arity);
  });
}

}  // namespace

void bind_metric(nb::module_& module) {
  module.def("weighted_cardinality", &cardinality, "pointers"_a.noconvert(), "a"_a.noconvert(),
             "d"_a.noconvert(), "gains"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
             WithoutLock());
  module.def("weighted_hyperedge", &hyperedge, "pointers"_a.noconvert(), "a"_a.noconvert(),
             "d"_a.noconvert(), "roles"_a.noconvert(), "weights"_a.noconvert(), "out"_a.noconvert(),
             "threads"_a, WithoutLock());
  module.def("weighted_truncation", &truncation, "pointers"_a.noconvert(), "a"_a.noconvert(),
             "d"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(),
             "totals"_a.noconvert(), "out"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("weighted_chains", &chains, "pointers"_a.noconvert(), "step"_a.noconvert(),
             "d"_a.noconvert(), "backward"_a.noconvert(), "forward"_a.noconvert(),
             "flow"_a.noconvert(), "out"_a.noconvert(), "threads"_a, WithoutLock());
  module.def("weighted_table", &table, "a"_a.noconvert(), "d"_a.noconvert(), "values"_a.noconvert(),
             "out"_a.noconvert(), "threads"_a, WithoutLock());
}

}  // namespace submin

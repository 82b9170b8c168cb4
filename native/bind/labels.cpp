// Bindings of message passing, moves and bounds of labellings.
#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include "bind/arrays.hpp"
#include "labels/bound.hpp"
#include "labels/expansions.hpp"
#include "labels/fusion.hpp"
#include "labels/messages.hpp"

namespace submin {
namespace {

using Rows = Array<float, 2>;
using ConstRows = Array<const float, 2>;
using Kinds = Array<const std::uint8_t>;
using ConstSingles = Array<const float>;
template <class Scalar>
using Matrices = Array<const Scalar, 3>;
template <class Scalar>
using Costs = Array<const Scalar, 2>;

// The number of labels of rows, in whole lanes.
template <class Scalar>
std::int64_t checked_distances(const Matrices<Scalar>& distances, const Kinds& kinds) {
  const std::int64_t padded = size_of(distances.shape(1));
  require(padded >= 1 && padded <= labels::kMostLabels && padded % labels::kLanes == 0,
          "distances must have 8, 16, ... up to 1024 labels");
  require_size(distances.shape(2), padded, "distances[0, 0]");
  const std::int64_t count = size_of(distances.shape(0));
  for (std::size_t e = 0; e < kinds.size(); ++e)
    if (kinds.data()[e] >= count)
      throw std::invalid_argument("kinds[" + std::to_string(e) + "] = " +
                                  std::to_string(kinds.data()[e]) + " is no row of distances");
  return padded;
}

void check_edges(std::int64_t nodes, const ConstIndices& tails, const ConstIndices& heads,
                 std::size_t weights, const Kinds& kinds) {
  const std::int64_t edges = size_of(tails.size());
  require(edges < (std::int64_t{1} << 30), "there are too many edges");
  require(nodes < (std::int64_t{1} << 31), "there are too many nodes");
  require_size(heads.size(), edges, "heads");
  require_size(weights, edges, "weights");
  require_size(kinds.size(), edges, "kinds");
  require_below(tails, nodes, "tails");
  require_below(heads, nodes, "heads");
  for (std::int64_t e = 0; e < edges; ++e)
    if (tails.data()[e] == heads.data()[e])
      throw std::invalid_argument("heads[" + std::to_string(e) +
                                  "] = " + std::to_string(heads.data()[e]) +
                                  " is the edge's tail: an edge needs two different ends");
}

template <class Scalar>
void check_rows(const Array<Scalar, 2>& rows, std::int64_t count, std::int64_t padded,
                const char* name) {
  require_size(rows.shape(0), count, name);
  require_size(rows.shape(1), padded, name);
}

// A dual, or none.
const float* dual_rows(const ConstRows& rows, std::int64_t count, std::int64_t padded,
                       const char* name) {
  if (rows.shape(0) == 0) return nullptr;
  check_rows(rows, count, padded, name);
  return rows.data();
}

class BoundMessages {
 public:
  BoundMessages(const ConstRows& costs, const ConstIndices& tails, const ConstIndices& heads,
                const ConstSingles& weights, const Kinds& kinds, const Matrices<float>& distances,
                const Rows& messages)
      : costs_(costs),
        tails_(tails),
        heads_(heads),
        weights_(weights),
        kinds_(kinds),
        distances_(distances),
        rows_(messages) {
    const std::int64_t padded = checked_distances(distances, kinds);
    const std::int64_t nodes = size_of(costs.shape(0)), edges = size_of(tails.size());
    check_edges(nodes, tails, heads, weights.size(), kinds);
    check_rows(costs, nodes, padded, "costs");
    check_rows(messages, edges, padded, "messages");
    labels::Energy energy{nodes,          edges,        padded,
                          costs.data(),   tails.data(), heads.data(),
                          weights.data(), kinds.data(), {}};
    for (std::size_t k = 0; k < distances.shape(0); ++k)
      energy.distances.emplace_back(distances.data() + k * padded * padded, padded);
    passing_ = std::make_unique<labels::Messages>(std::move(energy), messages.data());
  }

  void forward(const Indices& chosen, int threads) {
    if (chosen.size() > 0) require_size(chosen.size(), size_of(costs_.shape(0)), "chosen");
    passing_->forward(threads, chosen.size() > 0 ? chosen.data() : nullptr);
  }
  double backward(int threads) { return passing_->backward(threads); }
  double marginals(const Rows& rows, int threads) {
    check_rows(rows, size_of(costs_.shape(0)), size_of(costs_.shape(1)), "rows");
    return passing_->marginals(threads, rows.data());
  }
  double dual(const Rows& at_tail, const Rows& at_head, int threads) {
    check_rows(at_tail, size_of(rows_.shape(0)), size_of(rows_.shape(1)), "at_tail");
    check_rows(at_head, size_of(rows_.shape(0)), size_of(rows_.shape(1)), "at_head");
    return passing_->dual(threads, {at_tail.data(), at_head.data()});
  }

 private:
  ConstRows costs_;
  ConstIndices tails_, heads_;
  ConstSingles weights_;
  Kinds kinds_;
  Matrices<float> distances_;
  Rows rows_;
  std::unique_ptr<labels::Messages> passing_;
};

void check_labels(const ConstIndices& chosen, std::int64_t nodes, std::int64_t padded,
                  const char* name) {
  require_size(chosen.size(), nodes, name);
  require_below(chosen, padded, name);
}

std::int64_t label_fusion(const ConstIndices& tails, const ConstIndices& heads,
                          const ConstValues& weights, const Kinds& kinds,
                          const Matrices<double>& distances, const ConstRows& at_tail,
                          const ConstRows& at_head, const ConstIndices& first,
                          const ConstIndices& second, const Values& s, const Values& backward,
                          const Values& forward) {
  const std::int64_t padded = checked_distances(distances, kinds);
  const std::int64_t nodes = size_of(s.size()), edges = size_of(tails.size());
  check_edges(nodes, tails, heads, weights.size(), kinds);
  check_labels(first, nodes, padded, "first");
  check_labels(second, nodes, padded, "second");
  require_size(backward.size(), edges, "backward");
  require_size(forward.size(), edges, "forward");
  return labels::fusion(
      {edges, padded, tails.data(), heads.data(), weights.data(), kinds.data(), distances.data(),
       dual_rows(at_tail, edges, padded, "at_tail"), dual_rows(at_head, edges, padded, "at_head")},
      first.data(), second.data(), s.data(), backward.data(), forward.data());
}

template <class Scalar, class Real>
double label_bound(const Costs<Scalar>& costs, const ConstIndices& tails, const ConstIndices& heads,
                   const ConstValues& weights, const Kinds& kinds,
                   const Matrices<double>& distances, const Array<const Real, 2>& at_tail,
                   const Array<const Real, 2>& at_head, int threads) {
  const std::int64_t padded = checked_distances(distances, kinds);
  const std::int64_t labels = size_of(costs.shape(0)), nodes = size_of(costs.shape(1));
  const std::int64_t edges = size_of(tails.size());
  require(1 <= labels && labels <= padded, "costs has more labels than distances");
  check_edges(nodes, tails, heads, weights.size(), kinds);
  check_rows(at_tail, edges, padded, "at_tail");
  check_rows(at_head, edges, padded, "at_head");
  const labels::MoveEdges all{edges,          padded,       tails.data(),     heads.data(),
                              weights.data(), kinds.data(), distances.data(), nullptr,
                              nullptr};
  const labels::DualRows<Real> dual{at_tail.data(), at_head.data()};
  return labels::nodes_bound(all, dual, costs.data(), nodes, labels, threads) +
         labels::edges_bound(all, dual, size_of(distances.shape(0)), labels, threads);
}

double label_distances(const ConstIndices& tails, const ConstIndices& heads,
                       const ConstValues& weights, const Kinds& kinds,
                       const Matrices<double>& distances, const ConstIndices& chosen, int threads) {
  const std::int64_t padded = checked_distances(distances, kinds);
  const std::int64_t nodes = size_of(chosen.size());
  check_edges(nodes, tails, heads, weights.size(), kinds);
  check_labels(chosen, nodes, padded, "chosen");
  return labels::edges_cost({size_of(tails.size()), padded, tails.data(), heads.data(),
                             weights.data(), kinds.data(), distances.data(), nullptr, nullptr},
                            chosen.data(), threads);
}

// Expansions with costs in double or in single precision.
class BoundExpansions {
 public:
  template <class Scalar>
  BoundExpansions(const Costs<Scalar>& costs, const ConstIndices& tails, const ConstIndices& heads,
                  const ConstValues& weights, const Kinds& kinds, const Matrices<double>& distances,
                  const ConstRows& at_tail, const ConstRows& at_head, const Indices& current,
                  int threads)
      : held_(nb::make_tuple(costs, tails, heads, weights, kinds, distances, at_tail, at_head,
                             current)),
        labels_(size_of(costs.shape(0))) {
    const std::int64_t padded = checked_distances(distances, kinds);
    const std::int64_t nodes = size_of(costs.shape(1)), edges = size_of(tails.size());
    require(1 <= labels_ && labels_ <= padded, "costs has more labels than distances");
    check_edges(nodes, tails, heads, weights.size(), kinds);
    check_rows(at_tail, edges, padded, "at_tail");
    check_rows(at_head, edges, padded, "at_head");
    check_labels(ConstIndices(current), nodes, labels_, "current");
    const labels::MoveEdges all{edges,          padded,       tails.data(),     heads.data(),
                                weights.data(), kinds.data(), distances.data(), at_tail.data(),
                                at_head.data()};
    using Cost = std::remove_const_t<Scalar>;
    const auto expansions = std::make_shared<labels::Expansions<Cost>>(
        all, costs.data(), nodes, labels_, current.data(), threads);
    expand_ = [expansions](std::int32_t alpha, double least) {
      return expansions->expand(alpha, least);
    };
  }

  std::int64_t expand(std::int32_t alpha, double least) {
    require(0 <= alpha && alpha < labels_, "alpha must be one of the labels");
    const Unlocked unlocked;
    return expand_(alpha, least);
  }

 private:
  nb::tuple held_;
  std::int64_t labels_;
  std::function<std::int64_t(std::int32_t, double)> expand_;
};

}  // namespace

void bind_labels(nb::module_& module) {
  nb::class_<BoundMessages>(module, "LabelMessages")
      .def(nb::init<const ConstRows&, const ConstIndices&, const ConstIndices&, const ConstSingles&,
                    const Kinds&, const Matrices<float>&, const Rows&>(),
           "costs"_a.noconvert(), "tails"_a.noconvert(), "heads"_a.noconvert(),
           "weights"_a.noconvert(), "kinds"_a.noconvert(), "distances"_a.noconvert(),
           "messages"_a.noconvert())
      .def("forward", &BoundMessages::forward, "chosen"_a.noconvert(), "threads"_a = 1,
           WithoutLock())
      .def("backward", &BoundMessages::backward, "threads"_a = 1, WithoutLock())
      .def("marginals", &BoundMessages::marginals, "rows"_a.noconvert(), "threads"_a = 1,
           WithoutLock())
      .def("dual", &BoundMessages::dual, "at_tail"_a.noconvert(), "at_head"_a.noconvert(),
           "threads"_a = 1, WithoutLock());
  nb::class_<BoundExpansions> expansions(module, "LabelExpansions");
  const auto bind_costs = [&](auto costs) {
    using Given = decltype(costs);
    expansions.def(nb::init<const Given&, const ConstIndices&, const ConstIndices&,
                            const ConstValues&, const Kinds&, const Matrices<double>&,
                            const ConstRows&, const ConstRows&, const Indices&, int>(),
                   "costs"_a.noconvert(), "tails"_a.noconvert(), "heads"_a.noconvert(),
                   "weights"_a.noconvert(), "kinds"_a.noconvert(), "distances"_a.noconvert(),
                   "at_tail"_a.noconvert(), "at_head"_a.noconvert(), "current"_a.noconvert(),
                   "threads"_a = 1);
  };
  bind_costs(Costs<float>());
  bind_costs(Costs<double>());
  expansions.def("expand", &BoundExpansions::expand, "alpha"_a, "least"_a = 0.0);
  module.def("label_fusion", &label_fusion, "tails"_a.noconvert(), "heads"_a.noconvert(),
             "weights"_a.noconvert(), "kinds"_a.noconvert(), "distances"_a.noconvert(),
             "at_tail"_a.noconvert(), "at_head"_a.noconvert(), "first"_a.noconvert(),
             "second"_a.noconvert(), "s"_a.noconvert(), "backward"_a.noconvert(),
             "forward"_a.noconvert(), WithoutLock());
  const auto bind_bound = [&](auto bound) {
    module.def("label_bound", bound, "costs"_a.noconvert(), "tails"_a.noconvert(),
               "heads"_a.noconvert(), "weights"_a.noconvert(), "kinds"_a.noconvert(),
               "distances"_a.noconvert(), "at_tail"_a.noconvert(), "at_head"_a.noconvert(),
               "threads"_a = 1, WithoutLock());
  };
  bind_bound(&label_bound<float, float>);
  bind_bound(&label_bound<double, float>);
  bind_bound(&label_bound<float, double>);
  bind_bound(&label_bound<double, double>);
  module.def("label_distances", &label_distances, "tails"_a.noconvert(), "heads"_a.noconvert(),
             "weights"_a.noconvert(), "kinds"_a.noconvert(), "distances"_a.noconvert(),
             "chosen"_a.noconvert(), "threads"_a = 1, WithoutLock());
}

}  // namespace submin

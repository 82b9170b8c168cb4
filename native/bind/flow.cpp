// Bindings of the max-flow finish: resumable solvers on the caller's arrays. Sizes are checked
// here.
#include <nanobind/stl/vector.h>

#include <memory>

#include "bind/arrays.hpp"
#include "bind/weights.hpp"
#include "flow/graph_flow.hpp"
#include "flow/grid_flow.hpp"
#include "flow/parametric_flow.hpp"
#include "flow/settling.hpp"
#include "graph/edge_sums.hpp"

namespace submin {
namespace {

using Members = Array<std::uint8_t>;
using Offsets = Array<const std::int64_t, 2>;

constexpr std::int64_t kMostNodes = (std::int64_t{1} << 31) / flow::kStep - 2;  // labels: 31 bits
constexpr std::int64_t kMostEdges = std::int64_t{1} << 30;

nb::dict counts_of(const flow::GraphFlow& solver) {
  const flow::PseudoflowCounts& counts = solver.counts();
  nb::dict result;
  result["pushes"] = counts.pushes;
  result["mergers"] = counts.mergers;
  result["splits"] = counts.splits;
  result["relabels"] = counts.relabels;
  result["scans"] = solver.trees().scans();
  result["passed"] = solver.trees().passed();
  result["updates"] = counts.updates;
  return result;
}

nb::dict counts_of(const flow::GridFlow& solver) {
  const flow::GridCounts counts = solver.counts();
  nb::dict result;
  result["pushes"] = counts.search.pushes + counts.trees.pushes;
  result["grown"] = counts.search.grown;
  result["adopted"] = counts.search.adopted;
  result["raised"] = counts.search.raised;
  result["lost"] = counts.search.lost;
  result["mergers"] = counts.trees.mergers;
  result["splits"] = counts.trees.splits;
  result["relabels"] = counts.trees.relabels;
  result["updates"] = counts.trees.updates;
  return result;
}

flow::GridFlowProblem grid_problem(const ConstPointers& shape, const Offsets& offsets,
                                   const std::vector<Weights>& backward,
                                   const std::vector<Weights>& forward,
                                   const std::vector<Values>& flows, const Values& s) {
  flow::GridFlowProblem problem;
  problem.shape.assign(shape.data(), shape.data() + shape.size());
  require(!problem.shape.empty(), "shape must have at least one axis");
  require(problem.shape.size() <= flow::kMostAxes, "shape must have at most 8 axes");
  double size = 1;
  for (const std::int64_t extent : problem.shape) {
    require(extent > 0, "shape must be positive");
    size *= static_cast<double>(extent);
  }
  require(size <= static_cast<double>(kMostNodes), "the grid has too many nodes");
  require_size(s.size(), problem.size(), "s");
  require(flows.size() <= flow::kMostOffsets, "at most 16 offsets");
  require_size(offsets.shape(0), size_of(flows.size()), "offsets");
  require_size(offsets.shape(1), size_of(shape.size()), "offsets[0]");
  require_size(backward.size(), size_of(flows.size()), "backward");
  require_size(forward.size(), size_of(flows.size()), "forward");
  for (std::size_t k = 0; k < flows.size(); ++k) {
    const std::int64_t* offset = offsets.data() + k * shape.size();
    std::int64_t edges = 1;
    bool moves = false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      require(-kMostNodes <= offset[i] && offset[i] <= kMostNodes, "offsets are too large");
      edges *= std::max<std::int64_t>(problem.shape[i] - std::abs(offset[i]), 0);
      moves = moves || offset[i] != 0;
    }
    require(moves, "offsets must not be zero");
    require_size(flows[k].size(), edges, "flows[k]");
    const auto [lower, upper] = checked_bounds(backward[k], forward[k], flows[k].size());
    problem.edges.push_back({{offset, offset + shape.size()}, lower, upper, flows[k].data()});
  }
  problem.imbalance = s.data();
  return problem;
}

flow::GraphFlowProblem graph_problem(const ConstIndices& tails, const ConstIndices& heads,
                                     const Weights& backward, const Weights& forward,
                                     const Values& flow, const Values& s) {
  const std::int64_t edges = size_of(tails.size()), nodes = size_of(s.size());
  require(edges < kMostEdges, "the graph has too many edges");
  require(nodes <= kMostNodes, "the graph has too many nodes");
  require_size(heads.size(), edges, "heads");
  require_size(flow.size(), edges, "flow");
  require_below(tails, nodes, "tails");
  require_below(heads, nodes, "heads");
  const auto [lower, upper] = checked_bounds(backward, forward, tails.size());
  return {nodes, edges, tails.data(), heads.data(), lower, upper, flow.data(), s.data()};
}

// Holds the arrays that the solver works on.
class BoundGridFlow {
 public:
  bool advance(std::int64_t budget, int threads) {
    return solver_->finished() || solver_->advance(budget, threads);
  }
  bool gave_up() const { return solver_->gave_up(); }
  void members(const Members& member, bool largest) {
    require_size(member.size(), size_of(s_.size()), "member");
    require(solver_->finished(), "members are known when advance has returned True");
    solver_->members(largest, member.data());
  }
  nb::dict counts() const { return counts_of(*solver_); }
  std::int64_t visits() const { return solver_->visits(); }

 protected:
  BoundGridFlow(std::vector<Weights> backward, std::vector<Weights> forward,
                std::vector<Values> flows, const Values& s)
      : backward_(std::move(backward)),
        forward_(std::move(forward)),
        flows_(std::move(flows)),
        s_(s) {}

  flow::GridFlowProblem problem(const ConstPointers& shape, const Offsets& offsets) const {
    return grid_problem(shape, offsets, backward_, forward_, flows_, s_);
  }

  std::int64_t size() const { return size_of(s_.size()); }

  std::unique_ptr<flow::GridFlow> solver_;

 private:
  std::vector<Weights> backward_, forward_;
  std::vector<Values> flows_;
  Values s_;
};

class BoundStripFlow : public BoundGridFlow {
 public:
  BoundStripFlow(const ConstPointers& shape, const Offsets& offsets, std::vector<Weights> backward,
                 std::vector<Weights> forward, std::vector<Values> flows, const Values& s,
                 std::int64_t patience)
      : BoundGridFlow(std::move(backward), std::move(forward), std::move(flows), s) {
    require(patience >= 0, "patience must not be negative");
    const std::int64_t most = std::int64_t{1} << 31;
    solver_ = flow::make_grid_flow<flow::StripGridFlow>(problem(shape, offsets),
                                                        std::min(patience, most));
  }
  void set_costs(const ConstIndices& nodes, const ConstValues& costs) {
    require_size(costs.size(), size_of(nodes.size()), "costs");
    require_below(nodes, size(), "nodes");
    require(solver_->finished(), "costs can be set when advance has returned True");
    solver_->set_costs(nodes.data(), costs.data(), size_of(nodes.size()));
  }
};

class BoundTreeFlow : public BoundGridFlow {
 public:
  BoundTreeFlow(const ConstPointers& shape, const Offsets& offsets, std::vector<Weights> backward,
                std::vector<Weights> forward, std::vector<Values> flows, const Values& s)
      : BoundGridFlow(std::move(backward), std::move(forward), std::move(flows), s) {
    solver_ = flow::make_grid_flow<flow::TreeGridFlow>(problem(shape, offsets));
  }
};

class BoundGraphFlow {
 public:
  BoundGraphFlow(const ConstIndices& tails, const ConstIndices& heads, const Weights& backward,
                 const Weights& forward, const Values& flow, const Values& s, bool warm)
      : tails_(tails),
        heads_(heads),
        backward_(backward),
        forward_(forward),
        flow_(flow),
        s_(s),
        solver_(graph_problem(tails, heads, backward, forward, flow, s), warm) {}

  bool advance(std::int64_t budget, int) { return solver_.finished() || solver_.advance(budget); }
  bool gave_up() const { return false; }
  void members(const Members& member, bool largest) const {
    require_size(member.size(), size_of(s_.size()), "member");
    require(solver_.finished(), "members are known when advance has returned True");
    solver_.members(largest, member.data());
  }
  nb::dict counts() const { return counts_of(solver_); }
  std::int64_t visits() const { return solver_.visits(); }

 private:
  ConstIndices tails_, heads_;
  Weights backward_, forward_;
  Values flow_, s_;
  flow::GraphFlow solver_;
};

class BoundParametricFlow {
 public:
  BoundParametricFlow(const ConstIndices& tails, const ConstIndices& heads, const Weights& backward,
                      const Weights& forward, const Values& flow, const ConstValues& costs,
                      const ConstValues& masses, const Values& x, const Indices& plateau)
      : tails_(tails),
        heads_(heads),
        plateau_(plateau),
        backward_(backward),
        forward_(forward),
        flow_(flow),
        x_(x),
        costs_(costs),
        masses_(masses) {
    require_size(costs.size(), size_of(x.size()), "costs");
    require_size(masses.size(), size_of(x.size()), "masses");
    require_size(plateau.size(), size_of(x.size()), "plateau");
    solver_ = std::make_unique<flow::ParametricFlow>(
        flow::ParametricProblem{graph_problem(tails, heads, backward, forward, flow, x),
                                costs.data(), masses.data(), x.data(), plateau.data()});
  }
  bool advance(std::int64_t budget, int threads) { return solver_->advance(budget, threads); }
  nb::dict counts() const {
    nb::dict result;
    result["rounds"] = solver_->rounds();
    return result;
  }

 private:
  ConstIndices tails_, heads_;
  Indices plateau_;
  Weights backward_, forward_;
  Values flow_, x_;
  ConstValues costs_, masses_;
  std::unique_ptr<flow::ParametricFlow> solver_;
};

void settle(const ConstIndices& tails, const ConstIndices& heads, const Weights& backward,
            const Weights& forward, const Values& flow, const Values& s, std::int64_t first) {
  require(first >= 0, "first must not be negative");
  flow::settle(graph_problem(tails, heads, backward, forward, flow, s), first);
}

void add_net_flow(const ConstIndices& tails, const ConstIndices& heads, const ConstValues& flow,
                  const Values& s) {
  const std::int64_t edges = size_of(tails.size()), nodes = size_of(s.size());
  require_size(heads.size(), edges, "heads");
  require_size(flow.size(), edges, "flow");
  require_below(tails, nodes, "tails");
  require_below(heads, nodes, "heads");
  edges_accumulate_compensated(tails.data(), heads.data(), flow.data(), edges, s.data(), nodes);
}

template <class Solver>
void bind_solver(nb::class_<Solver>& solver) {
  solver.def("advance", &Solver::advance, "budget"_a, "threads"_a = 1, WithoutLock())
      .def("members", &Solver::members, "member"_a.noconvert(), "largest"_a = false, WithoutLock())
      .def("gave_up", &Solver::gave_up)
      .def("counts", &Solver::counts)
      .def("visits", &Solver::visits);
}

}  // namespace

void bind_flow(nb::module_& module) {
  nb::class_<BoundStripFlow> grid(module, "GridFlow");
  grid.def(nb::init<const ConstPointers&, const Offsets&, std::vector<Weights>,
                    std::vector<Weights>, std::vector<Values>, const Values&, std::int64_t>(),
           "shape"_a.noconvert(), "offsets"_a.noconvert(), "backward"_a.noconvert(),
           "forward"_a.noconvert(), "flows"_a.noconvert(), "s"_a.noconvert(),
           "patience"_a = std::int64_t{1} << 31)
      .def("set_costs", &BoundStripFlow::set_costs, "nodes"_a.noconvert(), "costs"_a.noconvert(),
           WithoutLock());
  bind_solver(grid);
  nb::class_<BoundTreeFlow> trees(module, "GridTreeFlow");
  trees.def(nb::init<const ConstPointers&, const Offsets&, std::vector<Weights>,
                     std::vector<Weights>, std::vector<Values>, const Values&>(),
            "shape"_a.noconvert(), "offsets"_a.noconvert(), "backward"_a.noconvert(),
            "forward"_a.noconvert(), "flows"_a.noconvert(), "s"_a.noconvert());
  bind_solver(trees);
  nb::class_<BoundGraphFlow> graph(module, "GraphFlow");
  graph.def(nb::init<const ConstIndices&, const ConstIndices&, const Weights&, const Weights&,
                     const Values&, const Values&, bool>(),
            "tails"_a.noconvert(), "heads"_a.noconvert(), "backward"_a.noconvert(),
            "forward"_a.noconvert(), "flow"_a.noconvert(), "s"_a.noconvert(), "warm"_a = false);
  bind_solver(graph);
  nb::class_<BoundParametricFlow>(module, "ParametricFlow")
      .def(nb::init<const ConstIndices&, const ConstIndices&, const Weights&, const Weights&,
                    const Values&, const ConstValues&, const ConstValues&, const Values&,
                    const Indices&>(),
           "tails"_a.noconvert(), "heads"_a.noconvert(), "backward"_a.noconvert(),
           "forward"_a.noconvert(), "flow"_a.noconvert(), "costs"_a.noconvert(),
           "masses"_a.noconvert(), "x"_a.noconvert(), "plateau"_a.noconvert())
      .def("advance", &BoundParametricFlow::advance, "budget"_a, "threads"_a = 1, WithoutLock())
      .def("counts", &BoundParametricFlow::counts);
  module.def("add_net_flow", &add_net_flow, "tails"_a.noconvert(), "heads"_a.noconvert(),
             "flow"_a.noconvert(), "s"_a.noconvert(), WithoutLock());
  module.def("settle", &settle, "tails"_a.noconvert(), "heads"_a.noconvert(),
             "backward"_a.noconvert(), "forward"_a.noconvert(), "flow"_a.noconvert(),
             "s"_a.noconvert(), "first"_a, WithoutLock());
}

}  // namespace submin

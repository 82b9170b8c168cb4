// The threaded kernels on data large enough for several threads, for the thread sanitizer. Says
// whether results depend on the number of threads; races.sh builds and runs it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "chains/chains.hpp"
#include "core/compensated.hpp"
#include "flow/grid_flow.hpp"
#include "grid/grid_sums.hpp"
#include "groups/cardinality.hpp"

namespace {

using Values = std::vector<double>;

constexpr std::int64_t kSide = 400, kNodes = kSide * kSide;
constexpr std::int64_t kShape[] = {kSide, kSide};
constexpr std::int64_t kOffsets[][2] = {{0, 1}, {1, 0}};
constexpr std::int64_t kEdges = kSide * (kSide - 1);  // of one offset
const double kWeight = 0.7;
const submin::WeightArray kUniform{&kWeight, true};

Values random_values(std::int64_t count) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(count));
  std::normal_distribution<double> normal;
  Values values(static_cast<std::size_t>(count));
  std::generate(values.begin(), values.end(), [&] { return normal(engine); });
  return values;
}

// Sweeps all rows and columns, and sums over the grid.
Values chains_and_sums(int threads) {
  Values s = random_values(kNodes), flow(2 * kEdges);
  const std::vector<std::int64_t> length(kSide, kSide);
  for (int axis = 0; axis < 2; ++axis) {
    std::vector<std::int64_t> nodes(kSide), edges(kSide);
    for (std::int64_t k = 0; k < kSide; ++k) {
      nodes[k] = axis ? k : k * kSide;
      edges[k] = axis ? k : k * (kSide - 1);
    }
    const std::int64_t stride = axis ? kSide : 1;
    double* const part = flow.data() + axis * kEdges;
    submin::solve_chains(
        submin::GridChains{nodes.data(), edges.data(), length.data(), kSide, stride, stride},
        {kUniform, kUniform, part, s.data(), 1.0, part, s.data()}, threads);
  }
  submin::GridSums grid{kSide, kSide, {}};
  for (const auto& offset : kOffsets) grid.offsets.emplace_back(kShape, offset, 2);
  Values total(kNodes), greedy(2 * kEdges);
  std::vector<std::uint8_t> inside(kNodes);
  for (std::int64_t v = 0; v < kNodes; ++v) inside[v] = s[v] < 0.0;
  std::vector<std::int32_t> rank(kNodes);
  std::iota(rank.rbegin(), rank.rend(), 0);
  const std::vector<submin::WeightArray> weights(2, kUniform);
  submin::grid_accumulate(grid, flow.data(), total.data(), 1.0, threads);
  submin::grid_greedy(grid, weights, weights, rank.data(), greedy.data(), threads);
  total.push_back(submin::grid_cut_value(grid, weights, weights, inside.data(), threads));
  total.push_back(
      submin::compensated_sum(kNodes, threads, [&](std::int64_t k) SUBMIN_INLINE { return s[k]; }));
  total.insert(total.end(), greedy.begin(), greedy.end());
  total.insert(total.end(), s.begin(), s.end());
  return total;
}

Values groups(int threads) {
  constexpr std::int64_t count = 500, size = kNodes / count;
  std::vector<std::int64_t> pointers(count + 1);
  std::vector<std::int32_t> members(kNodes), order(kNodes), chosen(count);
  Values gains(kNodes), costs(kNodes + count), y(kNodes), s = random_values(kNodes);
  for (std::int64_t k = 0; k <= count; ++k) pointers[k] = k * size;
  std::iota(chosen.begin(), chosen.end(), 0);
  for (std::int64_t k = 0; k < kNodes; ++k) {
    members[k] = static_cast<std::int32_t>((k * 7919) % kNodes);
    order[k] = static_cast<std::int32_t>(k % size);
    gains[k] = 1.0 - 2.0 * static_cast<double>(k % size) / size;
  }
  submin::Selection selection{pointers.data(), members.data(), chosen.data(), kNodes, pointers};
  for (int sweep = 0; sweep < 2; ++sweep)
    submin::sweep_selected(selection, y.data(), s.data(), threads,
                           submin::cardinality_projection(gains.data(), order.data()));
  const submin::Excess excess =
      submin::cardinality_excess(pointers.data(), count, costs.data(), y.data(), threads);
  y.insert(y.end(), {excess.total, excess.error});
  y.insert(y.end(), s.begin(), s.end());
  return y;
}

Values maximum_flow(int threads) {
  Values s = random_values(kNodes), flow(2 * kEdges);
  submin::flow::GridFlowProblem problem{{kSide, kSide}, {}, s.data()};
  for (int k = 0; k < 2; ++k)
    problem.edges.push_back(
        {{kOffsets[k][0], kOffsets[k][1]}, kUniform, kUniform, flow.data() + k * kEdges});
  const auto solver = submin::flow::make_grid_flow(problem);
  while (!solver->advance(20'000, threads)) {
  }
  s.insert(s.end(), flow.begin(), flow.end());
  return s;
}

bool same(const char* name, Values (*run)(int)) {
  const Values alone = run(1);
  const bool equal = run(4) == alone && run(2) == alone;
  std::printf("%s: %s\n", name, equal ? "the same bits" : "DIFFERENT BITS");
  return equal;
}

}  // namespace

int main() {
  const bool results[] = {same("chains and sums", chains_and_sums), same("groups", groups),
                          same("maximum flow", maximum_flow)};
  return std::all_of(std::begin(results), std::end(results), [](bool ok) { return ok; }) ? 0 : 1;
}

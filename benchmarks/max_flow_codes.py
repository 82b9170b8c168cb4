"""Max-flow codes with Python interfaces, each as one short function from arrays to a mask.

Every code gets its arrays in the form that it takes: ``prepare`` makes that form and is not timed.
What builds the code's graph, solves, and reads the mask is timed, and the solve also by itself.
Codes for whole numbers get scaled and rounded capacities.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

import submin as sm
from max_flow_instances import Instance


class Answer(NamedTuple):
    """The minimiser that a code returns, and the seconds of its solve alone."""

    mask: np.ndarray
    solve_seconds: float


@dataclass(frozen=True)
class Code:
    """A max-flow code: `prepare` takes an instance to its arrays, `solve` these to the answer."""

    name: str
    module: str
    prepare: Callable[[Instance], Any]
    solve: Callable[..., Answer]
    largest: float = float("inf")
    """The largest capacity, for codes that take whole numbers only."""

    def is_there(self) -> bool:
        """Import the package, and say whether it is installed."""
        try:
            import_module(self.module)
        except ImportError:
            return False
        return True


class Arcs(NamedTuple):
    """An s-t graph: pairs of arcs i -> j and j -> i, arcs from the source and to the sink."""

    nodes: int
    tails: np.ndarray
    heads: np.ndarray
    forward: np.ndarray
    backward: np.ndarray
    from_source: np.ndarray
    to_sink: np.ndarray

    def with_terminals(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return tails, heads, capacities of all arcs; node n is the source, n + 1 the sink."""
        v, n = np.arange(self.nodes, dtype=self.tails.dtype), self.nodes
        tails = np.concatenate([self.tails, self.heads, np.full_like(v, n), v])
        heads = np.concatenate([self.heads, self.tails, v, np.full_like(v, n + 1)])
        capacities = np.concatenate([self.forward, self.backward, self.from_source, self.to_sink])
        used = capacities > 0
        return tails[used], heads[used], capacities[used]


def arcs(instance: Instance) -> Arcs:
    """Return the graph of an instance: a node of the source's side is an element of S."""
    unary = sm.Layout(instance.problem, pinned=True).unary
    return Arcs(unary.size, *instance.edges(), np.maximum(-unary, 0.0), np.maximum(unary, 0.0))


def whole(instance: Instance, largest: float) -> Arcs:
    """Return the graph with capacities in whole numbers up to `largest`."""
    graph, scale = arcs(instance), whole_scale(instance, largest)
    return graph._replace(
        forward=np.rint(graph.forward * scale).astype(np.int64),
        backward=np.rint(graph.backward * scale).astype(np.int64),
        from_source=np.rint(graph.from_source * scale).astype(np.int64),
        to_sink=np.rint(graph.to_sink * scale).astype(np.int64),
    )


def whole_scale(instance: Instance, largest: float) -> float:
    """Return the factor to whole numbers: exact where the data has a granularity that fits."""
    graph = arcs(instance)
    most = max(part.max(initial=0.0) for part in graph[3:])
    unit = instance.problem.granularity
    return 1.0 / unit if unit and most / unit <= largest else largest / most


def _solve_submin(build: Callable[[], sm.Problem]) -> Answer:
    result = sm.minimize(build())
    if not result.certificate.closed:
        raise RuntimeError(f"not closed: {result}")
    return Answer(result.minimizer.ravel(), result.seconds)


def edge_builder(instance: Instance) -> Callable[[], sm.Problem]:
    """Return a function that builds the problem with its edges as a list."""
    unary, edges = instance.problem.unary.ravel(), instance.edges()
    return lambda: sm.Problem(unary, [sm.Cut(*edges)], instance.problem.constant)


def _solve_pymaxflow_grid(unary: np.ndarray, capacities: list[Any], edges: int) -> Answer:
    import maxflow

    graph = maxflow.Graph[float](unary.size, 2 * edges)
    nodes = graph.add_grid_nodes(unary.shape)
    for structure, weights, symmetric in capacities:
        graph.add_grid_edges(nodes, weights, structure, symmetric=symmetric)
    graph.add_grid_tedges(nodes, np.maximum(-unary, 0), np.maximum(unary, 0))
    start = time.perf_counter()
    graph.maxflow()
    seconds = time.perf_counter() - start
    return Answer(~graph.get_grid_segments(nodes).ravel(), seconds)


def _pymaxflow_grid(instance: Instance) -> tuple[np.ndarray, list[Any], int]:
    """Return the unary, and for each offset a structuring element and padded weights."""
    grid, capacities = instance.problem.terms[0], []
    for k, (_, forward, _) in enumerate(grid.segments):
        structure = np.zeros((3,) * len(grid.shape))
        structure[tuple(1 + step for step in grid.offsets[k])] = 1
        padded = np.zeros(grid.shape)
        padded[grid.ends(k)[0]] = np.broadcast_to(forward, int(np.prod(grid.overlaps[k]))).reshape(
            grid.overlaps[k]
        )
        capacities.append((structure, padded, True))
    return instance.problem.unary, capacities, grid.size


def _pymaxflow(instance: Instance) -> Any:
    return _pymaxflow_grid(instance) if instance.symmetric_grid else arcs(instance)


def _solve_pymaxflow(*data: Any) -> Answer:
    if len(data) == 3:
        return _solve_pymaxflow_grid(*data)
    import maxflow

    arcs = Arcs(*data)
    graph = maxflow.Graph[float](arcs.nodes, 2 * arcs.tails.size)
    nodes = graph.add_nodes(arcs.nodes)
    graph.add_edges(arcs.tails, arcs.heads, arcs.forward, arcs.backward)
    graph.add_grid_tedges(nodes, arcs.from_source, arcs.to_sink)
    start = time.perf_counter()
    graph.maxflow()
    seconds = time.perf_counter() - start
    return Answer(~graph.get_grid_segments(nodes), seconds)


def _solve_thinmaxflow(*data: Any) -> Answer:
    import thinmaxflow

    arcs = Arcs(*data)
    graph = thinmaxflow.GraphDouble(arcs.nodes, arcs.tails.size)
    graph.add_node(arcs.nodes)
    for v, (out, into) in enumerate(
        zip(arcs.from_source.tolist(), arcs.to_sink.tolist(), strict=True)
    ):
        graph.add_tweights(v, out, into)
    columns = (part.tolist() for part in (arcs.tails, arcs.heads, arcs.forward, arcs.backward))
    for edge in zip(*columns, strict=True):
        graph.add_edge(*edge)
    start = time.perf_counter()
    graph.maxflow()
    seconds = time.perf_counter() - start
    side = [graph.what_segment(v) for v in range(arcs.nodes)]
    return Answer(np.array(side) == thinmaxflow.SOURCE, seconds)


def _solve_thinhpf(nodes: int, tails: np.ndarray, heads: np.ndarray, caps: np.ndarray) -> Answer:
    import thinhpf

    graph = thinhpf.hpf(nodes + 2, caps.size, "int32")
    graph.add_node(nodes + 2)
    graph.set_source(nodes)
    graph.set_sink(nodes + 1)
    graph.add_edges(tails, heads, caps)
    start = time.perf_counter()
    graph.mincut()
    seconds = time.perf_counter() - start
    return Answer(np.array([graph.what_label(v) for v in range(nodes)]) == 0, seconds)


def _thinhpf(instance: Instance) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    graph = whole(instance, LARGEST_IN_HPF)
    tails, heads, capacities = graph.with_terminals()
    return (
        graph.nodes,
        tails.astype(np.uint32),
        heads.astype(np.uint32),
        capacities.astype(np.int32),
    )


def _solve_ortools(nodes: int, tails: np.ndarray, heads: np.ndarray, caps: np.ndarray) -> Answer:
    from ortools.graph.python import max_flow

    graph = max_flow.SimpleMaxFlow()
    graph.add_arcs_with_capacity(tails, heads, caps)
    start = time.perf_counter()
    if graph.solve(nodes, nodes + 1) != graph.OPTIMAL:
        raise RuntimeError("OR-tools did not solve it")
    seconds = time.perf_counter() - start
    mask = np.zeros(nodes + 2, dtype=bool)
    mask[graph.get_source_side_min_cut()] = True
    return Answer(mask[:nodes], seconds)


def _long(instance: Instance) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    graph = whole(instance, LARGEST_LONG)
    return graph.nodes, *graph.with_terminals()


def _solve_scipy(matrix: Any) -> Answer:
    from scipy.sparse import csgraph

    nodes = matrix.shape[0] - 2
    start = time.perf_counter()
    flow = csgraph.maximum_flow(matrix, nodes, nodes + 1).flow
    seconds = time.perf_counter() - start
    rest = matrix - flow
    rest.data = (rest.data > 0).astype(np.int32)
    rest.eliminate_zeros()
    mask = np.zeros(nodes + 2, dtype=bool)
    mask[csgraph.breadth_first_order(rest, nodes, return_predecessors=False)] = True
    return Answer(mask[:nodes], seconds)


def _scipy(instance: Instance) -> tuple[Any]:
    from scipy.sparse import coo_array

    graph = whole(instance, LARGEST_IN_SCIPY)
    tails, heads, capacities = graph.with_terminals()
    shape = (graph.nodes + 2, graph.nodes + 2)
    return (coo_array((capacities.astype(np.int32), (tails, heads)), shape).tocsr(),)


def _solve_igraph(nodes: int, tails: np.ndarray, heads: np.ndarray, caps: np.ndarray) -> Answer:
    import igraph

    graph = igraph.Graph(nodes + 2, np.column_stack([tails, heads]), directed=True)
    start = time.perf_counter()
    cut = graph.mincut(nodes, nodes + 1, caps.tolist())
    seconds = time.perf_counter() - start
    mask = np.zeros(nodes + 2, dtype=bool)
    mask[cut.partition[0]] = True
    return Answer(mask[:nodes] == mask[nodes], seconds)


def _solve_networkx(nodes: int, tails: np.ndarray, heads: np.ndarray, caps: np.ndarray) -> Answer:
    import networkx as nx
    from networkx.algorithms.flow import boykov_kolmogorov

    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes + 2))
    for tail, head, capacity in zip(tails.tolist(), heads.tolist(), caps.tolist(), strict=True):
        before = graph.get_edge_data(tail, head, {"capacity": 0})["capacity"]
        graph.add_edge(tail, head, capacity=before + capacity)
    start = time.perf_counter()
    _, (side, _) = nx.minimum_cut(graph, nodes, nodes + 1, flow_func=boykov_kolmogorov)
    seconds = time.perf_counter() - start
    mask = np.zeros(nodes + 2, dtype=bool)
    mask[list(side)] = True
    return Answer(mask[:nodes], seconds)


def _explicit(instance: Instance) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    graph = arcs(instance)
    return graph.nodes, *graph.with_terminals()


LARGEST_IN_HPF, LARGEST_LONG, LARGEST_IN_SCIPY = 2.0**22, 2.0**40, 2.0**28

CODES = (
    Code("submin", "submin.solve.api", lambda instance: (instance.builder(),), _solve_submin),
    Code("edges", "submin.solve.api", lambda instance: (edge_builder(instance),), _solve_submin),
    Code("PyMaxflow", "maxflow", _pymaxflow, _solve_pymaxflow),
    Code("thinmaxflow", "thinmaxflow", arcs, _solve_thinmaxflow),
    Code("thinhpf", "thinhpf", _thinhpf, _solve_thinhpf, LARGEST_IN_HPF),
    Code(
        "OR-tools",
        "ortools.graph.python.max_flow",
        _long,
        _solve_ortools,
        LARGEST_LONG,
    ),
    Code("SciPy", "scipy.sparse.csgraph", _scipy, _solve_scipy, LARGEST_IN_SCIPY),
    Code("igraph", "igraph", _explicit, _solve_igraph),
    Code("networkx", "networkx", _long, _solve_networkx, LARGEST_LONG),
)

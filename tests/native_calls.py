"""One lawful call of each function of the compiled module, to be spoilt by tests."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np

from submin.kernels import reference


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int32)


def longs(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, dtype=np.float64)


def octets(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.uint8)


def signs(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int8)


@ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
def count_elements(_: int, size: int, __: int) -> float:
    return float(size)


def into(size: int) -> dict[str, Any]:
    return {"out": np.zeros(size), "threads": 1}


ONE = {"threads": 1}
VALUES = {"values": floats(1, 2, 3)} | ONE

# A path of three edges, and a grid of two rows and three columns.
ENDS = {"tails": ints(0, 1, 2), "heads": ints(1, 2, 3)}
LIMITS = {"backward": floats(1, 1, 1), "forward": floats(1, 2, 1)}
STATE = {"flow": floats(0.5, 0, 0), "s": floats(1, -2, 3, -4)}
MATCHING = ENDS | LIMITS | {"edges": ints(2, 0)} | STATE
GRID = {"shape": longs(2, 3), "offsets": np.array([[0, 1], [1, 0]])}
GRID_LIMITS = {
    "backward": [floats(1, 1, 1, 1), floats(1, 1, 1)],
    "forward": [floats(1, 1, 1, 1), floats(1)],
}
ROWS = {"backward": floats(1, 1, 1, 1), "forward": floats(1, 2, 1, 1), "flow": np.zeros(4)}
PIXELS = {"s": floats(1, -2, 3, -4, 2, 1)}
GEOMETRY = {"geometry": longs(2, 2, 2, 2, 1, 2, 1, 0, 0, 2)} | ROWS | PIXELS
CHAINS = (
    {"node_start": longs(0, 3), "edge_start": longs(0, 2), "length": longs(3, 3)}
    | {"node_stride": 1, "edge_stride": 1}
    | ROWS
    | PIXELS
)
PATHS = (
    {"indptr": longs(0, 3, 5), "nodes": ints(0, 1, 2, 3, 4), "edges": ints(0, 1, 2)}
    | {"orientation": signs(1, -1, 1)}
    | LIMITS
    | {"flow": floats(0.5, 0, 0), "s": floats(1, -2, 3, -4, 2)}
)

# Three labels of the four nodes of the path, in rows of eight.
STEPS = np.array([np.minimum(np.abs(np.arange(8)[:, None] - np.arange(8)), 2.0)])
LABELLED = ENDS | {"kinds": octets(0, 0, 0)}
FINE = LABELLED | {"weights": floats(1, 2, 1), "distances": STEPS}
LABEL_COSTS = floats(0, 1, 2, 3, 1, 0, 1, 0, 2, 2, 0, 1).reshape(3, 4)
DUALS = {"at_tail": np.zeros((3, 8), np.float32), "at_head": np.zeros((3, 8), np.float32)}

# Groups of two and of three elements.
INDPTR = {"indptr": longs(0, 2, 5)}
GROUPS = INDPTR | {"members": ints(0, 1, 2, 3, 4)}
CHOSEN = {"groups": ints(1, 0), "y": floats(0, 1, 2, 3, 4), "s": floats(5, -1, 2, -3, 1)}
GAINS = {"gains": floats(1, 0, 2, 1, 0)}
ORDER = {"order": ints(0, 1, 0, 1, 2)}
ROLES = {"roles": octets(3, 1, 1, 3, 2), "weights": floats(1, 2)}
SLICES = {
    "lower": floats(-1, -1, -1, -1, -1),
    "upper": floats(1, 1, 1, 1, 1),
    "totals": floats(0, 1),
}
ROWS_OF_VALUES = {"values": floats(0, 1, 1, 1, 0, 2, 2, 2).reshape(2, 4)}
TABLES = (
    {"members": ints(0, 1, 2, 3).reshape(2, 2)}
    | ROWS_OF_VALUES
    | {"tables": ints(1, 0), "y": floats(0, 1, 2, 3), "s": floats(1, 2, 3, 4)}
)
METRIC = {"pointers": longs(0, 2, 5), "a": floats(3, -1, 2, 0, 1), "d": floats(1, 2, 1, 1, 3)}

CALLS: dict[str, dict[str, Any]] = {
    "vector_width": {},
    "empty": {"size": 5},
    "zeros": {"size": 5},
    "absolute_sum": VALUES,
    "compensated_sum": VALUES,
    "negative_sum": VALUES,
    "nonnegative_sum": VALUES,
    "sum_of_squares": VALUES,
    "sum_within": VALUES | {"member": octets(1, 0, 1)},
    "extrapolate": {"before": floats(1, 2), "now": floats(2, 3), "beta": 0.5} | ONE,
    "descending_ranks": {"values": floats(1, -2, 3), "out": ints(0, 0, 0)},
    "best_prefix": {"rank": ints(2, 0, 1), "gains": floats(1, -2, 3)},
    "edges_excess": LIMITS | {"flow": floats(0.5, 0, 0)} | ONE,
    "edges_accumulate": ENDS | STATE | {"scale": 1.0},
    "edges_cut_value": ENDS | LIMITS | {"member": octets(1, 0, 1, 0)} | ONE,
    "edges_project": MATCHING | {"c": 2.0} | into(2),
    "edges_sweep": MATCHING | ONE,
    "edges_sweep_in_turn": ENDS | LIMITS | STATE,
    "grid_accumulate": GRID | {"flow": np.zeros(7)} | PIXELS | {"scale": 1.0} | ONE,
    "grid_greedy": GRID | GRID_LIMITS | {"rank": ints(5, 4, 3, 2, 1, 0)} | into(7),
    "grid_inspect": GRID | GRID_LIMITS | {"flow": np.zeros(7)} | PIXELS | ONE,
    "edges_close_sides": ENDS
    | LIMITS
    | {"flow": np.zeros(3), "room": 0.5}
    | {"side": np.array([1, 0, 0, -1], dtype=np.int8)},
    "grid_close_sides": GRID
    | GRID_LIMITS
    | {"flow": np.zeros(7), "room": 0.5}
    | {"side": np.array([1, 0, 0, 0, 0, -1], dtype=np.int8)},
    "grid_cut_value": GRID | GRID_LIMITS | {"member": octets(1, 0, 1, 0, 1, 0)} | ONE,
    "grid_project": GEOMETRY | {"c": 2.0} | into(4),
    "grid_sweep": GEOMETRY | ONE,
    "grid_chains_project": CHAINS | {"c": 2.0} | into(4),
    "grid_chains_sweep": CHAINS | ONE,
    "path_chains_project": PATHS | {"c": 2.0} | into(3),
    "path_chains_sweep": PATHS | ONE,
    "groups_accumulate": {"members": ints(0, 1, 0, 2), "y": floats(1, 2, 3, 4)}
    | {"s": floats(0, 0, 0), "scale": 1.0},
    "group_counts": GROUPS | {"member": octets(1, 0, 1, 1, 0), "out": longs(0, 0)} | ONE,
    "cardinality_project": GROUPS | GAINS | CHOSEN | {"c": 2.0} | ORDER | into(5),
    "cardinality_sweep": GROUPS | GAINS | CHOSEN | ORDER | ONE,
    "cardinality_greedy": GROUPS | GAINS | {"rank": ints(4, 3, 2, 1, 0)} | into(5),
    "cardinality_excess": INDPTR
    | {"costs": floats(0, 1, 1, 0, 2, 3, 3), "y": floats(0, 1, 2, 3, 4)}
    | ONE,
    "hyperedge_project": GROUPS | ROLES | CHOSEN | {"c": 2.0} | into(5),
    "hyperedge_sweep": GROUPS | ROLES | CHOSEN | ONE,
    "hyperedge_excess": INDPTR | ROLES | {"y": floats(0, 1, 2, 3, 4)} | ONE,
    "truncation_project": GROUPS | SLICES | CHOSEN | {"c": 2.0} | into(5),
    "truncation_sweep": GROUPS | SLICES | CHOSEN | ONE,
    "truncation_excess": INDPTR
    | {"modular": floats(0, 1, 0, 0, 0), "masses": floats(1, 1, 1, 2, 1), "caps": floats(1, 2)}
    | {"y": floats(0, 1, 2, 3, 4)}
    | ONE,
    "table_project": TABLES | {"c": 2.0} | into(4),
    "table_sweep": TABLES | ONE,
    "table_second_differences": ROWS_OF_VALUES | into(2),
    "weighted_cardinality": METRIC | GAINS | into(5),
    "weighted_hyperedge": METRIC | ROLES | into(5),
    "weighted_truncation": METRIC | SLICES | into(5),
    "weighted_chains": {"pointers": longs(0, 2, 5), "step": floats(1, 2, -1, 2, 0)}
    | {"d": floats(1, 2, 1, 1, 3), "flow": np.zeros(3)}
    | LIMITS
    | into(3),
    "weighted_table": {"a": floats(1, 2, 3, 4).reshape(2, 2), "d": np.ones((2, 2))}
    | ROWS_OF_VALUES
    | {"out": np.zeros((2, 2))}
    | ONE,
    "colour": {"pointers": longs(0, 2, 4), "members": ints(0, 1, 1, 2), "colours": ints(0, 0)},
    "linear_forests": ENDS
    | {"forest": ints(0, 0, 0), "edge": ints(0, 0, 0)}
    | {"orientation": signs(0, 0, 0), "first": octets(0, 0, 0)},
    "evaluate_sets": {"address": ctypes.cast(count_elements, ctypes.c_void_p).value, "data": 0}
    | {"sets": octets(1, 0, 1, 1).reshape(2, 2), "out": np.zeros(2)},
    "add_net_flow": ENDS | STATE,
    "conserve": ENDS | STATE | {"source": 0, "sink": 3},
    "adjacency_order": {"pointers": longs(0, 1, 3, 4), "neighbours": ints(1, 0, 2, 1)}
    | {"weights": floats(1, 1, 2, 2), "bound": 2.0}
    | {"order": ints(0, 0, 0), "keys": np.zeros(3)},
    "raise_along": {"tails": ints(0, 1), "heads": ints(1, 2), "values": floats(3.0, 1.0, 2.0)},
    "close_sides": {"tails": ints(0, 1), "heads": ints(1, 2)}
    | {"side": np.array([1, 0, -1], dtype=np.int8)},
    "settle": ENDS | LIMITS | STATE | {"first": 2},
    "GraphFlow": ENDS | LIMITS | STATE,
    "ParametricFlow": ENDS
    | LIMITS
    | {"flow": STATE["flow"]}
    | {"costs": STATE["s"], "masses": np.ones(STATE["s"].size), "x": np.zeros(STATE["s"].size)}
    | {"plateau": np.zeros(STATE["s"].size, dtype=np.int32)},
    "LabelMessages": {"costs": np.full((4, 8), 1.5, np.float32)}
    | LABELLED
    | {"weights": np.ones(3, np.float32), "distances": STEPS.astype(np.float32)}
    | {"messages": np.zeros((3, 8), np.float32)},
    "LabelExpansions": {"costs": LABEL_COSTS}
    | FINE
    | DUALS
    | {"current": ints(0, 1, 2, 0), "threads": 1},
    "label_fusion": FINE
    | DUALS
    | {"first": ints(0, 1, 2, 0), "second": ints(1, 1, 1, 1), "s": floats(1, -2, 3, -4)}
    | {"backward": np.zeros(3), "forward": np.zeros(3)},
    "label_bound": {"costs": LABEL_COSTS} | FINE | DUALS | ONE,
    "label_distances": FINE | {"chosen": ints(0, 1, 2, 0)} | ONE,
    "GridTreeFlow": GRID | GRID_LIMITS | {"flows": [np.zeros(4), np.zeros(3)]} | PIXELS,
    "GridFlow": GRID | GRID_LIMITS | {"flows": [np.zeros(4), np.zeros(3)]} | PIXELS,
}


def contract(name: str) -> tuple[set[str], set[str]]:
    """The arguments that a docstring says are refused out of range, and those that are trusted."""
    text = " ".join(getattr(reference, name).__doc__.split())
    found = []
    for word in ("Refused out of range", "Trusted"):
        lists = re.findall(rf"{word}: ([a-z_, ]+)\.", text)
        assert len(lists) <= 1
        found.append(set(lists[0].split(", ")) if lists else set())
    return found[0], found[1]


def arguments(name: str) -> dict[str, Any]:
    """Return those of the lawful call, in arrays of its own."""
    own = {
        key: [part.copy() for part in value] if isinstance(value, list) else value
        for key, value in CALLS[name].items()
    }
    return {key: v.copy() if isinstance(v, np.ndarray) else v for key, v in own.items()}

"""Arguments that do not fit together are refused by the native kernels, and nothing crashes."""

import numpy as np
import pytest

native = pytest.importorskip("submin.kernels.native")


def ints(*values):
    return np.array(values, dtype=np.int32)


def pointers(*values):
    return np.array(values, dtype=np.int64)


def floats(*values):
    return np.array(values, dtype=np.float64)


EDGE_LIST = {
    "tails": ints(0, 1, 2),
    "heads": ints(1, 2, 3),
    "backward": floats(1, 1, 1),
    "forward": floats(1, 1, 1),
    "edges": ints(2, 0),
}
EDGE_STATE = {"flow": floats(0, 0, 0), "s": floats(*range(4))}
GRID = {
    "geometry": pointers(2, 2, 2, 2, 1, 2, 1, 0, 0, 2),
    "backward": floats(1, 1, 1, 1),
    "forward": floats(1, 1, 1, 1),
    "flow": floats(0, 0, 0, 0),
    "s": floats(*range(6)),
}
GROUPS = {"indptr": pointers(0, 2, 5), "members": ints(*range(5)), "gains": floats(1, 0, 2, 1, 0)}
GROUP_STATE = {"groups": ints(1, 0), "y": floats(*range(5)), "s": floats(*range(5))}
TABLES = {
    "members": ints(0, 1, 2, 3).reshape(2, 2),
    "values": floats(0, 1, 1, 1, 0, 2, 2, 2).reshape(2, 4),
    "tables": ints(1, 0),
    "y": floats(*range(4)),
    "s": floats(*range(4)),
}
THREADS = {"threads": 1}


def projecting(size, **arguments):
    return {**arguments, "c": 1.0, "out": np.zeros(size)}


CALLS = {
    "edges_project": projecting(2, **EDGE_LIST, **EDGE_STATE) | THREADS,
    "edges_sweep": EDGE_LIST | EDGE_STATE | THREADS,
    "grid_project": projecting(4, **GRID) | THREADS,
    "grid_sweep": GRID | THREADS,
    "cardinality_project": projecting(5, **GROUPS, **GROUP_STATE, order=ints(0, 1, 0, 1, 2))
    | THREADS,
    "cardinality_sweep": GROUPS | GROUP_STATE | {"order": ints(0, 1, 0, 1, 2)} | THREADS,
    "cardinality_greedy": GROUPS | {"rank": ints(*range(5)), "out": np.zeros(5)} | THREADS,
    "table_project": projecting(4, **TABLES) | THREADS,
    "table_sweep": TABLES | THREADS,
}
ARRAYS = [
    (kernel, name)
    for kernel, arguments in CALLS.items()
    for name, value in arguments.items()
    if isinstance(value, np.ndarray)
]
# Numbers of elements and of groups, and the lists of what a block consists of, are free.
FREE = {"s", "rank", "indptr", "edges", "groups", "tables"}
WRITTEN = [
    (kernel, name)
    for kernel, name in ARRAYS
    if name in {"out", "order"} or (kernel.endswith("sweep") and name in {"flow", "y", "s"})
]


def call(kernel, **changes):
    copies = {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in CALLS[kernel].items()
    }
    return getattr(native, kernel)(**copies | changes)


@pytest.mark.parametrize("kernel", CALLS)
def test_the_unchanged_call_is_accepted(kernel):
    call(kernel)


@pytest.mark.parametrize(("kernel", "name"), [pair for pair in ARRAYS if pair[1] not in FREE])
@pytest.mark.parametrize("longer", [True, False])
def test_wrong_sizes(kernel, name, longer):
    array = CALLS[kernel][name]
    wrong = np.concatenate([array, array[:1]]) if longer else array[:-1].copy()
    if name == "values" and not longer:
        wrong = array[:, :-1].copy()  # one row is lawful: it is shared
    with pytest.raises(ValueError, match=r"size|columns"):
        call(kernel, **{name: wrong})


@pytest.mark.parametrize(("kernel", "name"), ARRAYS)
def test_wrong_types(kernel, name):
    array = CALLS[kernel][name]
    wider = np.int64 if array.dtype == np.int32 else np.int32
    with pytest.raises(TypeError):
        call(kernel, **{name: array.astype(wider)})
    with pytest.raises(TypeError):
        call(kernel, **{name: np.repeat(array, 2, axis=-1)[..., ::2]})
    with pytest.raises(TypeError):
        call(kernel, **{name: array.tolist()})


@pytest.mark.parametrize(("kernel", "name"), WRITTEN)
def test_read_only_results(kernel, name):
    array = CALLS[kernel][name].copy()
    array.flags.writeable = False
    with pytest.raises(TypeError):
        call(kernel, **{name: array})


@pytest.mark.parametrize("kernel", [name for name in CALLS if name.endswith("project")])
@pytest.mark.parametrize("c", [0.0, -1.0, np.nan])
def test_c_must_be_positive(kernel, c):
    with pytest.raises(ValueError, match="c must be positive"):
        call(kernel, c=c)


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        ("cardinality_sweep", "groups"),
        ("cardinality_project", "groups"),
        ("table_sweep", "tables"),
        ("table_project", "tables"),
    ],
)
@pytest.mark.parametrize("number", [-1, 2])
def test_block_numbers_out_of_range(kernel, name, number):
    with pytest.raises(ValueError, match=rf"{name}\[0\] = {number}"):
        call(kernel, **{name: ints(number)})


@pytest.mark.parametrize(
    "geometry",
    [
        [],
        [0],
        [9] + [1] * 30,
        [-1],
        [2, 2, 2, 2, 1, 2, 1, 0, 0],
        [2, -2, 2, 2, 1, 2, 1, 0, 0, 2],
        [2, 3, 2, 2, 1, 2, 1, 0, 0, 2],
        [2, 2, 2, 3, 1, 2, 1, 0, 0, 2],
        [2, 2, 2, 2, 1, 3, 1, 0, 0, 2],
        [2, 2, 2, 2, 1, -2, 1, 0, 0, 2],
        [2, 2, 2, 2, 1, 2, 1, -1, 0, 2],
        [2, 2, 2, 2, 1, 2, 1, 0, 0, 3],
        [2, 2, 2, 2, 1, 2, 1, 0, 4, 2],
        [2, 2**62, 2, 2**62, 1, 2**62, 1, 0, 0, 2],
    ],
)
def test_geometries_out_of_range(geometry):
    with pytest.raises(ValueError, match="geometry"):
        call("grid_sweep", geometry=np.array(geometry, dtype=np.int64))


def test_empty_geometry_is_no_work():
    call("grid_sweep", geometry=pointers(2, 0, 2, 2, 1, 2, 1, 99, 99, 99))


@pytest.mark.parametrize("indptr", [[0, 2, 6], [0, 3, 2], [-1, 2, 5], []])
def test_pointers_out_of_range(indptr):
    with pytest.raises(ValueError, match="indptr"):
        call("cardinality_greedy", indptr=np.array(indptr, dtype=np.int64))


def test_tables_that_are_too_wide():
    members = np.zeros((1, 21), dtype=np.int32)
    with pytest.raises(ValueError, match="between 1 and 20"):
        call("table_sweep", members=members, values=np.zeros((1, 1)))

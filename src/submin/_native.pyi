# The compiled kernels; submin.kernels.protocol documents them.

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Indices = NDArray[np.int32]
_Pointers = NDArray[np.int64]

def edges_project(
    tails: _Indices,
    heads: _Indices,
    backward: _Floats,
    forward: _Floats,
    edges: _Indices,
    flow: _Floats,
    s: _Floats,
    c: float,
    out: _Floats,
    threads: int,
) -> None: ...
def edges_sweep(
    tails: _Indices,
    heads: _Indices,
    backward: _Floats,
    forward: _Floats,
    edges: _Indices,
    flow: _Floats,
    s: _Floats,
    threads: int,
) -> None: ...
def grid_project(
    geometry: _Pointers,
    backward: _Floats,
    forward: _Floats,
    flow: _Floats,
    s: _Floats,
    c: float,
    out: _Floats,
    threads: int,
) -> None: ...
def grid_sweep(
    geometry: _Pointers,
    backward: _Floats,
    forward: _Floats,
    flow: _Floats,
    s: _Floats,
    threads: int,
) -> None: ...
def cardinality_project(
    indptr: _Pointers,
    members: _Indices,
    gains: _Floats,
    groups: _Indices,
    y: _Floats,
    s: _Floats,
    c: float,
    order: _Indices,
    out: _Floats,
    threads: int,
) -> None: ...
def cardinality_sweep(
    indptr: _Pointers,
    members: _Indices,
    gains: _Floats,
    groups: _Indices,
    y: _Floats,
    s: _Floats,
    order: _Indices,
    threads: int,
) -> None: ...
def cardinality_greedy(
    indptr: _Pointers,
    members: _Indices,
    gains: _Floats,
    rank: _Indices,
    out: _Floats,
    threads: int,
) -> None: ...
def table_project(
    members: _Indices,
    values: _Floats,
    tables: _Indices,
    y: _Floats,
    s: _Floats,
    c: float,
    out: _Floats,
    threads: int,
) -> None: ...
def table_sweep(
    members: _Indices,
    values: _Floats,
    tables: _Indices,
    y: _Floats,
    s: _Floats,
    threads: int,
) -> None: ...
def colour(pointers: _Pointers, members: _Indices, colours: _Indices) -> None: ...

"""Functions of a few elements, given by the values of all their sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from submin._typing import FloatArray, IndexArray
from submin.kernels.metric import project_table
from submin.kernels.refusals import refuse_outside

__all__ = ["table_project", "table_second_differences", "table_sweep"]


def table_project(
    members: IndexArray,
    values: FloatArray,
    tables: IndexArray,
    y: FloatArray,
    s: FloatArray,
    c: float,
    out: FloatArray,
    threads: int,
) -> None:
    """Project functions given by explicit values; ``out`` has one row of k values a table.

    ``members`` is (m, k) and ``values`` (m, 2**k), or (1, 2**k) if all functions share one table;
    bit b of the column says whether the b-th member is in S, column 0 is zero; ``y`` is the
    flattened (m, k). O(k 2**k) a table, k <= 20. Refused out of range: members, tables.
    """
    refuse_outside(tables, len(members), "tables")
    places = (tables[:, None] * members.shape[1] + np.arange(members.shape[1])).ravel()
    refuse_outside(members[tables], s.size, "members.ravel()", places)
    rows, results = y.reshape(members.shape), out.reshape(-1, members.shape[1])
    for result, table in zip(results, tables, strict=True):
        a = rows[table] - s[members[table]] / c
        result[:] = project_table(a, np.ones(a.size), values[table if len(values) > 1 else 0])


def table_sweep(
    members: IndexArray,
    values: FloatArray,
    tables: IndexArray,
    y: FloatArray,
    s: FloatArray,
    threads: int,
) -> None:
    """Project the functions ``tables`` with c = 1 in place and update ``s``.

    Refused out of range: members, tables.
    """
    updated = np.empty((tables.size, members.shape[1]))
    table_project(members, values, tables, y, s, 1.0, updated.reshape(-1), threads)
    rows = y.reshape(members.shape)
    s[members[tables]] += updated - rows[tables]
    rows[tables] = updated


def table_second_differences(values: FloatArray, out: FloatArray, threads: int) -> None:
    """Write the least F(A + i) + F(A + j) - F(A) - F(A + i + j) of each table.

    ``values`` is (m, 2**k), k <= 20, and ``out`` (m,): infinite where there is no pair i, j. O(k**2
    2**k) a table.
    """
    rows, subsets = values.shape
    out[...] = np.inf
    for i, j in combinations(range(subsets.bit_length() - 1), 2):
        bits = values.reshape(rows, subsets >> (j + 1), 2, 1 << (j - i - 1), 2, 1 << i)
        apart = bits[:, :, 0, :, 1] + bits[:, :, 1, :, 0]
        together = bits[:, :, 0, :, 0] + bits[:, :, 1, :, 1]
        np.minimum(out, (apart - together).min(axis=(1, 2, 3)), out=out)

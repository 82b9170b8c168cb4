"""Blocks of groups with disjoint members for the kernel tests, and an oracle that enumerates."""

import numpy as np
from hypothesis import strategies as st

from submin.kernels import reference

halves = st.integers(-8, 8).map(lambda value: value / 2)
positive_halves = st.integers(0, 8).map(lambda value: value / 2)
constants = st.sampled_from([1.0, 0.3, 4.0])


def floats(draw, elements, size):
    return np.array(draw(st.lists(elements, min_size=size, max_size=size)), dtype=float)


@st.composite
def groups_of_members(draw, largest):
    """(indptr, members, groups, y, s): up to 4 groups of which some are chosen."""
    sizes = draw(st.lists(st.integers(0, largest), min_size=1, max_size=4))
    indptr = np.append(0, np.cumsum(sizes)).astype(np.int64)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    members = rng.permutation(indptr[-1] + 3)[: indptr[-1]].astype(np.int32)
    chosen = rng.permutation(len(sizes))[: draw(st.integers(0, len(sizes)))].astype(np.int32)
    y, s = floats(draw, halves, members.size), floats(draw, halves, members.size + 3)
    return indptr, members, chosen, y, s


def block_size(indptr, groups):
    return int(np.diff(indptr)[groups].sum())


def assert_same_sweeps(native, twin, fixed, groups, y, s):
    """Four sweeps of both kernels from the same start; s changes in between."""
    other_y, other_s = y.copy(), s.copy()
    rng = np.random.default_rng(0)
    for _ in range(4):
        twin(*fixed, groups, y, s, 1)
        native(*fixed, groups, other_y, other_s, 1)
        tolerance = 1e-12 * (1 + np.abs(y).max(initial=0) + np.abs(s).max())
        np.testing.assert_allclose(other_y, y, rtol=0, atol=tolerance)
        np.testing.assert_allclose(other_s, s, rtol=0, atol=tolerance)
        s += rng.integers(-1, 2, size=s.size) / 8
        other_s[:], other_y[:] = s, y


def table_projection(a, values):
    """Project a by decomposition over all 2**k subsets, which knows nothing of the family."""
    size = a.size
    out, members = np.empty(size), np.arange(size, dtype=np.int32)[None]
    table = np.zeros(1, dtype=np.int32)
    reference.table_project(members, values[None], table, a, np.zeros(size), 1.0, out, 1)
    return out


def subsets(size):
    """All subsets as masks, shape (2**size, size); bit b of the row number is column b."""
    return (np.arange(1 << size)[:, None] >> np.arange(size)) & 1 == 1


rng = np.random.default_rng(1)
hard_values = {
    "normal": rng.normal(size=3000),
    "ties": rng.integers(0, 5, size=3000) / 4,
    "constant": np.full(500, 0.1),
    "signed zeros": np.where(rng.random(500) < 0.5, 0.0, -0.0),
    "outlier": np.append(rng.normal(size=2000), 1e9),
    "two scales": np.append(rng.normal(size=2000), 1e6 * rng.normal(size=2000)),
    "powers of two": np.exp2(np.arange(40.0)),
    "cubic": np.arange(300.0) ** 3,
    "tiny": rng.normal(size=500) * 1e-250,
    "seven": np.arange(7.0),
    "sixteen": rng.normal(size=16),
    "seventeen": rng.normal(size=17),
}

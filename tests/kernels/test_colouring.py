"""Greedy colouring: native against twin, and no two functions of a colour share an element."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submin.kernels import reference

native = pytest.importorskip("submin.kernels.native")

supports = st.lists(st.lists(st.integers(0, 9), max_size=4, unique=True), max_size=20)


@given(supports)
def test_colours(supports):
    pointers = np.append(0, np.cumsum([len(support) for support in supports])).astype(np.int64)
    members = np.array([element for support in supports for element in support], dtype=np.int32)
    expected, colours = np.zeros((2, len(supports)), dtype=np.int32)
    reference.colour(pointers, members, expected)
    native.colour(pointers, members, colours)
    np.testing.assert_array_equal(colours, expected)
    taken = [
        (int(colour), element)
        for colour, support in zip(colours, supports, strict=True)
        for element in support
    ]
    assert len(taken) == len(set(taken))

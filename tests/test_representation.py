"""``repr``: one line with what a reader asks for, and no arrays."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm

MANY = np.arange(5000)
GROUPS = ([0, 2000, 5000], MANY)
SHAPE = (50, 100)


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (sm.GridCut(SHAPE, 1.0, 8), "<GridCut shape=(50, 100), connectivity=8, edges=19552>"),
        (sm.Cut(MANY[1:], MANY[:-1], 1.0), "<Cut edges=4999, elements=5000>"),
        (sm.Hyperedge(*GROUPS, 1.0), "<Hyperedge groups=2, members=5000, elements=5000>"),
        (sm.coverage(*GROUPS, 1.0), "<Truncation groups=2, members=5000, elements=5000>"),
        (
            sm.Table(MANY.reshape(-1, 2), [0, 1, 1, 1]),
            "<Table tables=2500, members=2, elements=5000>",
        ),
        (
            sm.Function([3, 9], lambda members: float(members.any())),
            "<Function support=2, elements=10>",
        ),
    ],
)
def test_terms(term, text):
    assert repr(term) == str(term) == text


def test_a_family_of_one_s_own():
    class Own(sm.Table):
        sizes = sm.Term.sizes

    assert repr(Own([[0, 1]], [0.0, 1.0, 1.0, 1.0])) == "<Own coordinates=2, elements=2>"


def test_minors_and_what_screening_finds():
    unary = np.random.default_rng(0).normal(size=SHAPE)
    problem = sm.Problem(unary, [sm.GridCut(SHAPE, 0.3)])
    found = sm.screen(problem)
    inside, outside = found.inside.sum(), found.outside.sum()
    free = 5000 - inside - outside
    assert repr(found) == f"<Screening inside={inside}, outside={outside}, undecided={free}>"
    minor = problem.minor(*found)
    rest = f"Problem(shape=({free},), Cut)"
    assert repr(minor) == f"<Minor inside={inside}, outside={outside}, free: {rest}>"

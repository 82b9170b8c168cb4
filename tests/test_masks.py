"""Sets and vectors as terms take them: masks of any shape, vectors of any real type, no others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.kernels import native, reference

PATH = [0, 1], [1, 2]
TERMS = [
    sm.Cut(*PATH, [1.0, 2.0]),
    sm.GridCut((3,), [[1.0, 2.0]]),
    sm.Cardinality([0, 3], [0, 1, 2], lambda k, m: k * (m - k)),
    sm.Hyperedge([0, 3], [0, 1, 2], 2.0),
    sm.Truncation([0, 3], [0, 1, 2], [1.0, 2.0, 3.0], 4.0),
    sm.ConcaveOfModular([0, 3], [0, 1, 2], [1.0, 2.0, 3.0], [[0.0, 2.0, 6.0]], [[0.0, 4.0, 5.0]]),
    sm.Table([[0, 1]], [[0.0, 1.0, 2.0, 2.0]]),
    sm.Function([0, 1, 2], lambda mask: float(mask.sum() ** 0.5)),
]


@pytest.mark.parametrize("term", TERMS, ids=lambda term: type(term).__name__)
@pytest.mark.parametrize(
    "members", [np.arange(3), np.ones(24, np.uint8), np.ones(3, np.float32), [1, 0, 1]]
)
def test_what_is_no_mask_is_refused(term, members):
    with pytest.raises(TypeError, match="members must be a boolean mask"):
        term.evaluate(members)


@pytest.mark.parametrize("term", TERMS, ids=lambda term: type(term).__name__)
def test_masks_of_any_layout_are_the_same_set(term):
    mask = np.array([True, False, True])
    value = term.evaluate(mask)
    assert value == pytest.approx(term.lovasz(mask.astype(float)))
    wide = np.zeros((3, 2), dtype=bool)
    wide[:, 0] = mask
    for members in (mask.tolist(), mask[None], wide[:, 0]):
        assert term.evaluate(members) == value


@pytest.mark.parametrize("term", TERMS, ids=lambda term: type(term).__name__)
def test_lovasz_extension_of_any_numbers(term):
    x = np.array([2.0, -1.0, 1.0])
    value = term.lovasz(x)
    for vector in (x.tolist(), x[:, None], x.astype(np.float32), x.astype(np.int16)):
        assert term.lovasz(vector) == value
    with pytest.raises(TypeError, match="x must hold real numbers"):
        term.lovasz(np.array(["a", "b", "c"]))


NINE = sm.Function(range(9), lambda mask: float(mask.sum() ** 0.5))


@settings(max_examples=40)
@given(st.lists(st.integers(0, 255), min_size=9, max_size=9))
def test_booleans_of_other_bytes_are_members(numbers):
    """Views and files hold booleans whose bytes are not 0 and 1."""
    given_bytes = np.array(numbers, np.uint8)
    odd, mask = given_bytes.view(np.bool_), given_bytes != 0
    strided = np.repeat(given_bytes, 2).view(np.bool_)[::2]
    for term in [*TERMS, NINE]:
        n = 9 if term is NINE else 3
        for members in (odd[:n], strided[:n]):
            assert term.evaluate(members) == term.evaluate(mask[:n])
            assert term.value_error(members) == term.value_error(mask[:n])
        problem = sm.Problem(np.arange(1.0, n + 1), [term])
        assert problem.evaluate(odd[:n]) == problem.evaluate(mask[:n])
        assert sm.verify(problem, odd[:n]).value == problem.evaluate(mask[:n])
    assert given_bytes.tolist() == numbers


@given(st.lists(st.integers(0, 255), min_size=4, max_size=4))
def test_a_minor_of_booleans_of_other_bytes(numbers):
    bytes_ = np.array([*numbers, 0], np.uint8)
    problem = sm.Problem(np.arange(5.0) - 2.0, [sm.GridCut(5, 1.0)])
    odd = problem.minor(inside=bytes_.view(np.bool_))
    plain = problem.minor(inside=bytes_ != 0)
    assert odd.problem.constant == plain.problem.constant
    np.testing.assert_array_equal(odd.problem.unary, plain.problem.unary)
    free = np.full(odd.problem.n, 200, np.uint8).view(np.bool_)
    assert odd.lift(free).view(np.uint8).tolist() == [1] * 5


@pytest.mark.parametrize("kernel_set", [native, reference])
def test_kernels_count_each_member_once(kernel_set):
    odd, plain = np.array([3, 0, 1, 200], np.uint8), np.array([1, 0, 1, 1], np.uint8)
    pointers, members = np.array([0, 4]), np.arange(4, dtype=np.int32)
    weights = np.array([1.0, 2.0, 4.0])
    found = []
    for member in (odd, plain):
        counts = np.zeros(1, dtype=np.int64)
        kernel_set.group_counts(pointers, members, member, counts, 1)
        ends = members[:-1], members[1:]
        grid = np.array([4]), np.array([[1]]), [weights], [weights]
        found.append(
            (
                int(counts[0]),
                kernel_set.edges_cut_value(*ends, weights, weights, member, 1),
                kernel_set.grid_cut_value(*grid, member, 1),
                kernel_set.sum_within(np.arange(4.0), member, 1),
            )
        )
    assert found[0] == found[1] == (3, 3.0, 3.0, 5.0)

"""Every family against its definition in rational arithmetic, on hard numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin import kernels
from submin.kernels import reference
from submin.terms import REGISTRY
from submin.terms.base.term import Term
from submin.terms.value_tables import subset_masks

from .definitions import DEFINED, UNIT, Defined, rational

CASES = [(kind, case) for kind, cases in DEFINED.items() for case in cases]
FAMILIES = pytest.mark.parametrize(
    "case", [case for _, case in CASES], ids=[f"{kind}-{k}" for k, (kind, _) in enumerate(CASES)]
)
MOST_AUXILIARIES = 8
SMALLEST = Fraction(1, 2**1070)


def test_every_family_has_a_definition():
    assert sorted(DEFINED) == sorted(REGISTRY)


def masks_of(term: Term) -> np.ndarray:
    n = max(term.elements, 4)
    return subset_masks(n) if n < 6 else np.random.default_rng(0).random((12, n)) < 0.5


@pytest.fixture(params=["native", "reference"])
def kernel_set(request, monkeypatch):
    if request.param == "reference":
        monkeypatch.setattr(kernels, "active", reference)


@FAMILIES
@pytest.mark.usefixtures("kernel_set")
@settings(max_examples=40, suppress_health_check=list(settings.default.suppress_health_check))
@given(data=st.data())
def test_values_are_those_of_the_definition(case, data):
    defined: Defined = data.draw(case)
    term = defined.term
    for mask in masks_of(term):
        value, error = term.evaluate(mask), term.value_error(mask)
        exact = defined.definition(mask)
        off = abs(Fraction(value) - exact)
        assert off <= Fraction(error) + 2 * UNIT * abs(Fraction(value)) + SMALLEST
        assert off <= 64 * UNIT * defined.largest + SMALLEST
        if not isinstance(term, sm.ConcaveOfModular):
            assert Fraction(error) <= 4 * UNIT * defined.largest + SMALLEST


def element_matrix(term: Term, n: int) -> np.ndarray:
    """The matrix of 0, 1, -1 that ``accumulate`` applies to a dual."""
    columns = []
    for unit in np.eye(term.size):
        total = np.zeros(n)
        term.accumulate(unit, total)
        columns.append(total)
    return np.array(columns).reshape(term.size, n).T


def data_size(term: Term, dual: np.ndarray) -> Fraction:
    """The size of the numbers that a vertex is computed from."""
    size = sum(map(abs, rational(dual)), Fraction(0))
    if isinstance(term, sm.Truncation):
        within = np.minimum(term.masses, term.caps[term.group_of]) + np.abs(term.modular)
        size += sum(rational(within), Fraction(0))
    return size


@FAMILIES
@settings(max_examples=30)
@given(data=st.data())
def test_greedy_vertices_add_up_to_the_definition(case, data):
    defined: Defined = data.draw(case)
    term, n = defined.term, max(defined.term.elements, 4)
    rank = np.array(data.draw(st.permutations(range(n))), dtype=np.int32)
    dual = term.greedy(rank)
    matrix, exact = element_matrix(term, n), rational(dual)
    everything = np.ones(n, dtype=np.bool_)
    allowed = 2 * Fraction(term.value_error(everything)) + 8 * UNIT * data_size(term, dual)
    for count in range(1, n + 1):
        signs = matrix[rank < count].sum(axis=0)
        total = sum((int(sign) * y for sign, y in zip(signs, exact, strict=True)), Fraction(0))
        assert abs(total - defined.definition(rank < count)) <= allowed + SMALLEST


@FAMILIES
@settings(max_examples=30)
@given(data=st.data())
def test_the_cheapest_cut_of_a_gadget_is_the_definition(case, data):
    defined: Defined = data.draw(case)
    term = defined.term
    size = term.gadget_size()
    if size is None or size.auxiliaries > MOST_AUXILIARIES:
        return
    gadget = term.gadget(term.feasible_start())
    modular, costs = rational(gadget.modular), rational(gadget.costs)
    weights = rational(gadget.forward), rational(gadget.backward)
    within = sum((sum(map(abs, part)) for part in (modular, costs, *weights)), Fraction(0))
    for mask in masks_of(term):
        places = mask[gadget.elements]
        free = sum((m for m, inside in zip(modular, places, strict=True) if inside), Fraction(0))
        best = min(
            _cut(gadget, np.concatenate([places, auxiliaries]), weights)
            + sum((c for c, inside in zip(costs, auxiliaries, strict=True) if inside), Fraction(0))
            for auxiliaries in subset_masks(size.auxiliaries)
        )
        allowed = Fraction(term.value_error(mask)) + UNIT * (8 * within + 64 * defined.largest)
        assert abs(free + best - defined.definition(mask)) <= allowed + SMALLEST


def _cut(gadget, nodes: np.ndarray, weights: tuple[list[Fraction], list[Fraction]]) -> Fraction:
    tail, head = nodes[gadget.tails], nodes[gadget.heads]
    total = Fraction(0)
    for paid, costs in zip((tail & ~head, head & ~tail), weights, strict=True):
        total += sum((costs[edge] for edge in np.flatnonzero(paid)), Fraction(0))
    return total


def test_decimal_masses():
    """0.1 + 0.2 and 0.3 differ in the last digit."""
    term = sm.ConcaveOfModular.sampled(
        [0, 3], [0, 1, 2], [0.1, 0.2, 0.3], lambda t, whole: np.sqrt(t)
    )
    values = [term.evaluate(np.isin(np.arange(3), s)) for s in ([0], [2], [0, 1], [0, 1, 2])]
    np.testing.assert_allclose(values, np.sqrt([0.1, 0.3, 0.3, 0.6]), rtol=1e-14)


def test_groups_of_tenths():
    random = np.random.default_rng(0)
    for _ in range(200):
        size = int(random.integers(1, 7))
        masses = np.round(0.1 * random.integers(1, 11, size), 1)
        root = sm.ConcaveOfModular.sampled(
            [0, size], range(size), masses, lambda t, whole: np.sqrt(t)
        )
        for mask in subset_masks(size):
            expected = float(np.sqrt(float(sum(rational(masses[mask]), Fraction(0)))))
            assert abs(root.evaluate(mask) - expected) <= 1e-14 * np.sqrt(masses.sum())


def test_the_groups_of_a_truncation_do_not_disturb_one_another():
    """A running sum over all groups loses the small ones behind a large one."""
    term = sm.Truncation([0, 2, 4], [0, 1, 2, 3], [1e30, 1e30, 0.25, 0.5], [1e30, 0.5])
    np.testing.assert_array_equal(term.greedy(np.arange(4, dtype=np.int32)), [1e30, 0, 0.25, 0.25])
    np.testing.assert_array_equal(term.marginal_range(4)[0], [0.0, 0.0, 0.0, 0.25])


def test_one_value_of_large_numbers_that_cancel():
    table = sm.Table([[0], [0], [0]], [[0.0, 1e17], [0.0, 0.3], [0.0, -1e17]])
    assert table.evaluate(np.array([True])) == 0.3
    hinge = sm.negative_hinge([0, 3], [0, 1, 2], [1e17, 0.5, 0.25], 1e17)
    assert hinge.evaluate(np.ones(3, dtype=np.bool_)) == -0.75


def test_exact_data_that_are_not_concave_by_one_unit():
    gains = np.array([2.0**50, 2.0**50 - 1.0, 2.0**50])
    table = np.concatenate([[0.0], np.cumsum(gains)])
    with pytest.raises(ValueError, match="not concave at k = 2"):
        sm.Cardinality([0, 3], [0, 1, 2], lambda k, m: table)


def test_small_rises_that_add_up_are_refused():
    """Each gain is above the one before by less than the rounding of the values."""

    def convex(k, m):
        return 1e3 * k - 1e-9 * k * (m - k) + 0.1 * k

    with pytest.raises(ValueError, match="not concave"):
        sm.Cardinality([0, 10_000], range(10_000), convex)


def test_steep_and_large_functions_are_refused():
    with pytest.raises(ValueError, match=r"values\[1\] is 10000000000.0: the slope .* overflows"):
        sm.ConcaveOfModular([0, 1], [0], 1.0, [0.0, 1e-300, 2.0], [0.0, 1e10, 1e10])
    with pytest.raises(ValueError, match=r"masses overflow: .* in group 0"):
        sm.ConcaveOfModular([0, 1], [0], 1e100, [0.0, 1.0], [0.0, 1e60])
    with pytest.raises(ValueError, match=r"phi of group 0 is not concave at the mass 1.0"):
        sm.ConcaveOfModular([0, 1], [0], 1.5, [0.0, 1.0, 2.0, 1e30], [0.0, 1.0, 3.0, 1e20])


def test_a_group_without_mass():
    term = sm.ConcaveOfModular.sampled([0, 2, 2], [0, 1], 0.0, lambda t, whole: np.sqrt(whole - t))
    assert term.evaluate(np.ones(2, dtype=np.bool_)) == 0.0


@pytest.mark.parametrize(
    ("tolerance", "masses"), [(1e-20, [0.1, 0.2, 0.3]), (1.0, [1e30, 1.0, 1.0])]
)
def test_tolerances_below_the_rounding_of_masses_are_refused(tolerance, masses):
    with pytest.raises(ValueError, match=r"tolerances\[0\] is .* lost in the rounding of the mass"):
        sm.robust_pn([0, 3], [0, 1, 2], 2.0, tolerance, masses)


@pytest.mark.parametrize("tolerance", [0.1, 0.3, 0.15, np.nextafter(0.3, 0.0), 5.0])
def test_robust_potentials_of_decimals(tolerance):
    masses = [0.1, 0.2, 0.3]
    term = sm.robust_pn([0, 3], [0, 1, 2], 2.0, tolerance, masses)
    for mask in subset_masks(3):
        sides = [float(sum(rational(np.array(masses)[side]))) for side in (mask, ~mask)]
        assert term.evaluate(mask) == pytest.approx(2.0 * min(1.0, *sides / np.array(tolerance)))


@pytest.mark.parametrize("large", [1.0, 2.0**40, 2.0**50])
def test_integer_tables_that_are_not_submodular_by_one_unit(large):
    sm.Table([[0, 1]], [0.0, large, large, 2.0 * large])
    with pytest.raises(ValueError, match="is not submodular"):
        sm.Table([[0, 1]], [0.0, large, large, 2.0 * large + 1.0])

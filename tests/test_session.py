"""A session answers after every change as ``minimize`` does from nothing."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import submin as sm
from submin.solvers.flows import kept_flow

seeds = st.integers(0, 2**32)
GRIDS = [((7,), 2), ((4, 5), 4), ((9, 11), 8), ((3, 3, 4), 6), ((2, 3, 3), 26)]


def numbers(rng, shape, low, high, integral):
    return rng.integers(low, high + 1, shape) * 1.0 if integral else rng.uniform(low, high, shape)


def grid(rng, shape, connectivity, integral):
    frame = sm.GridCut(shape, 0.0, connectivity)
    one, other = ([numbers(rng, o, 0, 5, integral) for o in frame.overlaps] for _ in range(2))
    return sm.GridCut(shape, one, connectivity, other if rng.integers(2) else None)


def graph(rng, nodes, integral):
    tails = rng.integers(0, nodes, 3 * nodes)
    heads = (tails + rng.integers(1, nodes, 3 * nodes)) % nodes
    weights = numbers(rng, (2, 3 * nodes), 0, 5, integral)
    return sm.Cut(tails, heads, weights[0], weights[1] if rng.integers(2) else None)


def costs(rng, count, integral):
    """Costs of which some are hard constraints."""
    finite, kind = numbers(rng, count, -9, 9, integral), rng.random(count)
    return np.where(kind < 0.1, np.inf, np.where(kind < 0.2, -np.inf, finite))


def change(rng, session, unary, integral):
    """Change few costs or all, by numbers or by a mask, in the session and in an array."""
    kind = rng.integers(4)
    if kind == 0:
        unary[:] = costs(rng, unary.shape, integral)
        session.set_unary(unary)
    elif kind == 1:
        mask = rng.random(unary.shape) < 0.2
        unary[mask] = costs(rng, mask.sum(), integral)
        session.change_unary(mask, unary[mask])
    else:
        where = rng.integers(0, unary.size, 1 if kind == 2 else 5)
        values = costs(rng, where.size, integral)
        unary.ravel()[where] = values
        session.change_unary(where, values)


def check(result, problem, integral, largest=False):
    expected = sm.minimize(problem, sm.MaxFlow(largest=largest))
    assert sm.verify(problem, result) == result.certificate
    assert np.isclose(result.value, expected.value, rtol=1e-12, atol=1e-12)
    assert result.certificate.closed
    finite = np.isfinite(problem.unary)
    s = problem.unary.ravel().copy()
    for term, part in zip(problem.terms, result.dual, strict=True):
        term.accumulate(part, s)
    np.testing.assert_allclose(result.x[finite], -s.reshape(problem.shape)[finite], atol=1e-9)
    if integral:
        assert result.status is sm.Status.OPTIMAL
        assert np.array_equal(result.minimizer, expected.minimizer)


def follow(rng, terms, shape, integral, largest, between=lambda session: None, steps=6):
    """Change a session again and again, and check its answers."""
    unary = costs(rng, shape, integral)
    session = sm.Session(sm.Problem(unary.copy(), terms), largest=largest)
    for _ in range(steps):
        between(session)
        check(session.solve(), sm.Problem(unary.copy(), terms), integral, largest)
        change(rng, session, unary, integral)
    return session


@given(st.sampled_from(GRIDS), seeds, st.booleans(), st.booleans())
@settings(max_examples=80)
def test_grids_answer_as_from_nothing(case, seed, integral, largest):
    rng = np.random.default_rng(seed)
    follow(rng, [grid(rng, *case, integral)], case[0], integral, largest)


@given(st.integers(2, 20), seeds, st.booleans(), st.booleans())
@settings(max_examples=40)
def test_graphs_answer_as_from_nothing(nodes, seed, integral, largest):
    rng = np.random.default_rng(seed)
    follow(rng, [graph(rng, nodes, integral)], (nodes,), integral, largest)


@given(seeds, st.booleans())
@settings(max_examples=20)
def test_terms_with_auxiliary_nodes_answer_as_from_nothing(seed, largest):
    rng = np.random.default_rng(seed)
    groups = sm.Hyperedge(
        [0, 4, 9], [*rng.permutation(12)[:4], *rng.permutation(12)[:5]], [2.0, 3.0]
    )
    curve = sm.Cardinality([0, 12], np.arange(12), lambda k, _: np.minimum(k, 4.0))
    terms = [grid(rng, (3, 4), 4, integral=True), groups, curve]
    follow(rng, terms, (3, 4), True, largest)


@given(seeds)
@settings(max_examples=10)
def test_other_terms_answer_as_from_nothing(seed):
    rng = np.random.default_rng(seed)
    table = np.array([0, 2, 2, 3, 2, 3, 3, 3, 2, 3, 3, 3, 3, 3, 3, 3.0])
    terms = [sm.Table([[0, 1, 2, 3]], table[None]), sm.Cut([3, 4], [4, 5], [1.0, 2.0])]
    unary = costs(rng, 6, integral=True)
    session = sm.Session(sm.Problem(unary.copy(), terms))
    for _ in range(4):
        problem, result = sm.Problem(unary.copy(), terms), session.solve()
        assert result.value == sm.minimize(problem).value
        assert sm.verify(problem, result).optimal
        change(rng, session, unary, integral=True)


def interrupt(_record, _members):
    raise KeyboardInterrupt


@pytest.mark.parametrize("how", [{"callback": interrupt}, {"time_limit": 0.0}, {"max_passes": 0}])
@given(st.sampled_from(GRIDS), seeds, st.booleans())
@settings(max_examples=20)
def test_answers_after_interrupted_solves(how, case, seed, integral):
    """The interrupted solve has a valid answer, too."""
    rng, partial = np.random.default_rng(seed), []

    def between(session):
        if rng.integers(2):
            partial.append((session.problem, session.solve(**how)))

    follow(rng, [grid(rng, *case, integral)], case[0], integral, False, between)
    for problem, result in partial:
        assert result.lower_bound <= result.value
        assert sm.verify(problem, result).gap == result.gap


@pytest.mark.parametrize("slice_", [1, 20])
@given(seeds)
@settings(max_examples=20)
def test_interrupts_amid_a_search(slice_, seed):
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("submin.solvers.max_flow.SLICE", slice_)
        left = [0]

        def stop(_record, _members):
            left[0] -= 1
            return left[0] < 0

        def between(session):
            left[0] = rng.integers(0, 6)
            session.solve(callback=stop)

        follow(rng, [grid(rng, (9, 11), 8, False)], (9, 11), False, False, between, steps=4)


@pytest.mark.parametrize("name", ["MOST_CHANGED", "MOST_VISITS", "MOST_WORK"])
@given(st.sampled_from(GRIDS), seeds, st.booleans(), st.booleans())
@settings(max_examples=20)
def test_answers_do_not_depend_on_when_forests_are_given_up(name, case, seed, integral, largest):
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_flow, name, -1.0)
        follow(rng, [grid(rng, *case, integral)], case[0], integral, largest)


@given(seeds, st.booleans())
@settings(max_examples=20)
def test_answers_where_forests_are_too_slow_for_good(seed, integral):
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("submin.solvers.max_flow.PATIENCE", 0)
        session = follow(rng, [grid(rng, (4, 5), 4, integral)], (4, 5), integral, False)
    assert session.solve().certificate.closed


@given(seeds, st.booleans(), st.booleans())
@settings(max_examples=40)
def test_changed_weights(seed, integral, largest):
    rng = np.random.default_rng(seed)
    shape = (4, 5)
    makes = [lambda: grid(rng, shape, 8, integral), lambda: graph(rng, 20, integral)]
    own = [makes[k]() for k in ([0], [1], [0, 1])[rng.integers(3)]]
    unary = costs(rng, shape, integral)
    session = sm.Session(sm.Problem(unary.copy(), own), largest=largest)
    for _ in range(6):
        if rng.integers(3):
            check(session.solve(), sm.Problem(unary.copy(), own), integral, largest)
        k = int(rng.integers(len(own)))
        if isinstance(own[k], sm.GridCut):
            own[k] = grid(rng, shape, 8, integral)
            parts = [
                [part.reshape(o) for part, o in zip(parts, own[k].overlaps, strict=True)]
                for parts in zip(*(segment[1:] for segment in own[k].segments), strict=True)
            ]
        else:
            parts = [numbers(rng, own[k].size, 0, 5, integral) for _ in range(2)]
            own[k] = sm.Cut(own[k].tails, own[k].heads, *parts)
        session.change_weights(*parts, term=k)
        change(rng, session, unary, integral)
    check(session.solve(), sm.Problem(unary.copy(), own), integral, largest)


def visits(session):
    """Count the node visits of the search that is kept."""
    return session._solver.kept.forests.visits()


def easy_session(side=200):
    """Costs that are far larger than the weights, in two halves."""
    unary = np.full((side, side), 9.0)
    unary[:, side // 2 :] = -9.0
    return sm.Session(sm.Problem(unary, [sm.GridCut((side, side), 1.0, 8)]))


@pytest.mark.parametrize("cost", [-50.0, 0.0, np.inf, -np.inf])
def test_a_small_change_is_little_work(cost):
    session = easy_session()
    session.solve()
    before = visits(session)
    assert before > 0
    session.change_unary([100 * 200 + 30], cost)
    result = session.solve()
    assert visits(session) - before < 400
    assert result.minimizer[100, 30] == (cost < 0)
    session.change_unary([100 * 200 + 30], 9.0)
    assert not session.solve().minimizer[100, 30]
    assert visits(session) - before < 800


def test_no_change_is_no_work():
    session = easy_session(60)
    first = session.solve()
    before = visits(session)
    second = session.solve()
    assert visits(session) == before
    assert np.array_equal(first.minimizer, second.minimizer)
    assert first.certificate == second.certificate


def test_results_outlive_changes():
    """Each has its own dual and certificate, whenever they are asked for."""
    rng = np.random.default_rng(0)
    cut, unary = grid(rng, (9, 11), 8, integral=True), costs(rng, (9, 11), integral=True)
    session, kept = sm.Session(sm.Problem(unary.copy(), [cut])), []
    for _ in range(5):
        kept.append((sm.Problem(unary.copy(), [cut]), session.solve()))
        change(rng, session, unary, integral=True)
    session.change_weights(2.0)
    session.solve()
    for problem, result in kept:
        check(result, problem, integral=True)


def test_nothing_of_the_caller_or_of_a_result_is_shared():
    unary, weights = np.array([1.0, -3.0, 2.0]), np.array([1.0, 1.0])
    session = sm.Session(sm.Problem(unary, [sm.Cut([0, 1], [1, 2], weights)]))
    session.change_unary([0], -5.0)
    first = session.solve()
    first.minimizer[:] = False
    first.dual[0][:] = 7.0
    session.problem.unary[:] = 0.0
    assert session.solve().minimizer.tolist() == [True, True, False]
    assert unary.tolist() == [1.0, -3.0, 2.0]
    session.change_weights([0.0, 9.0])
    assert session.solve().minimizer.tolist() == [True, True, True]
    assert weights.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))]
)
def test_results_are_copied_whole(again, tmp_path):
    session = easy_session(20)
    result = again(session.solve())
    session.change_unary([3], -np.inf)
    session.solve()
    assert sm.verify(easy_session(20).problem, result) == result.certificate
    result.save(tmp_path / "result.npz")
    assert sm.Result.load(tmp_path / "result.npz").value == result.value
    with pytest.raises(AttributeError, match="values"):
        _ = result.values


def test_history_and_callback_are_those_of_a_solve():
    session, seen = easy_session(20), []
    result = session.solve(callback=lambda record, members: seen.append((record, members.sum())))
    assert [record for record, _ in seen] == list(result.history)
    assert seen[-1][1] == result.minimizer.sum()
    session.change_unary([3], -np.inf)
    quiet = session.solve()
    assert len(quiet.history) == 1
    assert quiet.history[0].value == quiet.value
    assert quiet.history[0].lower_bound <= quiet.value
    assert "KeptFlow" in quiet.solver


def refused(call, error, *words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words)


def test_refusals():
    problem = sm.Problem([1.0, -3.0, 2.0], [sm.GridCut(3, 1.0), sm.Hyperedge([0, 2], [0, 1], 1.0)])
    session = sm.Session(problem)
    result = session.solve()
    refused(lambda: session.set_unary([1.0, 2.0]), ValueError, "values", "(2,)", "(3,)")
    refused(lambda: session.set_unary([1.0, np.nan, 0.0]), ValueError, "values[1]", "nan")
    refused(lambda: session.set_unary([1e150, 1.0, 0.0]), ValueError, "overflow")
    refused(lambda: session.change_unary([0], np.nan), ValueError, "values", "nan")
    refused(lambda: session.change_unary([0, 3], 1.0), ValueError, "where[1]", "3")
    refused(lambda: session.change_unary([0, -1], 1.0), ValueError, "where[1]", "-1")
    refused(lambda: session.change_unary([0.5], 1.0), TypeError, "where", "float64")
    refused(lambda: session.change_unary([True, False], 1.0), ValueError, "where", "(2,)")
    refused(lambda: session.change_unary([0, 1], [1.0, 2.0, 3.0]), ValueError, "values", "3", "2")
    refused(lambda: session.change_weights(-1.0), ValueError, "weights", "-1")
    refused(lambda: session.change_weights(1.0, term=1), TypeError, "terms[1]", "Hyperedge")
    refused(lambda: session.change_weights(1.0, term=2), ValueError, "term", "2")
    refused(lambda: session.solve(time_limit=-1.0), ValueError, "time_limit")
    refused(lambda: sm.Session([1.0]), TypeError, "problem")
    assert np.array_equal(session.solve().minimizer, result.minimizer)
    assert session.solve().certificate == result.certificate
    table = sm.Table([[0, 1, 2, 3]], np.minimum([bin(k).count("1") for k in range(16)], 2)[None])
    plain = sm.Problem(np.zeros(4), [table])
    refused(lambda: sm.Session(plain, largest=True), TypeError, "largest", "Table")


@pytest.mark.parametrize(
    "where", [(np.array([0, 1]), np.array([1, 2])), (0, 1), np.zeros((3, 4), int)]
)
def test_rows_and_columns_are_no_element_numbers(where):
    session = sm.Session(sm.Problem(np.zeros((3, 4)), [sm.GridCut((3, 4), 1.0)]))
    with pytest.raises(TypeError, match="ravel_multi_index"):
        session.change_unary(where, 7.0)

"""The estimator: scikit-learn's own checks, the objective by its definition, known data."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

from submin.files import read_hypergraph

pytest.importorskip("sklearn")
from sklearn.utils.estimator_checks import parametrize_with_checks

from submin.learn import TotalVariationClassifier
from submin.learn.structures import given_hypergraph


@pytest.mark.filterwarnings("ignore")  # of the checks themselves
@parametrize_with_checks([TotalVariationClassifier()])
def test_scikit_learn(estimator, check):
    check(estimator)


def targets(y, label):
    """1 at a label, -1 at others, scaled to equal sums; 0 at -1."""
    known, inside = y != -1, y == label
    others = known & ~inside
    half = known.sum() / 2
    return np.where(inside, half / inside.sum(), np.where(others, -half / others.sum(), 0.0))


def objective(x, target, smoothness, groups, degree):
    variation = sum(x[group].max() - x[group].min() for group in groups)
    return 0.5 * np.sum((x - target) ** 2) + smoothness / degree * variation


@pytest.mark.parametrize("structure", ["graph", "hypergraph"])
@pytest.mark.parametrize("classes", [2, 3])
def test_scores_minimise_the_objective(structure, classes):
    rng = np.random.default_rng(classes)
    n = 9
    y = np.append(np.arange(6) % classes, [-1] * 3)
    if structure == "graph":
        upper = np.triu(rng.random((n, n)) < 0.4, 1)
        X = (upper | upper.T).astype(float)
        groups = [list(pair) for pair in np.argwhere(upper)]
    else:
        X = (rng.random((n, 5)) < 0.5).astype(float)
        groups = [np.flatnonzero(column) for column in X.T if column.sum() > 1]
    degree = sum(len(group) for group in groups) / n
    for kind in (np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_array):
        model = TotalVariationClassifier(0.8, structure).fit(kind(X), y)
        scores = model.scores_.reshape(n, -1)
        assert scores.shape[1] == (1 if classes == 2 else classes)
        for column, label in zip(scores.T, [1] if classes == 2 else range(classes), strict=True):
            target = targets(y, label)
            own = objective(column, target, 0.8, groups, degree)
            for _ in range(200):
                other = column + rng.normal(size=n) * rng.choice([1e-3, 0.1, 1.0])
                assert own <= objective(other, target, 0.8, groups, degree) + 1e-12
            found = scipy.optimize.minimize(
                objective, column, (target, 0.8, groups, degree), method="Nelder-Mead"
            )
            assert own <= found.fun + 1e-7
        decided = scores.argmax(axis=1) if classes > 2 else (scores[:, 0] > 0).astype(int)
        assert np.array_equal(model.transduction_, decided)


def test_new_samples_get_mean_scores():
    X = np.array([[1, 0], [1, 0], [1, 1], [0, 1]])
    scores = np.array([1.0, 2.0, 6.0, -6.0])
    _, join = given_hypergraph(X)
    new = join(np.array([[1, 0], [0, 1], [1, 1], [0, 0]]), scores)
    assert new.tolist() == [3.0, 0.0, 1.5, 0.0]


def test_clusters_of_features():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 3)) * 20
    X = np.concatenate([centre + rng.normal(size=(30, 3)) for centre in centres])
    truth = np.repeat(["d", "b", "c", "a"], 30)
    y = np.full(120, "")
    y[::15] = truth[::15]
    model = TotalVariationClassifier(unlabelled="").fit(X, y)
    assert np.array_equal(model.transduction_, truth)
    assert np.array_equal(model.predict(X), truth)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(X), model.decision_function(X))


def test_a_published_hypergraph(data_folder):
    """Mushrooms, 112 hyperedges by category: 40 labels of 8124 leave few errors."""
    graph = read_hypergraph(data_folder / "hypergraph" / "mushroom.hmetis")
    lines = (data_folder / "hypergraph" / "mushroom.label").read_text().split("\n")[1:]
    truth = np.array([int(float(line)) for line in lines if line.strip()])
    term = graph.term
    shape = (term.weights.size, graph.nodes)
    rows = scipy.sparse.csr_array((np.ones(term.members.size), term.members, term.pointers), shape)
    y = np.full(truth.size, -1)
    chosen = np.random.default_rng(0).choice(truth.size, 40, replace=False)
    y[chosen] = truth[chosen]
    model = TotalVariationClassifier(structure="hypergraph").fit(rows.T, y)
    assert np.mean(model.transduction_ != truth) < 0.2


@pytest.mark.parametrize(
    ("structure", "X", "y", "words"),
    [
        ("graph", [[0.0, 1.0], [0.5, 0.0]], [0, 1], "not symmetric"),
        ("graph", [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], [0, 1], "square matrix"),
        ("graph", [[0.0, -1.0], [-1.0, 0.0]], [0, 1], r"is -1\.0: a weight is 0 or more"),
        ("neighbors", [[0.0], [1.0]], [-1, -1], "no sample has a label"),
        ("tree", [[0.0], [1.0]], [0, 1], "structure"),
    ],
)
def test_refusals(structure, X, y, words):
    with pytest.raises(ValueError, match=words):
        TotalVariationClassifier(structure=structure).fit(X, y)

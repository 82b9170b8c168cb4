"""Labels that are proved, against all labellings of least energy."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm

from .energies import definition, matrix, small


@pytest.mark.parametrize("seed", range(60))
def test_proved_labels_are_in_every_labelling_of_least_energy(seed):
    rng = np.random.default_rng(8000 + seed)
    given = small(rng, 6)
    costs, distance = np.round(given.costs), sm.labels.Potts()  # integers: ties are exact
    terms = [
        sm.Cut(*term.edge_list(), np.round(term.weights_by_edge()[0]))
        for term in given.terms
        if not hasattr(term, "caps")
    ]
    problem = sm.LabelProblem(costs, terms, distance)
    proved = sm.labels.proved_labels(problem)
    energy = definition(costs, terms, matrix(distance, len(costs)))
    energies = np.array([energy(x) for x in given.labellings])
    best = [x for x, own in zip(given.labellings, energies, strict=True) if own == energies.min()]
    for v in np.flatnonzero(proved >= 0):
        assert {x[v] for x in best} == {proved[v]}


def test_most_of_an_easy_picture_is_proved():
    rng = np.random.default_rng(0)
    truth = (np.indices((40, 60)) // 15).sum(axis=0) % 4
    costs = (truth + 0.3 * rng.normal(size=truth.shape) - np.arange(4)[:, None, None]) ** 2
    problem = sm.LabelProblem(costs, [sm.GridCut(truth.shape, 0.3)])
    proved = sm.labels.proved_labels(problem)
    assert (proved >= 0).mean() > 0.5
    assert (proved[proved >= 0] == truth[proved >= 0]).mean() > 0.99


@pytest.mark.parametrize(
    ("terms", "distance", "message"),
    [
        ([sm.GridCut(3, 1.0)], sm.labels.Linear(), r"terms\[0\] is not Potts\(\)"),
        ([sm.labels.LabelCosts(1.0)], sm.labels.Potts(), "groups or label costs"),
    ],
)
def test_what_nothing_is_proved_of(terms, distance, message):
    with pytest.raises(ValueError, match=message):
        sm.labels.proved_labels(sm.LabelProblem(np.eye(3), terms, distance))

"""Colour models: against closed forms, monotone refits, degenerate pixels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from submin.vision.colour_models import (
    OUTLIER_SHARE,
    VARIANCE_FLOOR,
    ColourFitter,
    ColourModel,
    fit_colour_model,
    outlier_density,
)
from submin.vision.mixtures import ENOUGH, ITERATIONS, fit_mixture

VOLUME = 1e6


def test_costs_agree_with_the_density():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(2, 3, 3))
    covariances = factors @ factors.transpose(0, 2, 1) + np.eye(3)
    model = ColourModel(np.array([0.3, 0.7]), rng.normal(size=(2, 3)), covariances, VOLUME)
    pixels = rng.normal(scale=4.0, size=(5, 7, 3))
    mixture = sum(
        weight * stats.multivariate_normal(mean, covariance).pdf(pixels)
        for weight, mean, covariance in zip(
            model.weights, model.means, model.covariances, strict=True
        )
    )
    density = (1 - OUTLIER_SHARE) * mixture + OUTLIER_SHARE / VOLUME
    np.testing.assert_allclose(model.costs(pixels), -np.log(density), rtol=1e-10)


def test_no_colour_costs_more_than_an_outlier():
    model = fit_colour_model(np.zeros((10, 3)), volume=VOLUME)
    worst = model.costs(np.full((1, 3), 1e6))
    np.testing.assert_allclose(worst, -np.log(OUTLIER_SHARE / VOLUME))


def test_one_gaussian_is_mean_and_variance():
    colours = np.random.default_rng(1).normal(5.0, 3.0, size=(200, 3))
    model = fit_colour_model(colours, components=1, volume=1e300)
    np.testing.assert_allclose(model.means[0], colours.mean(axis=0))
    expected = np.cov(colours.T, bias=True) + VARIANCE_FLOOR * np.eye(3)
    np.testing.assert_allclose(model.covariances[0], expected)


@pytest.mark.parametrize(
    ("colours", "components"),
    [
        (np.full((1, 3), 4.0), 1),
        (np.full((50, 3), 4.0), 1),
        (np.repeat([[0.0, 0, 0], [9, 9, 9]], 30, axis=0), 2),
        (np.arange(3.0)[:, None], 3),
    ],
)
def test_no_more_gaussians_than_colours(colours, components):
    model = fit_colour_model(colours, components=5)
    assert len(model.weights) == components
    assert np.all(np.isfinite(model.costs(colours)))


def test_refits_never_cost_more_and_repeat_exactly():
    rng = np.random.default_rng(3)
    features = rng.normal(size=(40, 50, 3)) * 20.0
    features[:, 25:] += 30.0
    mask = np.zeros((40, 50), dtype=bool)
    mask[:, :20] = True
    runs = []
    for _ in range(2):
        fitter = ColourFitter(features, VOLUME, 5, 0)
        models = fitter.first(mask, ~mask)
        costs = models.costs(features)
        energies = []
        for _ in range(6):
            energies.append(costs[0][mask].sum() + costs[1][~mask].sum())
            models, costs = fitter.refit(models, mask, costs)
        assert np.all(np.diff(energies) <= 0)
        assert energies[-1] < energies[0]
        runs.append(energies)
    assert runs[0] == runs[1]


def test_model_without_pixels_is_kept():
    features = np.random.default_rng(4).normal(size=(6, 6, 3))
    everything = np.ones((6, 6), dtype=bool)
    fitter = ColourFitter(features, VOLUME, 2, 0)
    models = fitter.first(everything, everything)
    refitted, _ = fitter.refit(models, everything, models.costs(features))
    assert refitted.background is models.background


def test_warm_start_with_fewer_colours_than_gaussians_costs_what_one_does():
    rich = fit_colour_model(np.random.default_rng(5).normal(size=(99, 3)) * 30, components=5)
    grey = np.zeros((4, 3))
    poor, one = fit_colour_model(grey, start=rich), fit_colour_model(grey, components=1)
    np.testing.assert_allclose(poor.costs(grey), one.costs(grey), rtol=1e-9)


@pytest.mark.parametrize("features", [1, 2, 3, 4])
def test_fit_agrees_with_scikit_learn(features):
    """The same iterations from the same start, where the uniform share is next to nothing."""
    mixture = pytest.importorskip("sklearn.mixture")
    rng = np.random.default_rng(features)
    colours = np.concatenate([rng.normal(k * 20.0, 4.0 + k, (300, features)) for k in range(3)])
    start = ColourModel(
        np.array([0.5, 0.3, 0.2]), rng.normal(20.0, 15.0, (3, features)),
        np.stack([np.eye(features) * scale for scale in (90.0, 200.0, 300.0)]),
    )  # fmt: skip
    theirs = mixture.GaussianMixture(
        3, reg_covar=VARIANCE_FLOOR, max_iter=ITERATIONS, tol=ENOUGH, weights_init=start.weights,
        means_init=start.means, precisions_init=np.linalg.inv(start.covariances),
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(colours)
    ours = fit_colour_model(colours, volume=1e300, start=start)
    np.testing.assert_allclose(ours.weights, theirs.weights_, rtol=1e-9)
    np.testing.assert_allclose(ours.means, theirs.means_, rtol=1e-9)
    np.testing.assert_allclose(ours.covariances, theirs.covariances_, rtol=1e-8, atol=1e-8)


def test_iterations_never_raise_the_cost_of_their_pixels():
    """With the uniform share, and without the floor that is added to variances."""
    rng = np.random.default_rng(6)
    colours = np.concatenate([rng.normal(0.0, 3.0, (500, 3)), rng.uniform(-80, 80, (300, 3))])
    outlier = outlier_density(1e7)
    fitted, costs = None, []
    for _ in range(5):
        fitted = fit_mixture(colours, 4, 0.0, outlier, fitted)
        model = ColourModel(fitted.weights, fitted.means, fitted.covariances, 1e7)
        costs.append(model.costs(colours).sum())
    assert np.all(np.diff(costs) <= 0.0)
    assert costs[-1] < costs[0]


def test_outliers_do_not_widen_the_gaussians():
    rng = np.random.default_rng(7)
    colours = rng.normal(0.0, 2.0, (5000, 1))
    colours[:5] = 1e5
    model = fit_colour_model(colours, components=1, volume=100.0)
    expected = colours[5:].var() + VARIANCE_FLOOR
    np.testing.assert_allclose(model.covariances, [[[expected]]], rtol=0.05)


def test_separate_colours_are_found_exactly():
    """Four groups of colours, far apart, are the parts that the fit starts from."""
    rng = np.random.default_rng(8)
    middles = np.array([[0.0, 0, 0], [90, 0, 0], [0, 70, 0], [0, 0, 50]])
    sizes = [400, 300, 200, 100]
    groups = [
        rng.normal(middle, 2.0, (size, 3)) for middle, size in zip(middles, sizes, strict=True)
    ]
    model = fit_colour_model(np.concatenate(groups), components=4, volume=1e9)
    order = np.argsort(-model.weights)
    np.testing.assert_allclose(model.weights[order], np.array(sizes) / 1000, rtol=1e-6)
    means = [group.mean(axis=0) for group in groups]
    np.testing.assert_allclose(model.means[order], means, atol=1e-6)

"""Colour models: against closed forms, monotone refits, degenerate pixels."""

from __future__ import annotations

import numpy as np
import pytest

from submin.vision.colour_models import (
    OUTLIER_SHARE,
    VARIANCE_FLOOR,
    ColourFitter,
    ColourModel,
    fit_colour_model,
)
from submin.vision.palette import Palette

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
    model = fit_colour_model(colours, components=1)
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
        fitter = ColourFitter(Palette.of(features), VOLUME, 5, 0)
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
    fitter = ColourFitter(Palette.of(features), VOLUME, 2, 0)
    models = fitter.first(everything, everything)
    refitted, _ = fitter.refit(models, everything, models.costs(features))
    assert refitted.background is models.background


def test_warm_start_with_fewer_colours_than_gaussians_starts_anew():
    rich = fit_colour_model(np.random.default_rng(5).normal(size=(99, 3)) * 30, components=5)
    poor = fit_colour_model(np.zeros((4, 3)), components=5, start=rich)
    assert len(poor.weights) == 1

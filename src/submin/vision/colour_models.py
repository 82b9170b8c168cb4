"""Colour models of object and background: Gaussian mixtures with a small uniform share.

    p(z) = (1 - ε) Σ_k π_k N(z; μ_k, Σ_k) + ε / volume

The mixtures are those of GrabCut (Rother, Kolmogorov, Blake 2004, doi:10.1145/1015706.1015720),
with full covariances, fitted by expectation maximisation instead of by hard assignments.  The
uniform share bounds the cost of a colour that a model has never seen, so that no single pixel
outweighs its whole neighbourhood.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from submin._lazy import lazy
from submin._typing import BoolArray, FloatArray
from submin.vision.optional import require
from submin.vision.palette import Palette

OUTLIER_SHARE = 1e-3
VARIANCE_FLOOR = 1.0
"""Added to every variance: the square of 1 Lab unit, about a just noticeable difference."""
LEAST_FLOOR = 1e-6
SPREAD = 30.0
"""Standard deviation of the features of a photograph of good contrast, in Lab units: below it,
the floor shrinks with the contrast."""
TRAINING_PIXELS = 2_500
ITERATIONS = 10
CHUNK = 1 << 13
MINIMUM_SAMPLES = 2


@dataclass(frozen=True, eq=False)
class ColourModel:
    """A Gaussian mixture of K components over D features, with a uniform share.

    Attributes
    ----------
    weights : float array, shape (K,)
    means : float array, shape (K, D)
    covariances : float array, shape (K, D, D)
    volume : float
        Volume over which the uniform share is spread.
    """

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray
    volume: float = 1.0

    def costs(self, features: FloatArray) -> FloatArray:
        """Return -log p of every pixel, in nats, O(pixels · K · D²).

        Parameters
        ----------
        features : float array, shape (..., D)

        Returns
        -------
        float array, shape (...)
        """
        colours = features.reshape(-1, features.shape[-1])
        out = np.empty(len(colours))
        factors = np.linalg.inv(np.linalg.cholesky(self.covariances))
        for start in range(0, len(colours), CHUNK):
            part = slice(start, start + CHUNK)
            out[part] = -self._log_density(colours[part], factors)
        return out.reshape(features.shape[:-1])

    def costs_of(self, palette: Palette) -> FloatArray:
        """Return -log p of every pixel of an image, in nats, computed once for each colour."""
        costs: FloatArray = self.costs(palette.colours)[palette.index]
        return costs

    def _log_density(self, colours: FloatArray, factors: FloatArray) -> FloatArray:
        """Return log p; `factors` are the inverses of the Cholesky factors L of Σ = L Lᵀ."""
        components, channels = self.means.shape
        white = factors.reshape(-1, channels) @ colours.T
        white -= np.einsum("kij,kj->ki", factors, self.means).reshape(-1, 1)
        white *= white
        logs = white.reshape(components, channels, -1).sum(axis=1)
        logs *= -0.5
        log_determinants = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
        constant = np.log1p(-OUTLIER_SHARE) - 0.5 * channels * np.log(2.0 * np.pi)
        logs += (np.log(self.weights) + log_determinants + constant)[:, None]
        uniform = np.log(OUTLIER_SHARE / self.volume)
        largest = np.maximum(logs.max(axis=0), uniform)
        shares = np.exp(logs - largest).sum(axis=0) + np.exp(uniform - largest)
        density: FloatArray = largest + np.log(shares)
        return density


@dataclass(frozen=True, eq=False)
class ColourModels:
    """The two models of a segmentation.

    Attributes
    ----------
    foreground, background : ColourModel
    """

    foreground: ColourModel
    background: ColourModel

    def costs(self, features: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the cost of every pixel as object and as background, in nats."""
        return self.foreground.costs(features), self.background.costs(features)

    def costs_of(self, palette: Palette) -> tuple[FloatArray, FloatArray]:
        """Return the same for an image, computed once for each of its colours."""
        return self.foreground.costs_of(palette), self.background.costs_of(palette)


@dataclass(frozen=True, eq=False)
class ColourFitter:
    """Fits the models of one image, from pixels that represent all colours of a mask.

    Attributes
    ----------
    palette : Palette
        Features of the image.
    volume : float
        Volume over which the uniform share is spread.
    components : int
        Largest number of Gaussians in a model.
    seed : int
        Fixes the first means.
    """

    palette: Palette
    volume: float
    components: int
    seed: int

    def first(self, foreground: BoolArray, background: BoolArray) -> ColourModels:
        """Fit both models from scratch to the pixels of two masks, neither empty."""
        return ColourModels(self.fit(foreground), self.fit(background))

    def refit(
        self, models: ColourModels, mask: BoolArray, costs: tuple[FloatArray, FloatArray]
    ) -> tuple[ColourModels, tuple[FloatArray, FloatArray]]:
        """Fit both models to a mask, starting from `models`; never raises the cost of the mask.

        Parameters
        ----------
        models : ColourModels
        mask : bool array, shape (H, W)
        costs : two float arrays, shape (H, W)
            Those of `models`.

        Returns
        -------
        models : ColourModels
        costs : two float arrays
            Their costs.  A model whose pixels would cost more in total after the fit is kept.
        """
        foreground, cost_in = self._improved(models.foreground, mask, costs[0])
        background, cost_out = self._improved(models.background, ~mask, costs[1])
        return ColourModels(foreground, background), (cost_in, cost_out)

    def _improved(
        self, model: ColourModel, mask: BoolArray, costs: FloatArray
    ) -> tuple[ColourModel, FloatArray]:
        if not mask.any():
            return model, costs
        candidate = self.fit(mask, model)
        new_costs = candidate.costs_of(self.palette)
        if new_costs[mask].sum() < costs[mask].sum():
            return candidate, new_costs
        return model, costs

    def fit(self, mask: BoolArray, start: ColourModel | None = None) -> ColourModel:
        """Fit one model to the pixels of a mask that is not empty, from scratch or a start."""
        colours = self.palette.sample(mask, TRAINING_PIXELS)
        return fit_colour_model(
            colours, self.components, self.volume, self.seed, start, self.variance_floor
        )

    @lazy
    def variance_floor(self) -> float:
        """What is added to every variance, relative to that of the features."""
        pixels = self.palette.pixels
        variance = float(pixels.var(axis=tuple(range(pixels.ndim - 1))).sum())
        return VARIANCE_FLOOR * min(1.0, max(LEAST_FLOOR, variance / SPREAD**2))


def fit_colour_model(
    colours: FloatArray,
    components: int = 5,
    volume: float = 1.0,
    seed: int = 0,
    start: ColourModel | None = None,
    variance_floor: float = VARIANCE_FLOOR,
) -> ColourModel:
    """Fit a mixture by expectation maximisation.

    Parameters
    ----------
    colours : float array, shape (m, D)
        At least one pixel.
    components : int, optional
        Largest number of Gaussians; there are never more than distinct colours.
    volume : float, optional
        Volume over which the uniform share is spread.
    seed : int, optional
        Fixes the first means (k-means).
    start : ColourModel, optional
        Where the iterations start, in place of k-means.
    variance_floor : float, optional
        Added to every variance.

    Raises
    ------
    ImportError
        If scikit-learn is not installed.
    """
    distinct = _distinct_colours(colours, components if start is None else len(start.weights))
    count = min(components, distinct)
    settings: dict[str, Any] = {
        "reg_covar": variance_floor,
        "max_iter": ITERATIONS,
        "random_state": seed,
    }
    if start is not None and len(start.weights) <= distinct:
        count = len(start.weights)
        settings |= {
            "weights_init": start.weights / start.weights.sum(),
            "means_init": start.means,
            "precisions_init": _inverses(start.covariances),
        }
    mixture = require("sklearn.mixture").GaussianMixture(count, **settings)
    with _quiet_and_reproducible():
        # One pixel is a model too, but scikit-learn asks for two samples.
        mixture.fit(np.repeat(colours, MINIMUM_SAMPLES, axis=0) if len(colours) == 1 else colours)
    return ColourModel(mixture.weights_, mixture.means_, mixture.covariances_, volume)


def _distinct_colours(colours: FloatArray, enough: int) -> int:
    """Count colours that differ by more than rounding; no further than `enough`."""
    few = len(np.unique(colours[: 10 * enough].round(6), axis=0))
    return few if few >= enough else len(np.unique(colours.round(6), axis=0))


def _inverses(covariances: FloatArray) -> FloatArray:
    """Return exactly symmetric inverses."""
    inverses = np.linalg.inv(covariances)
    symmetric: FloatArray = 0.5 * (inverses + inverses.transpose(0, 2, 1))
    return symmetric


@contextmanager
def _quiet_and_reproducible() -> Iterator[None]:
    """Expect unfinished iterations; one thread, so that sums are formed in one order."""
    with warnings.catch_warnings(), _thread_pools().limit(limits=1):
        warnings.filterwarnings("ignore", module=r"sklearn\.")
        yield


@cache
def _thread_pools() -> Any:
    """Return what limits the threads of scikit-learn; to find their libraries takes 5 ms."""
    require("sklearn.mixture")
    return require("threadpoolctl").ThreadpoolController()

"""Colour models of object and background: Gaussian mixtures with a small uniform share.

    p(z) = (1 - ε) Σ_k π_k N(z; μ_k, Σ_k) + ε / volume

The mixtures are those of GrabCut (Rother, Kolmogorov, Blake 2004, doi:10.1145/1015706.1015720),
with full covariances, fitted by expectation maximisation (``mixtures.py``) instead of by hard
assignments.  The uniform share bounds the cost of a colour that a model has never seen, so that no
single pixel outweighs its whole neighbourhood.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from submin._typing import BoolArray, FloatArray, IndexArray
from submin.vision.mixtures import Mixture, Shares, chunks, fit_mixture

OUTLIER_SHARE = 1e-3
VARIANCE_FLOOR = 1.0
"""Added to every variance: the square of 1 Lab unit, about a just noticeable difference."""
TRAINING_PIXELS = 20_000


@dataclass(frozen=True, eq=False)
class ColourModel(Mixture):
    """A Gaussian mixture of K components over D features, with a uniform share.

    Attributes
    ----------
    weights : float array, shape (K,)
    means : float array, shape (K, D)
    covariances : float array, shape (K, D, D)
    volume : float
        Volume of the range of the features, over which the uniform share is spread.
    """

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
        out, centre = np.empty(len(colours)), self.centre
        coefficients, outlier = self.coefficients(centre), outlier_density(self.volume)
        for part, powers in chunks(colours, centre):
            out[part] = Shares.of(coefficients, powers, outlier).log_density
        out += np.log1p(-OUTLIER_SHARE)
        return np.negative(out, out=out).reshape(features.shape[:-1])


def outlier_density(volume: float) -> float:
    """Return the logarithm of ε / volume, relative to the share 1 - ε of the Gaussians."""
    return float(np.log(OUTLIER_SHARE) - np.log1p(-OUTLIER_SHARE) - np.log(volume))


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


@dataclass(frozen=True, eq=False)
class ColourFitter:
    """Fits the models of one image, always from the same pixels, so that rounds are comparable.

    Attributes
    ----------
    features : float array, shape (H, W, D)
    volume : float
        Volume of the range of the features.
    components : int
        Largest number of Gaussians in a model.
    seed : int
        Fixes the choice of training pixels.
    """

    features: FloatArray
    volume: float
    components: int
    seed: int

    def first(self, foreground: BoolArray, background: BoolArray) -> ColourModels:
        """Fit both models from scratch to the pixels of two masks, neither empty."""
        return ColourModels(self._fit(foreground), self._fit(background))

    def refit(
        self, models: ColourModels, mask: BoolArray, costs: tuple[FloatArray, FloatArray]
    ) -> tuple[ColourModels, tuple[FloatArray, FloatArray]]:
        """Fit both models to a mask, starting from `models`; never raises the cost of the mask.

        Parameters
        ----------
        models : ColourModels
        mask : bool array, shape (H, W)
        costs : two float arrays, shape (H, W)
            ``models.costs(features)``.

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
        candidate = self._fit(mask, model)
        new_costs = candidate.costs(self.features)
        if new_costs[mask].sum() < costs[mask].sum():
            return candidate, new_costs
        return model, costs

    def _fit(self, mask: BoolArray, start: ColourModel | None = None) -> ColourModel:
        colours = self._training_colours(mask)
        return fit_colour_model(colours, self.components, self.volume, start)

    def _training_colours(self, mask: BoolArray) -> FloatArray:
        """Choose at most `TRAINING_PIXELS` pixels of a mask, in one random order for all masks."""
        pixels = self.features.reshape(-1, self.features.shape[-1])
        chosen = self._order[mask.ravel()[self._order]][:TRAINING_PIXELS]
        return pixels[chosen]

    @cached_property
    def _order(self) -> IndexArray:
        pixels = self.features[..., 0].size
        return np.random.default_rng(self.seed).permutation(np.arange(pixels, dtype=np.int32))


def fit_colour_model(
    colours: FloatArray,
    components: int = 5,
    volume: float = 1.0,
    start: ColourModel | None = None,
) -> ColourModel:
    """Fit a mixture by expectation maximisation.

    Parameters
    ----------
    colours : float array, shape (m, D)
        At least one pixel.
    components : int, optional
        Largest number of Gaussians; there are never more than distinct colours.
    volume : float, optional
        Volume of the range of the features.
    start : ColourModel, optional
        Where the iterations start, with as many Gaussians as it has.

    Examples
    --------
    >>> import numpy as np
    >>> model = fit_colour_model(np.array([[10.0], [10.0], [90.0]]), volume=100.0)
    >>> model.weights.round(3), model.means.round(3).ravel()
    (array([0.333, 0.667]), array([90., 10.]))
    """
    fitted = fit_mixture(colours, components, VARIANCE_FLOOR, outlier_density(volume), start)
    return ColourModel(fitted.weights, fitted.means, fitted.covariances, volume)

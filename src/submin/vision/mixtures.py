"""Gaussian mixtures with a uniform share, by expectation maximisation.

Both steps are products of a small matrix with the monomials of the pixels,

    φ(z) = (1, z_i, z_i z_j for i <= j),

in which the logarithm of a Gaussian's density is linear; weight, mean and covariance of a Gaussian
follow from the sum of φ over the pixels, each counted with its share in the Gaussian.  Sums are
formed in one order whatever the number of threads, as ``einsum`` leaves BLAS out.

The start is a partition: the part that varies most along its principal axis is split at its mean,
again and again (Orchard, Bouman 1991, doi:10.1109/78.107417).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from submin._typing import BoolArray, FloatArray

ITERATIONS = 10
ENOUGH = 1e-3
"""Gain in nats per pixel below which the iterations end."""
SAME = 1e-12
"""Variance up to which pixels count as one colour."""
CHUNK = 1 << 13
"""Pixels whose monomials fit a processor's cache."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """K Gaussians over D features.

    Attributes
    ----------
    weights : float array, shape (K,)
    means : float array, shape (K, D)
    covariances : float array, shape (K, D, D)
    """

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray

    @property
    def centre(self) -> FloatArray:
        """Mean of the mixture: monomials around it lose the least to rounding."""
        centre: FloatArray = self.weights @ self.means
        return centre

    def coefficients(self, centre: FloatArray) -> FloatArray:
        """Return log(weight · density) as coefficients of ``monomials(..., centre)``, one row each.

        O(K · D³).
        """
        precisions = np.linalg.inv(self.covariances)
        precisions = 0.5 * (precisions + precisions.transpose(0, 2, 1))
        means = self.means - centre
        slopes = np.einsum("kij,kj->ki", precisions, means)
        dimensions = means.shape[1]
        constants = np.log(self.weights) - 0.5 * (
            dimensions * np.log(2.0 * np.pi)
            + np.linalg.slogdet(self.covariances)[1]
            + np.einsum("ki,ki->k", slopes, means)
        )
        rows, columns = np.triu_indices(dimensions)
        squares = np.where(rows == columns, -0.5, -1.0) * precisions[:, rows, columns]
        return np.column_stack([constants, slopes, squares])


def monomials(colours: FloatArray, centre: FloatArray) -> FloatArray:
    """Return φ of pixels around a centre, shape (1 + D + D (D + 1) / 2, pixels).

    Parameters
    ----------
    colours : float array, shape (pixels, D)
    centre : float array, shape (D,)
    """
    dimensions = centre.size
    rows, columns = np.triu_indices(dimensions)
    out = np.empty((1 + dimensions + rows.size, len(colours)))
    out[0] = 1.0
    linear = out[1 : 1 + dimensions]
    np.subtract(colours.T, centre[:, None], out=linear)
    for place, row, column in zip(out[1 + dimensions :], rows, columns, strict=True):
        np.multiply(linear[row], linear[column], out=place)
    return out


class Shares(NamedTuple):
    """Part of each Gaussian in the density of each pixel, shape (K, pixels), and log p of each."""

    parts: FloatArray
    log_density: FloatArray

    @classmethod
    def of(cls, coefficients: FloatArray, powers: FloatArray, outlier: float) -> Shares:
        """Compute them, with a uniform density whose logarithm is `outlier`, O(pixels · K · D²)."""
        parts = np.einsum("kq,qn->kn", coefficients, powers)
        largest = np.maximum(parts.max(axis=0), outlier)
        parts -= largest
        np.exp(parts, out=parts)
        density = parts.sum(axis=0)
        density += np.exp(outlier - largest)
        parts /= density
        return cls(parts, largest + np.log(density))


def chunks(colours: FloatArray, centre: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
    """Yield the monomials of a chunk of pixels after the other."""
    for start in range(0, len(colours), CHUNK):
        part = slice(start, start + CHUNK)
        yield part, monomials(colours[part], centre)


def fit_mixture(
    colours: FloatArray,
    components: int,
    floor: float,
    outlier: float,
    start: Mixture | None = None,
) -> Mixture:
    """Fit a mixture beside a uniform density.

    Parameters
    ----------
    colours : float array, shape (pixels, D)
        One pixel or more.
    components : int
        Largest number of Gaussians; there are never more than distinct colours.
    floor : float
        Added to every variance.
    outlier : float
        Logarithm of the uniform density, of which the Gaussians' weights of sum 1 know nothing.
    start : Mixture, optional
        Where the iterations start, with as many Gaussians as it has.

    Notes
    -----
    O(pixels · K · D²) for each of at most `ITERATIONS` iterations.  Covariances are differences of
    sums of squares, exact to some 1e-13 of the squared extent of the colours: of any picture's, far
    below a floor of 1.
    """
    centre = colours.mean(axis=0)
    powers = [part for _, part in chunks(colours, centre)]
    if start is None:
        sums = [monomials(part, centre).sum(axis=1) for part in _parts(colours, components)]
        start = _of_moments(np.stack(sums), centre, floor)
    mixture, last = start, -np.inf
    for _ in range(ITERATIONS):
        moments, total = _expected(mixture.coefficients(centre), powers, outlier)
        mixture = _of_moments(moments, centre, floor)
        if total - last < ENOUGH * len(colours):
            break
        last = total
    return mixture


def _expected(
    coefficients: FloatArray, powers: list[FloatArray], outlier: float
) -> tuple[FloatArray, float]:
    """Return the sums of φ by the shares of each Gaussian, one row each, and the sum of log p."""
    moments, total = np.zeros_like(coefficients), 0.0
    for part in powers:
        shares = Shares.of(coefficients, part, outlier)
        moments += np.einsum("kn,qn->kq", shares.parts, part)
        total += float(shares.log_density.sum())
    return moments, total


def _of_moments(moments: FloatArray, centre: FloatArray, floor: float) -> Mixture:
    """Return the Gaussians with these sums of φ, one row each; one without pixels keeps a place."""
    counts = moments[:, 0] + 10.0 * np.finfo(float).eps
    dimensions = centre.size
    means = moments[:, 1 : 1 + dimensions] / counts[:, None]
    rows, columns = np.triu_indices(dimensions)
    covariances = np.empty((len(counts), dimensions, dimensions))
    squares = moments[:, 1 + dimensions :] / counts[:, None]
    covariances[:, rows, columns] = covariances[:, columns, rows] = squares
    covariances -= means[:, :, None] * means[:, None, :]
    covariances += floor * np.eye(dimensions)
    return Mixture(counts / counts.sum(), means + centre, covariances)


def _parts(colours: FloatArray, components: int) -> list[FloatArray]:
    """Partition pixels into at most `components` parts, none of one colour split further."""
    parts = [_Part.of(colours)]
    while len(parts) < components:
        widest = max(range(len(parts)), key=lambda k: parts[k].spread)
        if parts[widest].spread == 0.0:
            break
        pixels, upper = parts[widest].colours, parts[widest].upper
        parts[widest : widest + 1] = [_Part.of(pixels[upper]), _Part.of(pixels[~upper])]
    return [part.colours for part in parts]


class _Part(NamedTuple):
    """Pixels, which of them are above their mean along the principal axis, and by how much.

    The spread is the sum of squares there, and 0 if the pixels are of one colour.
    """

    colours: FloatArray
    upper: BoolArray
    spread: float

    @classmethod
    def of(cls, colours: FloatArray) -> _Part:
        """Find the principal axis, O(pixels · D²)."""
        difference = colours - colours.mean(axis=0)
        squares = np.einsum("ni,nj->ij", difference, difference)
        spreads, axes = np.linalg.eigh(squares)
        upper = np.einsum("ni,i->n", difference, axes[:, -1]) > 0.0
        varies = spreads[-1] > SAME * len(colours) and upper.any()
        return cls(colours, upper, float(spreads[-1]) if varies else 0.0)

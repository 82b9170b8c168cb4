"""Contrast-sensitive weights of the edges between neighbouring pixels, in any dimension.

    w_pq = smoothness · exp(-β ‖z_p - z_q‖²) / dist(p, q),   β = 1 / (2 · mean ‖z_p - z_q‖²)

The mean runs over all pairs of neighbours, so the weights do not depend on the scale of z.  A
*contrast* c that is known in advance takes its place: β = 1 / (2 c²).
Boykov, Jolly 2001, doi:10.1109/ICCV.2001.937505; β as in Rother, Kolmogorov, Blake 2004 (GrabCut),
doi:10.1145/1015706.1015720.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import BoolArray, FloatArray
from submin.terms import grid_offsets

LEAST_TOTAL = 1e-300
"""Squared differences below it are in the range where floats lose digits, and no contrast."""

LARGEST_EXPONENT = 1023
LEAST_RATIO = 1e-100
"""Below this part of the largest feature, any difference that is one leaves no weight."""

Offset = tuple[int, ...]


def contrast_weights(
    features: npt.ArrayLike,
    *,
    smoothness: float = 50.0,
    connectivity: int | None = None,
    spacing: Sequence[float] | None = None,
    contrast: float | None = None,
    cells: npt.ArrayLike | None = None,
) -> list[FloatArray]:
    """Compute the weights of a ``GridCut`` from the differences between neighbours.

    Parameters
    ----------
    features : array_like of float, shape (..., channels)
        Colours, or whatever tells the pixels apart.  The last axis holds the channels, even of a
        2-D array, which is a row of pixels: of a grey image or volume give ``image[..., None]``.
    smoothness : float, optional
        Cost of cutting an edge of length 1 without contrast, in units of cost.
    connectivity : int, optional
        4 or 8 neighbours in two dimensions, 6, 18 or 26 in three; all of them by default (8 in an
        image, where the default of ``GridCut`` is 4).
    spacing : sequence of float, optional
        Distance between neighbours along each axis (voxel sizes, say); 1 by default.
    contrast : float, optional
        The difference of features at which a weight has fallen to exp(-1/2) of its largest value,
        such as the noise; by default that of the mean square (``typical_contrast``).
    cells : array_like of bool, shape `shape`, optional
        The pixels that exist: edges of the others weigh 0 and have no part in the mean.

    Returns
    -------
    list of float arrays
        One per offset of ``grid_offsets(len(shape), connectivity)``, of the overlap shape
        (``shape - |offset|``): what ``GridCut(shape, weights, connectivity)`` takes.

    Raises
    ------
    ValueError
        If a feature is not finite, or a setting does not fit; if it would fit with one more axis
        of channels, the message names ``image[..., None]``.

    Notes
    -----
    O(pixels · connectivity · channels).  Without any contrast β is 0: every weight is
    ``smoothness / dist``.

    Examples
    --------
    >>> image = [[0.0, 0.0, 1.0]]
    >>> [w.round(3).tolist() for w in contrast_weights([[[v] for v in image[0]]], connectivity=4)]
    [[[50.0, 18.394]], []]
    """
    colours = _checked_features(features)
    _refuse_missing_channels(colours.shape, connectivity, spacing)
    dimensions = colours.ndim - 1
    offsets = grid_offsets(dimensions, connectivity or 3**dimensions - 1)
    lengths = offset_lengths(offsets, checked_spacing(spacing, dimensions))
    strength = check_number("smoothness", smoothness)
    exists = _checked_cells(cells, colours.shape[:-1])
    unit, pairs = _pairs(colours, offsets, exists)
    beta = _inverse_mean(pairs) if contrast is None else _inverse_square(contrast, unit)
    return [
        strength / length * np.where(exist, np.exp(-beta * difference), 0.0)
        for length, (difference, exist) in zip(lengths, pairs, strict=True)
    ]


def typical_contrast(
    features: npt.ArrayLike,
    *,
    connectivity: int | None = None,
    cells: npt.ArrayLike | None = None,
) -> float:
    """Return the root of the mean squared difference of neighbours; infinite if none differ.

    Parameters
    ----------
    features, connectivity, cells
        As for ``contrast_weights``, whose default `contrast` it is: of a part of an image, the
        weights are the same with that of the whole.

    Examples
    --------
    >>> typical_contrast([[0.0], [2.0]])
    2.0
    """
    colours = _checked_features(features)
    _refuse_missing_channels(colours.shape, connectivity, None)
    dimensions = colours.ndim - 1
    offsets = grid_offsets(dimensions, connectivity or 3**dimensions - 1)
    exists = _checked_cells(cells, colours.shape[:-1])
    unit, pairs = _pairs(colours, offsets, exists)
    beta = _inverse_mean(pairs)
    return unit / (2.0 * beta) ** 0.5 if beta else float("inf")


Pair = tuple[FloatArray, BoolArray | bool]
"""Squared differences along an offset, and where both of the pixels exist."""


def _checked_features(features: npt.ArrayLike) -> FloatArray:
    colours = _checks.float_array("features", features)
    if colours.ndim < 2:
        raise ValueError(
            f"features has shape {colours.shape}: it needs the shape (..., channels); if "
            "each pixel has one number, give image[..., None]"
        )
    _checks.refuse_where("features", colours, ~np.isfinite(colours), "features must be finite")
    return colours


def _checked_cells(cells: npt.ArrayLike | None, shape: tuple[int, ...]) -> BoolArray | None:
    if cells is None:
        return None
    exists = _checks.flat_mask("cells", cells, "of the pixels")
    if np.shape(cells) != shape:
        raise ValueError(f"cells has shape {np.shape(cells)}, and the pixels have {shape}")
    return exists.reshape(shape)


def _pairs(
    colours: FloatArray, offsets: list[Offset], exists: BoolArray | None
) -> tuple[float, list[Pair]]:
    """Return the pairs of all offsets, in a unit of the features that keeps squares in range."""
    unit = _unit(colours)
    scaled = colours / unit
    pairs: list[Pair] = []
    for offset in offsets:
        tails, heads = _ends(offset, colours.shape[:-1])
        exist = True if exists is None else exists[tails] & exists[heads]
        pairs.append((squared_differences(scaled, offset), exist))
    return unit, pairs


def squared_differences(features: FloatArray, offset: Offset) -> FloatArray:
    """Return ‖z_p - z_q‖² of every pixel and its neighbour at `offset`, in the overlap shape."""
    tails, heads = _ends(offset, features.shape[:-1])
    difference = features[tails] - features[heads]
    squared: FloatArray = np.einsum("...c,...c->...", difference, difference)
    return squared


def _ends(offset: Offset, shape: tuple[int, ...]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return the slices of the pixels at both ends of the edges of an offset."""
    pairs = list(zip(offset, shape, strict=True))
    tails = tuple(slice(max(0, -d), max(0, size - max(0, d))) for d, size in pairs)
    heads = tuple(slice(max(0, d), max(0, size - max(0, -d))) for d, size in pairs)
    return tails, heads


def check_number(name: str, value: float) -> float:
    """Return a finite number of 0 or more, or refuse it."""
    number = float(value)
    if not (np.isfinite(number) and number >= 0):
        raise ValueError(f"{name} is {value}: it must be a finite number of 0 or more")
    return number


def _unit(features: FloatArray) -> float:
    """Return a power of two about as large as the largest feature, so that squares are in range.

    Dividing by it leaves the weights as they are to the last bit.
    """
    largest = float(np.abs(features).max(initial=0.0))
    return float(np.ldexp(1.0, min(int(np.frexp(largest)[1]), LARGEST_EXPONENT)))


def _inverse_mean(pairs: list[Pair]) -> float:
    """Return β; 0 if no two neighbours differ."""
    edges = sum(
        difference.size if exist is True else int(np.count_nonzero(exist))
        for difference, exist in pairs
    )
    total = sum(float(difference.sum(where=exist)) for difference, exist in pairs)
    return edges / (2.0 * total) if total > LEAST_TOTAL else 0.0


def _inverse_square(contrast: float, unit: float) -> float:
    """Return β of a known contrast."""
    if not contrast > 0:
        raise ValueError(f"contrast is {contrast}: it must be above 0")
    ratio = max(float(contrast) / unit, LEAST_RATIO)
    return 0.5 / ratio**2


def _refuse_missing_channels(
    shape: tuple[int, ...], connectivity: int | None, spacing: Sequence[float] | None
) -> None:
    """Refuse settings that fit a grid of all the axes, and not one of all but the last."""
    axes = len(shape)
    wrong = None
    if connectivity and not _fits(axes - 1, connectivity) and _fits(axes, connectivity):
        wrong = f"connectivity is {connectivity}"
    elif spacing is not None and np.shape(spacing) == (axes,):
        wrong = f"spacing has {axes} distances"
    if wrong:
        raise ValueError(
            f"{wrong}, but features has shape {shape}: a {axes - 1}-D grid with {shape[-1]} "
            f"channels; of a {axes}-D image without channels, give image[..., None]"
        )


def _fits(dimensions: int, connectivity: int) -> bool:
    """Return whether a grid of that dimension has such a neighbourhood."""
    try:
        grid_offsets(dimensions, connectivity)
    except ValueError:
        return False
    return True


def checked_spacing(spacing: Sequence[float] | None, dimensions: int) -> FloatArray:
    """Return the distance along each axis, 1 by default, or refuse it."""
    if spacing is None:
        return np.ones(dimensions)
    lengths = _checks.float_array("spacing", spacing)
    if lengths.shape != (dimensions,):
        raise ValueError(
            f"spacing has shape {lengths.shape}: it must be ({dimensions},), one distance per axis"
        )
    wrong = ~(np.isfinite(lengths) & (lengths > 0))
    _checks.refuse_where("spacing", lengths, wrong, "a distance must be finite and above 0")
    return lengths


def offset_lengths(offsets: list[Offset], spacing: FloatArray) -> list[float]:
    """Return the Euclidean length of each offset."""
    return [float(np.linalg.norm(np.array(offset) * spacing)) for offset in offsets]

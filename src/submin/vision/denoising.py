"""Total-variation denoising of images and volumes: the proximal point of a grid's cut function.

    minimise over x   sum_p m_p (x_p - b_p)^2 / 2  +  sum over neighbours pq of  w_pq |x_p - x_q|

    w_pq = weight / dist(p, q)

This is the anisotropic total variation of Rudin, Osher & Fatemi's model (1992,
doi:10.1016/0167-2789(92)90242-F).  ``prox`` solves it for all levels at once (Chambolle & Darbon
2009, doi:10.1007/s11263-009-0238-9).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import BoolArray, FloatArray
from submin.model.problem import Problem
from submin.solve.api import LEAST_COST, minimize, prox
from submin.solve.certificate import Status
from submin.solve.driver import Limits
from submin.solve.result import Result
from submin.terms import GridCut, grid_offsets
from submin.vision.contrast import checked_spacing, offset_lengths
from submin.vision.image_files import refuse_path

Pixels = npt.NDArray[Any]


def denoise_tv(
    image: npt.ArrayLike,
    weight: float,
    *,
    connectivity: int | None = None,
    channel_axis: int | None = None,
    spacing: Sequence[float] | None = None,
    mask: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    threads: int = 0,
    time_limit: float | None = None,
    progress: bool = False,
) -> Pixels:
    """Denoise an image of any dimension by total variation.

    Each channel b by itself becomes the x that minimises::

        sum_p m_p (x_p - b_p)^2 / 2  +  sum over neighbours pq of  weight / dist(p, q) |x_p - x_q|

    Parameters
    ----------
    image : array_like of real numbers
        Pixels or voxels, on a grid of up to 8 axes.
    weight : float
        Weight of the total variation, in units of the image's values (times the unit of `spacing`):
        the larger, the smoother.  An edge of height h between two wide regions stays as long as the
        weight is small beside h times their width.  An image scaled by 255 needs 255 times the
        weight.  A start for photographs is 0.6 times the standard deviation of the noise, or a
        third of it with 8 neighbours; ``skimage.restoration.estimate_sigma`` estimates that.  See
        the notes: other functions mean something else.
    connectivity : int, optional
        Neighbours of a pixel: 4 or 8 in two dimensions, 6, 18 or 26 in three; 2 per axis by
        default.  Diagonal neighbours make edges of all directions cost more alike.
    channel_axis : int, optional
        The axis of the channels (colours, say), or None: all axes belong to the grid.
    spacing : sequence of float, optional
        Distance between neighbours along each axis of the grid (voxel sizes, say); 1 by default.
        ``dist(p, q)`` is the Euclidean distance in these units.
    mask : array_like of bool, shape of the grid, optional
        The pixels that take part.  All others keep their value and say nothing of their neighbours.
    sample_weight : array_like of float, shape of the grid or of the image, optional
        The weights m_p, at least 0; 1 by default.  A pixel of weight 0 is missing, and is filled in
        from its neighbours.  A part of the mask that has no other pixels keeps its values.
    threads : int, optional
        Threads; 0 means all cores.
    time_limit : float, optional
        Seconds for all channels together.  If they do not suffice, a warning says how far the
        returned image is from the solution at most.
    progress : bool, optional
        Show the progress of each channel on standard error.

    Returns
    -------
    array, shape of the image
        Of the image's type if that is floating (the work is done in float64), else float64 in the
        range of the image: neither scaled to [0, 1] nor rounded.

    Raises
    ------
    TypeError
        If the image holds no real numbers, or the mask no booleans.
    ValueError
        If the image is empty, a pixel that takes part is NaN or infinite, a weight is negative or
        not finite, or shapes do not fit.  Pixels that are masked out or missing may hold anything.
    KeyboardInterrupt
        On Ctrl-C.

    Warns
    -----
    RuntimeWarning
        If the time limit came before the solution.

    See Also
    --------
    submin.vision.tv_problem : The problem itself, whose ``prox`` comes with a certificate.

    Notes
    -----
    Known functions mean opposite things by their weight.  That of
    ``skimage.restoration.denoise_tv_chambolle`` is the inverse of a factor of the squares, and in
    one dimension the same as here.  That of ``skimage.restoration.denoise_tv_bregman`` is such a
    factor: the larger, the *less* smooth; ``denoise_tv_bregman(image, v, isotropic=False)``
    approximates ``denoise_tv(image, 1 / v)`` away from the border.  Both scale integers to [0, 1]
    first.  In two or more dimensions both take the isotropic total variation by default, the sum
    of the lengths of gradients, which makes no difference between directions; here it is the sum
    of their components, which can be minimised exactly.

    Examples
    --------
    >>> import submin as sm
    >>> sm.denoise_tv([0.0, 1.0, 0.0, 9.0, 8.0], 1.0).round(6)
    array([0.666667, 0.666667, 0.666667, 8.      , 8.      ])

    Pixels that are masked out stay as they are:

    >>> sm.denoise_tv([[3, 5, 255]], 1.0, mask=[[True, True, False]]).round(6)
    array([[  4.,   4., 255.]])
    """
    started, limit = time.perf_counter(), inf if time_limit is None else time_limit
    Limits(time_limit=limit)
    pixels = _pixels(image)
    axis = _checked_axis(channel_axis, pixels.shape)
    task = _task(pixels, axis, weight, connectivity, spacing, mask, sample_weight)
    out = np.array(pixels, dtype=pixels.dtype if pixels.dtype.kind == "f" else np.float64)
    if weight == 0.0:
        return out
    for number, values in enumerate(_channels(out, axis)):
        masses = task.masses[number]
        own, problem = _decided(task, masses), _problem(task, values, masses)
        if not own.any():
            continue
        seconds = max(0.0, limit - (time.perf_counter() - started))
        result = prox(
            problem, threads=threads, time_limit=seconds, progress=progress,
            **_weights(task, masses),
        )  # fmt: skip
        if result.interrupted:
            raise KeyboardInterrupt
        _warn_of_limit(result, number)
        values[own] = result.x[own]
    return out


def tv_problem(
    image: npt.ArrayLike,
    weight: float,
    *,
    connectivity: int | None = None,
    spacing: Sequence[float] | None = None,
    mask: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> Problem:
    """Build the problem whose proximal point is the denoised image, of one channel.

    The parameters and errors are those of ``denoise_tv``.  Give the weights of the samples to
    ``prox`` too: ``prox(problem, weights=sample_weight)``.

    Returns
    -------
    Problem
        Of unary -m b, 0 where the mask leaves a pixel out, and one ``GridCut``.  The objective of
        ``prox`` is that of ``denoise_tv`` less sum_p m_p b_p^2 / 2.

    Examples
    --------
    >>> import submin as sm
    >>> from submin.vision import tv_problem
    >>> result = sm.prox(tv_problem([[3, 5, 9, 9]], 1.0))
    >>> result.x.round(6), result.point.gap < 1e-6
    (array([[4. , 5. , 8.5, 8.5]]), True)
    """
    pixels = _pixels(image)
    task = _task(pixels, None, weight, connectivity, spacing, mask, sample_weight)
    return _problem(task, pixels, task.masses[0])


class _Task(NamedTuple):
    """What to do: the pixels that take part, their neighbours, and m of each channel, 0 outside."""

    inside: BoolArray
    variation: GridCut
    masses: FloatArray


def _task(
    pixels: Pixels,
    axis: int | None,
    weight: float,
    connectivity: int | None,
    spacing: Sequence[float] | None,
    mask: npt.ArrayLike | None,
    sample_weight: npt.ArrayLike | None,
) -> _Task:
    """Check all arguments, and refuse a pixel that takes part and is not finite."""
    shape = _channels(pixels, axis).shape[1:]
    inside = _checked_mask(mask, shape)
    masses = _masses(sample_weight, pixels.shape, axis, inside)
    wrong = np.zeros(pixels.shape, dtype=np.bool_)
    _channels(wrong, axis)[...] = (masses > 0.0) & ~np.isfinite(_channels(pixels, axis))
    remedy = "pixels must be finite; leave it out by mask, or have it filled in by sample_weight 0"
    _checks.refuse_where("image", pixels, wrong, remedy)
    for values, own in zip(_channels(pixels, axis), masses, strict=True):
        _refuse_scale(np.abs(_unary(values, own)))
    return _Task(inside, _variation(inside, weight, connectivity, spacing), masses)


def _refuse_scale(sizes: FloatArray) -> None:
    """Refuse numbers m |b| of a channel whose squares overflow or underflow."""
    largest = float(sizes.max())
    if not sizes.sum() < _checks.LARGEST_SUM:
        raise ValueError(
            f"image overflows: values times weights reach {largest}, and squares of their sum "
            "must fit; scale the image down"
        )
    if 0.0 < largest < LEAST_COST:
        raise ValueError(
            f"image underflows: values times weights reach {largest} only, and squares must not "
            "vanish; scale the image up"
        )


def _channels(array: Pixels, axis: int | None) -> Pixels:
    """Return a view of an array with its channels along the first axis."""
    return array[None] if axis is None else np.moveaxis(array, axis, 0)


def _pixels(image: npt.ArrayLike) -> Pixels:
    """Return an array of real numbers that is not empty: floats of their type, else float64."""
    remedy = "give image.filled(0), and mask=~numpy.ma.getmaskarray(image)"
    _checks.refuse_masked("image", image, remedy)
    refuse_path("image", image, "read_photograph")
    array = np.asarray(image)
    if not array.ndim:
        raise ValueError(f"image is {image!r}: it must be an array with an axis or more")
    if not array.size:
        raise ValueError(
            f"image is empty (shape {array.shape}): axis {array.shape.index(0)} has length 0, and "
            "needs 1 or more"
        )
    if array.dtype.kind == "f":
        _checks.float_array("image", array)  # refuses what is beyond the largest float64
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    return _checks.float_array(
        "image", _checks.normal_booleans(array) if array.dtype == np.bool_ else array
    )


def _checked_axis(axis: int | None, shape: tuple[int, ...]) -> int | None:
    if axis is None:
        return None
    number = _checks.whole_number("channel_axis", axis, -len(shape))
    if number >= len(shape) or len(shape) == 1:
        raise ValueError(
            f"channel_axis is {axis}: an image of shape {shape} has no such axis beside those of "
            "the grid; None stands for an image without channels"
        )
    return number


def _checked_mask(mask: npt.ArrayLike | None, shape: tuple[int, ...]) -> BoolArray:
    if mask is None:
        return np.ones(shape, dtype=np.bool_)
    flat = _checks.flat_mask("mask", mask, "of the pixels that take part", "mask > 0 makes one")
    if np.shape(mask) != shape:
        raise ValueError(f"mask has shape {np.shape(mask)}, but the grid of the image has {shape}")
    return flat.reshape(shape)


def _masses(
    sample_weight: npt.ArrayLike | None,
    shape: tuple[int, ...],
    axis: int | None,
    inside: BoolArray,
) -> FloatArray:
    """Return m of each channel, shape (channels, *grid): 1 by default, and 0 outside the mask."""
    channels = 1 if axis is None else shape[axis]
    if sample_weight is None:
        return np.broadcast_to(inside.astype(np.float64), (channels, *inside.shape))
    name = "sample_weight"
    weights = _checks.float_array(name, sample_weight)
    if weights.shape not in (inside.shape, shape):
        raise ValueError(
            f"{name} has shape {weights.shape}: it must be that of the image, {shape}, or of its "
            f"grid, {inside.shape}"
        )
    wrong = ~(np.isfinite(weights) & (weights >= 0.0))
    _checks.refuse_where(name, weights, wrong, "it must be a finite number, 0 or more")
    own = weights[None] if weights.shape == inside.shape else _channels(weights, axis)
    return np.broadcast_to(own * inside, (channels, *inside.shape))


def _variation(
    inside: BoolArray,
    weight: float,
    connectivity: int | None,
    spacing: Sequence[float] | None,
) -> GridCut:
    """Return the cut of weights by distance, 0 between pixels that do not both take part."""
    number = _checks.number("weight", weight)
    if number < 0.0:
        raise ValueError(f"weight is {weight}: it must be 0 or more")
    neighbours = 2 * inside.ndim if connectivity is None else connectivity
    offsets = grid_offsets(inside.ndim, neighbours)
    lengths = offset_lengths(offsets, checked_spacing(spacing, inside.ndim))
    total = inside.size * sum(number / length for length in lengths)
    if not total < _checks.LARGEST_SUM:
        raise ValueError(f"weight is {weight}: the weights of all pairs sum to {total}; scale down")
    weights = [number / length for length in lengths]
    return GridCut(inside.shape, weights, neighbours, cells=None if inside.all() else inside)


def _problem(task: _Task, values: Pixels, masses: FloatArray) -> Problem:
    """Return the proximal problem of a channel: what does not take part counts as 0."""
    return Problem(_unary(values, masses), [task.variation])


def _unary(values: Pixels, masses: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        unary: FloatArray = -masses * np.where(masses > 0.0, values, 0.0).astype(np.float64)
    return unary


def _weights(task: _Task, masses: FloatArray) -> dict[str, Any]:
    """Return the argument of ``prox`` for weights m that are not all 1."""
    return {} if np.all(masses[task.inside] == 1.0) else {"weights": masses}


def _decided(task: _Task, masses: FloatArray) -> BoolArray:
    """Return the pixels of the parts that have a datum, all of those in the mask as a rule.

    The others are the largest set that no edge leaves: with edges that cost more than there are
    pixels, the minimiser of a problem that pays 1 for each pixel, and must not take a datum.
    """
    missing = task.inside & ~(masses > 0.0)
    if not missing.any():
        return task.inside
    edges = task.variation.reweighted(missing.size + 1.0)
    alone = minimize(Problem(np.where(missing, -1.0, inf), [edges])).minimizer
    return task.inside & ~alone


def _warn_of_limit(result: Result, channel: int) -> None:
    """Say how far an image may be from the solution, if a limit came before rounding did."""
    if result.status is Status.STOPPED and not result.stalled:
        assert result.point is not None
        warnings.warn(
            f"denoise_tv was stopped by its limit: channel {channel} is within "
            f"{result.point.distance:.3g} of the solution, in the Euclidean norm over all pixels",
            RuntimeWarning,
            stacklevel=3,
        )

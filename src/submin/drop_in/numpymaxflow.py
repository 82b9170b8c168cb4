"""The functions of numpymaxflow: ``from submin.drop_in import numpymaxflow``.

They minimise the same energy, exactly, in float64:

    sum_p -log P(label_p) + lamda sum_pq exp(-|I_p - I_q|^2 / (2 sigma^2)) [label_p != label_q]

With 8, 18 and 26 neighbours these are all of them; the package itself joins a voxel with some of
its diagonal neighbours only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import FloatArray
from submin.model.problem import Problem
from submin.solve.api import minimize
from submin.terms.grid_cut import GridCut

LEAST = float(np.finfo(np.float32).eps)
"""The least probability, in place of 0."""
LARGEST = 1e150
"""Of a number whose square is finite."""
CONNECTIVITIES = {2: (4, 8), 3: (6, 18, 26)}

__all__ = ["maxflow", "maxflow_interactive"]


def maxflow(
    image: npt.ArrayLike,
    prob: npt.ArrayLike,
    lamda: float,
    sigma: float,
    connectivity: int = 0,
) -> npt.NDArray[np.float32]:
    """Segment an image or volume from the probabilities of both labels.

    Parameters
    ----------
    image : array_like of float, shape (channels, ...)
        Two or three axes, after that of channels.
    prob : array_like of float, shape (2, ...)
        The probability of background and of object; 0 stands for the float32 epsilon.
    lamda : float
        Cost of two neighbours of equal colour and different labels.
    sigma : float
        The difference of colours at which that falls by exp(-1/2).
    connectivity : int, optional
        4 or 8 neighbours in two dimensions, 6, 18 or 26 in three; 0 is the least of them.

    Returns
    -------
    array of float32, of that shape
        1 for the object, 0 for the background: the smallest optimal object.

    Raises
    ------
    ValueError
        If shapes do not fit, or a number is out of range.

    Examples
    --------
    >>> image = np.array([[[0.0, 0.1, 1.0]]])
    >>> object = np.array([[0.2, 0.6, 0.9]])
    >>> maxflow(image, np.stack([1 - object, object]), lamda=2.0, sigma=0.2)
    array([[0., 0., 1.]], dtype=float32)
    """
    colours, probabilities = _images(image, prob=prob)
    dimensions = colours.ndim - 1
    if connectivity not in (0, *CONNECTIVITIES[dimensions]):
        raise ValueError(
            f"connectivity is {connectivity}: with {dimensions} axes it is one of "
            f"{CONNECTIVITIES[dimensions]}"
        )
    weight = _positive("lamda", lamda, least=0.0)
    scale = 2.0 * _positive("sigma", sigma, least=1e-150) ** 2
    connectivity = connectivity or 2 * dimensions
    shape = colours.shape[1:]
    empty = GridCut(shape, 0.0, connectivity)
    weights = []
    for k, overlap in enumerate(empty.overlaps):
        if 0 in overlap:
            weights.append(np.zeros(overlap))
            continue
        tails, heads = empty.ends(k)
        with np.errstate(over="ignore"):  # far apart is far apart
            difference = colours[(slice(None), *tails)] - colours[(slice(None), *heads)]
            weights.append(weight * np.exp(-np.sum(difference**2, axis=0) / scale))
    costs = -np.log(np.maximum(probabilities, LEAST))
    problem = Problem(costs[1] - costs[0], [GridCut(shape, weights, connectivity)])
    return minimize(problem).minimizer.astype(np.float32)


def maxflow_interactive(
    image: npt.ArrayLike,
    prob: npt.ArrayLike,
    seed: npt.ArrayLike,
    lamda: float,
    sigma: float,
    connectivity: int = 0,
) -> npt.NDArray[np.float32]:
    """Segment as ``maxflow`` does, with seeds that set the probabilities to 0 and 1.

    Parameters
    ----------
    seed : array_like of float, shape (2, ...)
        Above 0 at seeds of the background, and of the object.  Seeds are strong costs, of the
        logarithm of the float32 epsilon; for constraints give ``Problem`` infinite ones.

    Other parameters, results and errors are those of ``maxflow``.

    Examples
    --------
    >>> image, half, seed = np.zeros((1, 1, 3)), np.full((2, 1, 3), 0.5), np.zeros((2, 1, 3))
    >>> seed[1, 0, 2] = 1
    >>> maxflow_interactive(image, half, seed, lamda=2.0, sigma=0.2)
    array([[1., 1., 1.]], dtype=float32)
    """
    _, probabilities, seeds = _images(image, prob=prob, seed=seed)
    background, inside = seeds[0] > 0, seeds[1] > 0
    given = probabilities.copy()
    for label, chosen in ((1, inside), (0, background)):  # the background's overrule the object's
        given[label][chosen], given[1 - label][chosen] = 1.0, 0.0
    return maxflow(image, given, lamda, sigma, connectivity)


def _images(image: npt.ArrayLike, **pairs: npt.ArrayLike) -> list[FloatArray]:
    colours = _checks.float_array("image", image)
    if colours.ndim not in (3, 4):
        raise ValueError(
            f"image has shape {colours.shape}: it needs (channels, height, width) or (channels, "
            "depth, height, width)"
        )
    arrays = [colours]
    for name, values in pairs.items():
        array = _checks.float_array(name, values)
        if array.shape != (2, *colours.shape[1:]):
            raise ValueError(
                f"{name} has shape {array.shape}, and the image needs {(2, *colours.shape[1:])}"
            )
        arrays.append(array)
    for name, array in zip(("image", *pairs), arrays, strict=True):
        _checks.refuse_where(name, array, ~np.isfinite(array), "it must be finite")
    return arrays


def _positive(name: str, value: float, least: float) -> float:
    number = float(value)
    if not least <= number <= LARGEST:
        raise ValueError(f"{name} is {value}: it is a number from {least:.3g} to {LARGEST:.3g}")
    return number

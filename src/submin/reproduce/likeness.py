"""An instance that behaves like the paper's penguin: the unary without noise from pixel to pixel.

The paper prints twelve gaps of its penguin, and neither lambda nor the colour models.  Here the
unary of our penguin is blurred by Gaussians of several widths, and for each width one number is
fitted: the factor c on unary and weights, which multiplies nu_s by c^2 and nu_d by c, so that no
further run is needed.  The closest width is then run with all seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from submin._typing import FloatArray
from submin.reproduce.figures import PRINTED
from submin.reproduce.gaps import (
    ACDM_RESTARTED,
    METHODS,
    SNAPSHOTS,
    VARIANTS,
    Curve,
    Progress,
    compare,
)
from submin.reproduce.instances import LAMBDA, Instance
from submin.vision.optional import require

WIDTHS = (0.0, 2.5, 5.0, 10.0, 20.0)
"""Standard deviations of the blur, in pixels of the whole photograph."""
WIDTH = 10.0
"""The width where nothing is fitted."""
RATIO = 40.0
"""Lambda in units of the factor on the unary: of 20, 30, 40, 50 and 60, tried with the width 10,
the closest to the printed gaps among those with which AP leads in both after 1."""
OURS = {"ACDM": ACDM_RESTARTED, "AP": "AP"}
"""Our method beside each of the paper's: its gaps fit those of an ACDM that restarts."""
ALL = {**METHODS, **VARIANTS}


class Fit(NamedTuple):
    """One width: ACDM's gaps in units of AP's after 1 projection per block, and what was fitted.

    ``scale`` is the factor on unary and weights, ``smoothing`` the lambda that it makes, and
    ``rms_log_error`` how far the twelve gaps are from the printed ones.
    """

    width: float
    lead_after_1: list[float]
    scale: float | None = None
    smoothing: float | None = None
    rms_log_error: float | None = None


def like_the_paper(
    penguin: Instance,
    comparable: bool,
    step: int,
    seeds: Sequence[int],
    passes: int,
    progress: Progress,
) -> dict[str, Any]:
    """Return the fit of every width, and the gaps of the closest one.

    `step` says that the picture has every step-th pixel.  If it is not `comparable` with the
    paper's, nothing is fitted.
    """
    search = []
    for width in WIDTHS:
        instance = blurred(penguin, width, 1.0, step)
        curves = compare(instance, {k: ALL[k] for k in OURS.values()}, seeds[:1], passes, progress)
        search.append(fit(width, curves, comparable))
    fitted = [one for one in search if one.rms_log_error is not None]
    best = min(fitted, key=lambda one: one.rms_log_error or 0.0, default=Fit(WIDTH, []))
    scale = best.scale or 1.0
    instance = blurred(penguin, best.width, scale, step)
    curves = compare(
        instance, {ACDM_RESTARTED: ALL[ACDM_RESTARTED], **METHODS}, seeds, passes, progress
    )
    return {
        "search": [one._asdict() for one in search],
        "width": best.width, "scale": scale, "smoothing": instance.smoothing,
        "rms_log_error": _root_mean_square(log_errors(curves)) if comparable else None,
        "gaps": {name: curve.numbers() for name, curve in curves.items()},
    }  # fmt: skip


def blurred(penguin: Instance, width: float, scale: float, step: int) -> Instance:
    """Return the penguin with its unary blurred, and unary and weights multiplied by `scale`."""
    unary = require("scipy.ndimage").gaussian_filter(penguin.problem.unary, width / step)
    title = f"{penguin.title}, unary blurred by {width:g}"
    return penguin.changed(title, scale * unary, scale * RATIO / LAMBDA)


def fit(width: float, curves: Mapping[str, Curve], comparable: bool) -> Fit:
    """Fit the factor by least squares of the logarithms.

    With e = log(ours / printed), log c minimises sum (e_s + 2 log c)^2 + sum (e_d + log c)^2.
    """
    first = (np.array(curves[OURS[method]].at(1)) for method in ("ACDM", "AP"))
    lead = np.divide(*first).tolist()
    if not comparable:
        return Fit(width, lead)
    errors, powers = log_errors(curves), np.array([2.0, 1.0])
    log_scale = -float(np.sum(errors * powers) / (len(errors) * np.sum(powers**2)))
    scale = float(np.exp(log_scale))
    left = _root_mean_square(errors + powers * log_scale)
    return Fit(width, lead, scale, scale * RATIO, left)


def _root_mean_square(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def log_errors(curves: Mapping[str, Curve]) -> FloatArray:
    """Return log(ours / printed), shape (6, 2): ACDM and AP after 1, 20 and 100; nu_s and nu_d."""
    rows = [
        np.log(np.array(curves[OURS[method]].at(passes)) / np.array(printed[passes]))
        for method, printed in PRINTED.items()
        for passes in SNAPSHOTS
    ]
    return np.array(rows)

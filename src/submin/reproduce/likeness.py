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
from submin.reproduce.instances import LAMBDA, QUICK_STEP, Instance
from submin.vision.optional import require

WIDTHS = (0.0, 2.5, 5.0, 10.0, 20.0)
"""Standard deviations of the blur, in pixels of the whole photograph."""
RATIO = 30.0
"""Lambda in units of the factor on the unary: 20, 30 and 40 were tried, and 30 is the closest."""
OURS = {"ACDM": ACDM_RESTARTED, "AP": "AP"}
"""Our method beside each of the paper's: its gaps fit those of an ACDM that restarts."""


class Fit(NamedTuple):
    """One width: the fitted factor, and how far the twelve gaps are from the printed ones."""

    width: float
    scale: float
    smoothing: float
    rms_log_error: float


def like_the_paper(
    penguin: Instance, quick: bool, seeds: Sequence[int], passes: int, progress: Progress
) -> dict[str, Any]:
    """Return the fit of every width, the gaps of the closest one, and the instance's numbers."""
    fits, leads = [], []
    for width in WIDTHS:
        instance = blurred(penguin, width, 1.0, quick)
        curves = compare(instance, _methods(OURS.values()), seeds[:1], passes, progress)
        fits.append(fit(width, curves))
        leads.append([_lead(curves, kind) for kind in (0, 1)])
    best = min(fits, key=lambda one: one.rms_log_error)
    instance = blurred(penguin, best.width, best.scale, quick)
    curves = compare(instance, _methods((*OURS.values(), "ACDM", "RCDM")), seeds, passes, progress)
    return {
        "search": [
            {**one._asdict(), "lead_after_1": lead} for one, lead in zip(fits, leads, strict=True)
        ],
        "width": best.width, "scale": best.scale, "smoothing": best.smoothing,
        "rms_log_error": float(np.sqrt(np.mean(np.square(log_errors(curves))))),
        "gaps": {name: curve.numbers() for name, curve in curves.items()},
    }  # fmt: skip


def blurred(penguin: Instance, width: float, scale: float, quick: bool) -> Instance:
    """Return the penguin with its unary blurred, and unary and weights multiplied by `scale`."""
    step = QUICK_STEP if quick else 1
    unary = require("scipy.ndimage").gaussian_filter(penguin.problem.unary, width / step)
    title = f"{penguin.title}, unary blurred by {width:g}"
    return penguin.changed(title, scale * unary, scale * RATIO / LAMBDA)


def fit(width: float, curves: Mapping[str, Curve]) -> Fit:
    """Fit the factor by least squares of the logarithms.

    With e = log(ours / printed), log c minimises sum (e_s + 2 log c)^2 + sum (e_d + log c)^2.
    """
    errors, powers = log_errors(curves), np.array([2.0, 1.0])
    log_scale = -float(np.sum(errors * powers) / np.sum(np.ones_like(errors) * powers**2))
    left = errors + powers * log_scale
    scale = float(np.exp(log_scale))
    return Fit(width, scale, scale * RATIO, float(np.sqrt(np.mean(left**2))))


def log_errors(curves: Mapping[str, Curve]) -> Any:
    """Return log(ours / printed), shape (6, 2): ACDM and AP after 1, 20 and 100; nu_s and nu_d."""
    rows = [
        np.log(np.array(curves[OURS[method]].at(passes)) / np.array(printed[passes]))
        for method, printed in PRINTED.items()
        for passes in SNAPSHOTS
    ]
    return np.array(rows)


def _methods(names: Any) -> dict[str, Any]:
    return {name: {**METHODS, **VARIANTS}[name] for name in names}


def _lead(curves: Mapping[str, Curve], kind: int) -> float:
    """Return ACDM's gap in units of AP's after 1 projection per block: above 1, AP leads."""
    return curves[OURS["ACDM"]].at(1)[kind] / curves["AP"].at(1)[kind]

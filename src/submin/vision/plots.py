"""Plots of how an answer was reached: the gap of a solve, the rounds of a segmentation, a path.

Curves differ in colour (Okabe and Ito's blue and vermilion), line style and marker.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from submin.levels import Path
from submin.solve.result import History
from submin.vision.optional import require
from submin.vision.segmentation import Segmentation

BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#666666"
CLOSED = 1e-9
"""Part of the value below which a gap counts as closed in a plot."""


LEVELS_SHOWN = 200
"""Values of lam at which a path is drawn."""


def convergence_picture(history: History, title: str = "") -> Any:
    """Plot smooth and discrete gap of a solve against passes, on a logarithmic axis.

    Parameters
    ----------
    history : History
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure
        Free of any display: ``figure.savefig(path)`` writes it.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    figure = _figure()
    axes = figure.add_subplot()
    for name, unit, look in (
        ("smooth_gap", "cost squared", {"color": BLUE, "linestyle": "-", "marker": "o"}),
        ("discrete_gap", "cost", {"color": VERMILION, "linestyle": "--", "marker": "s"}),
    ):
        gap = getattr(history, name)
        shown = np.isfinite(gap) & (gap > 0)
        label = f"{name.replace('_', ' ')} ({unit})"
        axes.plot(history.passes[shown], gap[shown], label=label, markersize=3.5, **look)
    axes.set(xlabel="passes", ylabel="gap", title=title)
    if any(np.any(line.get_ydata() > 0) for line in axes.get_lines()):
        axes.set_yscale("log")
    if history and history[-1].value - history[-1].lower_bound <= CLOSED * abs(history[-1].value):
        axes.plot(
            history.passes[-1:], [0.02], "*", color="black", markersize=9, clip_on=False,
            transform=axes.get_xaxis_transform(), label="gap closed",
        )  # fmt: skip
    axes.grid(color=GREY, alpha=0.25)
    axes.legend()
    return figure


def rounds_picture(found: Segmentation, title: str = "") -> Any:
    """Plot the rounds of a segmentation: energy, pixels that changed, and the gap by seconds.

    Parameters
    ----------
    found : Segmentation
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure or None
        Energy and changed pixels of two rounds or more; the gap where a solve was looked at twice
        or more.  None where there is neither: one round, in one step.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    panels = []
    if found.rounds > 1:
        panels.append(["energy", "changed"])
    if any(len(history) > 1 for history in found.histories):
        panels.append(["gap", "gap"])
    if not panels:
        return None
    figure = _figure(height=2.9 * len(panels))
    figure.suptitle(title)
    axes = figure.subplot_mosaic(panels)
    if "energy" in axes:
        _draw_rounds(axes["energy"], axes["changed"], found)
    if "gap" in axes:
        _draw_gaps(axes["gap"], found.histories)
    return figure


def path_picture(path: Path, title: str = "") -> Any:
    """Plot a path: the size of the minimiser and the minimum against lam, and x of a 2-D problem.

    Parameters
    ----------
    path : Path
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    flat = path.x.ndim != 2
    figure = _figure(height=3.4 if flat else 4.8)
    figure.suptitle(title)
    mosaic = [["size", "value"]] if flat else [["x", "size"], ["x", "value"]]
    axes = figure.subplot_mosaic(mosaic, width_ratios=[1.0, 1.0] if flat else [1.5, 1.0])
    _draw_path(axes["size"], axes["value"], path)
    if not flat:
        shown = np.ma.masked_invalid(path.x)
        picture = axes["x"].imshow(shown, cmap="viridis", interpolation="nearest")
        axes["x"].set(xticks=[], yticks=[], title="the lam of each element")
        figure.colorbar(picture, ax=axes["x"], location="bottom", label="lam")
    return figure


def _draw_path(size: Any, value: Any, path: Path) -> None:
    """Draw the number of elements as steps, and the minimum, which is a concave curve."""
    ends = path.breakpoints if len(path) > 1 else np.zeros(1)
    margin = 0.05 * (float(ends[-1] - ends[0]) or 1.0)
    shown = np.linspace(ends[0] - margin, ends[-1] + margin, LEVELS_SHOWN)
    finite = np.sort(path.x[np.isfinite(path.x)].ravel())
    left, always = np.searchsorted(finite, shown, side="right"), int(np.isposinf(path.x).sum())
    leaving = bool(path.minimizer(float(shown[0])).sum() >= path.minimizer(float(shown[-1])).sum())
    counts = (finite.size - left if leaving else left) + always
    size.step(shown, counts, color=BLUE, where="post")
    size.set(xlabel="lam", ylabel="elements in S")
    size.set_ylim(bottom=0.0)
    value.plot(shown, [path.value(float(lam)) for lam in shown], color=VERMILION)
    value.set(xlabel="lam", ylabel="minimum (cost)")
    for axes in (size, value):
        axes.grid(color=GREY, alpha=0.25)


def _draw_rounds(energy: Any, changed: Any, found: Segmentation) -> None:
    """Draw what each round did: a point for its energy, a bar for the pixels it changed."""
    numbers = np.arange(1, found.rounds + 1)
    energy.plot(numbers, found.energies, color=BLUE, marker="o", markersize=4)
    energy.set(xlabel="round", ylabel="energy of the mask (nats)")
    bars = changed.bar(numbers, found.changed, color=VERMILION, width=0.6)
    changed.bar_label(bars, fontsize=8)
    changed.set(xlabel="round", ylabel="pixels that changed")
    changed.set_yscale("symlog", linthresh=1)
    changed.margins(y=0.12)
    energy.grid(color=GREY, alpha=0.25)
    for axes in (energy, changed):
        axes.set_xticks(numbers)
        axes.set_xlim(0.5, found.rounds + 0.5)


def _draw_gaps(axes: Any, histories: tuple[History, ...]) -> None:
    """Draw the gap of each round against the seconds of all solves; closed ones end in a star."""
    floor = CLOSED * max(abs(record.value) for history in histories for record in history) or CLOSED
    start, ends = 0.0, []
    for number, history in enumerate(history for history in histories if history):
        seconds = start + history.seconds
        gap = np.maximum(history.value - history.lower_bound, floor)
        label = None if number else "gap of a round"
        axes.plot(seconds, gap, "-s", color=BLUE, markersize=3.5, label=label)
        start = seconds[-1]
        ends += [start] if gap[-1] == floor else []
    proved = f"closed: proved (drawn at the floor, {floor:.1g})"
    axes.plot(ends, [floor] * len(ends), "*", color="black", markersize=9, label=proved)
    axes.set(xlabel="seconds in the solver", ylabel="gap to the best mask (nats)", yscale="log")
    axes.set_xlim(left=0.0)
    axes.grid(color=GREY, alpha=0.25)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)


def _figure(height: float = 4.2) -> Any:
    return require("matplotlib.figure").Figure(figsize=(7.0, height), layout="constrained")

"""Pictures of the comparison of solvers: relative gap against passes and against seconds."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

import submin as sm

CLOSED = 1e-9
"""A gap this small next to the minimum counts as closed, and is drawn on the lowest line."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
"""Okabe & Ito's palette, safe for the colour-blind, without its yellow."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))


def styles(names: list[str]) -> dict[str, dict[str, Any]]:
    """Give each name a pair of colour and dashes of its own, as long as there are any left."""
    pairs = [(colour, dashes) for dashes in DASHES for colour in COLOURS]
    return {
        name: {"color": colour, "ls": dashes}
        for name, (colour, dashes) in zip(names, cycle(pairs), strict=False)
    }


def relative_gap(result: sm.Result, scale: float) -> np.ndarray:
    """Return best value less best bound, in units of a scale, at all checks until it is closed."""
    gap = (result.history.value - result.history.lower_bound) / scale
    closed = np.flatnonzero(gap <= CLOSED)
    return np.maximum(gap[: closed[0] + 1] if closed.size else gap, CLOSED)


def draw(name: str, results: Mapping[str, sm.Result], path: Path) -> None:
    """Draw one instance: passes on the left, seconds on the right, the best solver first."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.2), sharey=True, layout="constrained")
    scale = abs(min(result.value for result in results.values())) or 1.0
    for axis, times in zip(axes, ("passes", "seconds"), strict=True):
        draw_curves(axis, results, times, scale)
    top = min(100.0, 2.0 * max(float(relative_gap(r, scale)[0]) for r in results.values()))
    axes[0].set(ylabel="gap / |minimum|", ylim=(CLOSED, top), xlim=(0.7, None))
    axes[1].set(xlim=(first_seconds(results), None))
    figure.suptitle(name, x=0.01, ha="left", fontsize=11)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside right center", fontsize=8,
                  frameon=False, handlelength=3.2)  # fmt: skip
    figure.savefig(path, dpi=72)
    plt.close(figure)


def draw_curves(axis: Any, results: Mapping[str, sm.Result], times: str, scale: float) -> None:
    """Draw the gaps over a column of the history: a triangle where one is closed, else a dot."""
    style = styles(list(results))
    for solver in sorted(results, key=lambda key: rank(results[key], scale)):
        result, gap = results[solver], relative_gap(results[solver], scale)
        x = getattr(result.history, times)[: gap.size]
        axis.plot(
            x, gap, lw=1.5, label=f"{type_name(result)}: {outcome(result, scale)}", **style[solver]
        )
        end = "v" if gap[-1] <= CLOSED else "o"
        axis.plot(x[-1], gap[-1], end, ms=5, color=style[solver]["color"], clip_on=False)
    axis.set(xscale="log", yscale="log", xlabel=times)
    axis.grid(alpha=0.25, lw=0.6)
    axis.spines[["top", "right"]].set_visible(False)


def first_seconds(results: Mapping[str, sm.Result]) -> float:
    """Return half the time of the second check of the fastest."""
    return min(float(result.history.seconds[min(1, len(result.history) - 1)]) / 2.0
               for result in results.values())  # fmt: skip


def rank(result: sm.Result, scale: float) -> tuple[float, float]:
    """Order by the last gap, then by the seconds until then."""
    gap = relative_gap(result, scale)
    return float(gap[-1]), float(result.history.seconds[gap.size - 1])


def type_name(result: sm.Result) -> str:
    """Return the solver's name without its settings."""
    return result.solver.partition("(")[0]


def outcome(result: sm.Result, scale: float) -> str:
    """Say when the gap was closed, or what is left of it."""
    last, seconds = rank(result, scale)
    return f"{seconds:.2g} s" if last <= CLOSED else f"gap {last:.0e}"

"""Figures of the report: told apart by colour, line style and marker, readable at page width."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from submin._typing import BoolArray, FloatArray
from submin.reproduce.gaps import SNAPSHOTS, Curve
from submin.reproduce.instances import Instance
from submin.vision.colours import Colours
from submin.vision.optional import require

BLUE, VERMILION, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#8B4A8B", "#666666"
SIZES = {
    "font.size": 11, "axes.titlesize": 12, "axes.labelsize": 11, "legend.fontsize": 10.5,
    "xtick.labelsize": 10, "ytick.labelsize": 10,
}  # fmt: skip


class Look(NamedTuple):
    """Colour, line style and marker of a curve."""

    colour: str
    line: str
    marker: str


LOOKS = {
    "RCDM": Look(BLUE, "--", "s"),
    "ACDM": Look(VERMILION, "-", "o"),
    "AP": Look(GREEN, "-.", "^"),
}
BEYOND_LOOKS = {
    "accelerated sweeps, matchings": Look(BLUE, "--", "s"),
    "cyclic sweeps, chains": Look(GREEN, "-.", "^"),
    "accelerated sweeps, chains": Look(PURPLE, "-", "D"),
}
PRINTED = {
    "ACDM": {1: (1.28e7, 1.3e5), 20: (8.38e6, 8.14e4), 100: (2.9e6, 1.5e4)},
    "AP": {1: (9.98e6, 1.06e5), 20: (8.96e6, 1.05e5), 100: (7.64e6, 8.3e4)},
}
"""nu_s and nu_d that the paper prints below its penguins, by projections per block."""
FADED = 0.3
ZERO = 1e-9
CLOSED = 1e-7
"""Gaps are drawn down to this part of the first one; below it rounding begins."""


def draw(
    instances: Sequence[Instance],
    curves: Mapping[str, Mapping[str, Curve]],
    exact: Mapping[str, BoolArray],
    refitted: BoolArray,
    numbers: Mapping[str, Any],
) -> dict[str, Any]:
    """Return all figures by name, free of any display."""
    with require("matplotlib").rc_context(SIZES):
        penguin = next(one for one in instances if one.key == "penguin")
        return {
            "gaps": gap_figure(instances, curves),
            "segmentations": segmentation_figure(
                penguin, curves["penguin"], exact["penguin"], refitted, numbers
            ),
            "theory": theory_figure(numbers["theory"]),
            "beyond": beyond_figure(instances, curves, numbers["beyond"]),
        }


def _figure(width: float, height: float) -> Any:
    return require("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")


def gap_figure(instances: Sequence[Instance], curves: Mapping[str, Mapping[str, Curve]]) -> Any:
    """Draw the paper's eight panels: the median over the seeds, and a band from least to most."""
    figure = _figure(12.5, 6.6)
    panels = figure.subplots(2, len(instances), sharex=True)
    rows = (("smooth", "smooth gap ν$_s$"), ("discrete", "discrete gap ν$_d$"))
    for row, (name, label) in zip(panels, rows, strict=True):
        for axes, instance in zip(row, instances, strict=True):
            for method, curve in curves[instance.key].items():
                _band(axes, curve.passes, getattr(curve, name), method)
            _logarithmic(axes, [getattr(c, name) for c in curves[instance.key].values()])
        row[0].set_ylabel(label)
    for axes, instance in zip(panels[0], instances, strict=True):
        axes.set_title(instance.title)
    for axes in panels[1]:
        axes.set_xlabel("projections per block")
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def _band(axes: Any, passes: FloatArray, gaps: FloatArray, method: str) -> None:
    look = LOOKS[method]
    axes.fill_between(passes, gaps.min(0), gaps.max(0), color=look.colour, alpha=0.22, linewidth=0)
    axes.plot(
        passes, np.median(gaps, axis=0), look.line, color=look.colour, marker=look.marker,
        markersize=4, markevery=(2, 4), linewidth=1.6, label=method,
    )  # fmt: skip


def _logarithmic(axes: Any, gaps: Iterable[FloatArray]) -> None:
    """Scale the axis from the largest gap down to the smallest, or to where rounding begins."""
    arrays = list(gaps)
    top = max(float(np.max(array)) for array in arrays)
    bottom = max(min(float(np.min(array)) for array in arrays), CLOSED * top)
    axes.set(yscale="log", ylim=(bottom / 2.0, top * 2.0))
    axes.grid(visible=True, which="major", color=GREY, alpha=0.25)


def segmentation_figure(
    instance: Instance,
    curves: Mapping[str, Curve],
    exact: BoolArray,
    refitted: BoolArray,
    numbers: Mapping[str, Any],
) -> Any:
    """Draw level sets after 1, 20 and 100 projections per block, between photograph and answers.

    With the paper's own instance, the values that it prints stand beside ours.
    """
    figure = _figure(15.5, 6.1)
    panels = figure.subplots(2, 2 + len(SNAPSHOTS))
    image = np.zeros(exact.shape) if instance.image is None else instance.image
    segmented = numbers["segmented"]
    _picture(panels[0][0], image, instance.title)
    panels[0][0].set_xlabel("photograph")
    _picture(panels[1][0], image, "exact minimiser", exact)
    panels[1][0].set_xlabel(_overlap("by max-flow", segmented["overlap_exact"]))
    _picture(panels[1][-1], image, "refitted colour models", refitted)
    panels[1][-1].set_xlabel(_overlap("GrabCut, exact cuts", segmented["overlap_refitted"]))
    panels[0][-1].set_axis_off()
    for row, method in zip(panels, ("ACDM", "AP"), strict=True):
        for axes, passes in zip(row[1:-1], SNAPSHOTS, strict=True):
            _picture(axes, image, f"{method} {passes}", curves[method].masks[passes])
            _caption(axes, method, passes, curves[method], numbers["comparable"])
    return figure


def _overlap(words: str, share: float | None) -> str:
    return words if share is None else f"{words}\noverlap with the truth {share:.2f}"


def _picture(
    axes: Any, image: npt.NDArray[Any], title: str, members: BoolArray | None = None
) -> None:
    """Show a photograph; of a set, its pixels as they are, with a line around, the rest faded."""
    picture = Colours.of(image).rgb.copy()
    if members is not None:
        picture[~members] = FADED * picture[~members] + (1.0 - FADED)
    axes.imshow(picture, interpolation="nearest")
    if members is not None and members.any() and not members.all():
        axes.contour(members, levels=[0.5], colors=VERMILION, linewidths=1.0)
    axes.set(xticks=[], yticks=[], title=title)


def _caption(axes: Any, method: str, passes: int, curve: Curve, printed: bool) -> None:
    lines = []
    for sign, ours, paper in zip(
        ("ν$_s$", "ν$_d$"), curve.at(passes), PRINTED[method][passes], strict=True
    ):
        beside = f"   (paper {_scientific(paper)})" if printed else ""
        lines.append(f"{sign} = {_scientific(ours)}{beside}")
    axes.set_xlabel("\n".join(lines))


def _scientific(value: float) -> str:
    if value < ZERO:
        return "0"
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa}·10$^{{{int(exponent)}}}$"


def theory_figure(theory: Mapping[str, Any]) -> Any:
    """Draw bound and measurement of Theorems 2, 4, 6 and 8."""
    figure = _figure(12.5, 8.0)
    panels = figure.subplots(2, 2)
    _draw_condition(panels[0][0], theory["condition"])
    _draw_rates(panels[0][1], theory["contraction"])
    _draw_contraction(panels[1][0], theory["contraction"])
    _draw_epoch(panels[1][1], theory["halving"])
    for axes in panels.ravel():
        axes.grid(visible=True, which="major", color=GREY, alpha=0.25)
        axes.legend()
    return figure


def _draw_condition(axes: Any, cases: Sequence[Mapping[str, Any]]) -> None:
    paths = [case for case in cases if case["name"].startswith("path") and case["interior"]]
    for blocks, label, look in (
        ("functions", "one edge a block, r = n − 1", Look(VERMILION, "-", "o")),
        ("matchings", "two matchings, r = 2", Look(BLUE, "-", "s")),
    ):
        rows = [case for case in paths if case["blocks"] == blocks and case["n"] > 2]
        n = [case["n"] for case in rows]
        axes.plot(n, [c["measured"] for c in rows], look.line, color=look.colour,
                  marker=look.marker, label=f"measured, {label}")  # fmt: skip
        axes.plot(n, [c["bound"] for c in rows], ":", color=look.colour, marker=look.marker,
                  markerfacecolor="white", label=f"bound n r, {label}")  # fmt: skip
    lengths = sorted({case["n"] for case in paths if case["n"] > 2})
    axes.set(xscale="log", yscale="log", ylim=(1.5, 3.0 * max(c["bound"] for c in paths)))
    axes.set_xticks(lengths, [str(n) for n in lengths])
    axes.set_yticks([10, 100, 1000], ["10", "100", "1000"])
    axes.minorticks_off()
    axes.set(xlabel="nodes n of the path", ylabel="κ",
             title="Theorem 2: ‖y − y*‖ / ‖S(y − y*)‖ on paths")  # fmt: skip


def _draw_rates(axes: Any, cases: Sequence[Mapping[str, Any]]) -> None:
    bounds = np.array([1.0 - case["bound"] for case in cases])
    worst = np.array([1.0 - case["worst"] for case in cases])
    mean = np.array([1.0 - case["mean"] for case in cases])
    order = np.argsort(bounds)
    places = np.arange(len(cases))
    for values, look, label in (
        (mean, Look(BLUE, "", "s"), "measured, mean of all iterates"),
        (worst, Look(VERMILION, "", "o"), "measured, worst iterate"),
        (bounds, Look("black", "", "_"), "bound 2 / (n²r² + r)"),
    ):
        axes.plot(places, values[order], look.marker, color=look.colour, label=label,
                  markersize=11 if look.marker == "_" else 6, markeredgewidth=2)  # fmt: skip
    names = [f"{_short(cases[k])}" for k in order]
    axes.set_xticks(places, names, rotation=60, ha="right", fontsize=8.5)
    axes.set(yscale="log", ylabel="part of V lost per iteration",
             title="Theorem 4: V = d² + g − g* under RCDM")  # fmt: skip


def _short(case: Mapping[str, Any]) -> str:
    kind = "path" if case["name"].startswith("path") else "graph"
    return f"{kind}, n={case['n']}, r={case['r']}"


def _draw_contraction(axes: Any, cases: Sequence[Mapping[str, Any]]) -> None:
    case = max(cases, key=lambda one: one["worst"] / one["bound"])
    values = np.maximum(np.array(case["potential"]) / case["potential"][0], 1e-14)
    k = np.arange(values.size)
    axes.semilogy(k, values, "-", color=VERMILION, label="mean of the seeds")
    axes.semilogy(k, case["worst"] ** k, "-.", color=BLUE, label="worst measured factor, to the k")
    axes.semilogy(k, case["bound"] ** k, ":", color="black", linewidth=2,
                  label="Theorem 4, as proved")  # fmt: skip
    axes.set(xlabel="iteration k of RCDM", ylabel="V(y$_k$) / V(y$_0$)",
             title=f"Where Theorem 4 is closest: {_short(case)}")  # fmt: skip


def _draw_epoch(axes: Any, cases: Sequence[Mapping[str, Any]]) -> None:
    case = max(cases, key=lambda one: one["epoch_iterations"])
    gaps, bound = np.array(case["within"]), np.array(case["within_bound"])
    k = np.arange(1, gaps.size + 1)
    axes.loglog(k, np.maximum(gaps / case["start"], 1e-12), "-", color=VERMILION,
                label="mean of the seeds")  # fmt: skip
    axes.loglog(k, bound / case["start"], ":", color="black", linewidth=2, label="Theorem 8")
    axes.loglog([k[-1]], [0.5], "D", color=BLUE, markersize=9,
                label=f"Theorem 6: ½ after {k[-1]} iterations")  # fmt: skip
    axes.set(
        xlabel="iteration k of the first epoch of ACDM",
        ylabel="(g(y$_k$) − g*) / (g(y$_0$) − g*)",
        title=f"Theorems 6 and 8: {_short(case)}",
    )


def beyond_figure(
    instances: Sequence[Instance],
    curves: Mapping[str, Mapping[str, Curve]],
    beyond: Mapping[str, Any],
) -> Any:
    """Draw the discrete gap of the paper's best method and of the library's, pass by pass."""
    figure = _figure(12.5, 3.9)
    panels = figure.subplots(1, len(instances), squeeze=False)[0]
    for axes, instance in zip(panels, instances, strict=True):
        acdm = curves[instance.key]["ACDM"]
        shown = [np.median(acdm.discrete, axis=0)]
        axes.plot(acdm.passes, shown[0], "-", color=VERMILION, marker="o", markersize=4,
                  markevery=(2, 4), label="ACDM, matchings (the paper)")  # fmt: skip
        for name, look in BEYOND_LOOKS.items():
            history = beyond[instance.key][name]["history"]
            gaps = np.maximum(np.array(history["discrete_gap"]), 1e-15)
            axes.plot(history["passes"], gaps, look.line, color=look.colour, marker=look.marker,
                      markersize=4, markevery=(2, 4), label=name)  # fmt: skip
            shown.append(gaps)
        _logarithmic(axes, shown)
        axes.set(title=instance.title, xlabel="projections per block", xlim=(0, acdm.passes[-1]))
    panels[0].set_ylabel("discrete gap ν$_d$")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure

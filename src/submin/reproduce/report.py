"""The report: the rows of its tables; its sentences are in ``report.html.j2``."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from submin.reproduce.beyond import EXACT
from submin.reproduce.claims import at
from submin.reproduce.figures import PRINTED
from submin.reproduce.gaps import ACDM_RESTARTED, SNAPSHOTS, TINY
from submin.reproduce.instances import PUBLIC
from submin.reproduce.verdicts import FAILS, HOLDS, PARTLY
from submin.vision.optional import require

Numbers = Mapping[str, Any]
Rows = list[tuple[object, ...]]

METHODS = ("ACDM", "RCDM", "AP")
SIGNS = ("ν_s", "ν_d")
GAPS_HEAD = [f"{sign} after {k}" for sign in SIGNS for k in SNAPSHOTS]
SOLVED_HEAD = ["instance", "minimum found", "gap", "status", "passes", "seconds"]
MARKS = {HOLDS: "✓", FAILS: "✗"}


def page(numbers: Numbers, images: Mapping[str, bytes]) -> str:
    """Return the page as HTML, which needs no other file.

    Parameters
    ----------
    numbers : dict
        What ``reproduce`` returns.
    images : dict of str to bytes
        The figures by name, as PNG.

    Raises
    ------
    ImportError
        If Jinja2 is not installed.
    """
    pictures = {name: b64encode(image).decode("ascii") for name, image in images.items()}
    text: str = template().render(
        numbers, images=pictures, tables=tables(numbers), judged=judged(numbers["claims"]),
        public=numbers["data"] == PUBLIC, penguin=numbers["instances"]["penguin"]["title"],
        leads=where_ap_leads(numbers["likeness"]["search"]), variants_head=_variants(numbers),
    )  # fmt: skip
    return text


@cache
def template() -> Any:
    """Return the template of the page."""
    jinja = require("jinja2")
    environment = jinja.Environment(
        loader=jinja.FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=jinja.StrictUndefined, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters["number"] = number
    environment.globals |= {
        "exact": EXACT, "gaps_head": GAPS_HEAD, "solved_head": SOLVED_HEAD, "marks": MARKS,
    }  # fmt: skip
    return environment.get_template("report.html.j2")


def number(value: float | None, digits: int = 3) -> str:
    """Return a number for a table cell; gaps that rounding took below zero are zero."""
    if value == TINY:
        return "0"
    return "–" if value is None else f"{value:.{digits}g}"


def judged(claims: Sequence[Numbers]) -> dict[str, Any]:
    """Count the claims that are judged and that hold, and name the others."""
    verdicts = [claim for claim in claims if claim["verdict"] in (HOLDS, PARTLY, FAILS)]
    others = [
        f"{claim['where']} ({claim['verdict']})" for claim in verdicts if claim["verdict"] != HOLDS
    ]
    return {"all": len(verdicts), "held": len(verdicts) - len(others), "others": others}


def where_ap_leads(search: Sequence[Numbers]) -> str:
    """Say at which widths of the blur AP leads in both gaps."""
    leads = [f"{one['width']:g}" for one in search if min(one["lead_after_1"]) > 1.0]
    if len(leads) in (0, len(search)):
        return f"{'every' if leads else 'no'} σ"
    return f"σ = {', '.join(leads)}, and at no other"


def tables(numbers: Numbers) -> dict[str, Rows]:
    """Return the rows of all tables, by the names that the template has for them."""
    theory, found = numbers["theory"], numbers["superpixels"]
    return {
        "instances": _instances(numbers),
        "gaps": _gaps(numbers),
        "blurs": _blurs(numbers["likeness"]["search"]),
        "likeness": _likeness(numbers),
        "contraction": _contraction(theory),
        "misprint": _misprint(theory["misprint"]),
        "beyond": _beyond(numbers),
        "superpixels": superpixels(found, numbers["comparable"]),
        "approximate": approximate(found) if numbers["comparable"] else [],
        "smoothing": _smoothing(numbers),
        "variants": [
            (_title(numbers, key), *(number(one["discrete_gap"]) for one in variants.values()))
            for key, variants in numbers["variants"].items()
        ],
    }


def _title(numbers: Numbers, key: str) -> str:
    title: str = numbers["instances"][key]["title"]
    return title


def _instances(numbers: Numbers) -> Rows:
    return [
        (
            one["title"],
            one["source"],
            " × ".join(map(str, one["shape"])),
            one["connectivity"],
            one["matchings"],
            f"{one['edges']:,}",
            number(one["smoothing"]),
        )
        for one in numbers["instances"].values()
    ]


def _gaps(numbers: Numbers) -> Rows:
    return [
        (_title(numbers, key), method, *_six(gaps, method))
        for key, gaps in numbers["gaps"].items()
        for method in gaps
    ]


def _six(gaps: Numbers, method: str) -> list[str]:
    """Return smooth and discrete gaps after 1, 20 and 100 as cells."""
    kinds = ("smooth_gap", "discrete_gap")
    return [number(at(gaps, method, kind, k)) for kind in kinds for k in SNAPSHOTS]


def _blurs(search: Sequence[Numbers]) -> Rows:
    return [
        (
            f"{one['width']:g}",
            *(f"{lead:.2f}" for lead in one["lead_after_1"]),
            *(number(one[name]) for name in ("scale", "smoothing", "rms_log_error")),
        )
        for one in search
    ]


def _likeness(numbers: Numbers) -> Rows:
    """Return the gaps with a blurred unary, and those that the paper prints."""
    gaps = numbers["likeness"]["gaps"]
    rows: Rows = [(name, *_six(gaps, name)) for name in (ACDM_RESTARTED, *METHODS)]
    if numbers["comparable"]:
        rows += [
            (
                f"{method}, printed in the paper",
                *(number(printed[k][kind]) for kind in (0, 1) for k in SNAPSHOTS),
            )
            for method, printed in PRINTED.items()
        ]
    return rows


def _contraction(theory: Numbers) -> Rows:
    return [
        (
            case["name"],
            case["r"],
            number(case["bound"], 6),
            number(case["worst"], 6),
            number(case["mean"], 4),
            number(half["worst"], 2),
            half["epoch_iterations"],
            half["half_after"],
        )
        for case, half in zip(theory["contraction"], theory["halving"], strict=True)
    ]


def _misprint(cases: Sequence[Numbers]) -> Rows:
    """Return the paths that refute Theorem 4 as printed, beside one that does not."""
    return [
        (
            case["name"],
            *(number(case[name], 5) for name in ("bound", "as_printed", "as_proved")),
            "no" if case["as_printed"] > case["bound"] else "yes",
        )
        for case in cases
    ]


def _beyond(numbers: Numbers) -> Rows:
    rows: Rows = []
    for key, found in numbers["beyond"].items():
        title = _title(numbers, key)
        acdm = number(at(numbers["gaps"][key], "ACDM", "discrete_gap", 100))
        rows.append((title, "ACDM, matchings (the paper)", 100, "", "", acdm, "", "STOPPED"))
        rows += [
            (
                title,
                name,
                number(one["passes"], 4),
                number(one["seconds"], 2),
                f"{one['value']:.4f}",
                number(one["gap"], 2),
                number(one["rounding"], 2),
                one["status"],
            )
            for name, one in found.items()
        ]
    return rows


def superpixels(found: Numbers, comparable: bool) -> Rows:
    """Return what was found with superpixels, beside what is published if it is comparable."""
    return [
        (
            key,
            f"{one['value']:.6f}",
            number(one["gap"], 2),
            one["status"],
            number(one["passes"], 4),
            number(one["seconds"], 2),
            *(_published(one) if comparable else ()),
        )
        for key, one in found.items()
    ]


def _published(one: Numbers) -> tuple[str, str, str]:
    return (
        f"{one['published_value']:.6f}",
        number(one["published_exact_seconds"], 4),
        f"{one['published_arcs'] / 1e6:.0f} million",
    )


def approximate(found: Numbers) -> Rows:
    """Return when our best set is as close as a published approximate one."""
    return [
        (
            key,
            number(step["relative_error"], 2),
            number(step["published_seconds"]),
            number(step["seconds"], 2),
            number(step["passes"]),
        )
        for key, one in found.items()
        for step in one["approximate"]
    ]


def _smoothing(numbers: Numbers) -> Rows:
    return [
        (
            _title(numbers, row["instance"]),
            number(row["smoothing"]),
            *(number(row["gaps"][method][k]) for k in (0, 1) for method in METHODS),
            _ordered([[row["gaps"][method][k] for method in METHODS] for k in (0, 1)]),
        )
        for row in numbers["smoothing"]
    ]


def _ordered(kinds: Sequence[Sequence[float]]) -> str:
    """Say in which of the two gaps ACDM < RCDM < AP."""
    good = [acdm < rcdm < ap for acdm, rcdm, ap in kinds]
    return "in both" if all(good) else "in none" if not any(good) else f"in {SIGNS[good[1]]}"


def _variants(numbers: Numbers) -> list[str]:
    return list(next(iter(numbers["variants"].values())))

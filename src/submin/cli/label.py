"""``submin label``: a photograph divided among several objects, with a proven bound."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from submin.cli import console, report
from submin.cli.options import Json, Quiet, Seed, Threads, TimeLimit, limits
from submin.cli.segment import in_memory, require_packages

if TYPE_CHECKING:
    from submin.vision import LabelSegmentation

LABELS, MANY_LABELS, PICTURE = "labels.png", "labels.tif", "overlay.png"
"""Labels beyond 255 go to TIFF."""
MOST_COLOURS = 32

Colours = dict[int, list[int]]
"""The colour of each label's strokes; none for grey pictures of numbers."""


def label(
    photo: Annotated[Path, typer.Argument(help="Any image that Pillow reads, or a deep TIFF.")],
    scribbles: Annotated[
        Path,
        typer.Option(
            help="Picture of strokes: a colour for each object, black or transparent elsewhere; or "
            "a grey one, whose numbers are the labels."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the pictures.")] = Path(
        "labelled"
    ),
    smoothness: Annotated[
        float, typer.Option(help="Cost of a boundary per pixel where neighbours look alike.")
    ] = 50.0,
    connectivity: Annotated[int, typer.Option(help="Neighbours of a pixel, 4 or 8.")] = 8,
    components: Annotated[int, typer.Option(help="Gaussians in each colour model.")] = 5,
    gap: Annotated[
        float, typer.Option(help="Stop when the energy is proved to be within this part of it.")
    ] = 0.005,
    time_limit: TimeLimit = None,
    threads: Threads = 0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Divide a photograph among several objects that strokes mark, with a proven bound.

    labels.png holds a number for each pixel (labels.tif, if there are numbers above 255), and
    overlay.png shows them.  The table says which number a colour of the strokes has.
    Ctrl-C ends the work, not the answer: the best labels so far are written, with exit code 130.
    """
    with console.command():
        require_packages()
        limits(0.0, None, time_limit)
        console.require_writable_folder(output, [LABELS, MANY_LABELS, PICTURE])
        image, (seeds, colours) = read_image(photo), read_strokes(scribbles)
        settings = {
            "smoothness": smoothness, "connectivity": connectivity, "components": components,
            "relative_tol": gap, "time_limit": time_limit,
            "threads": threads, "seed": seed,
        }  # fmt: skip
        with in_memory(image, "labelling"):
            found = labelled(image, seeds, settings, quiet)
            with console.finishing() as ending:
                files = write_files(output, image, found)
                if json:
                    console.print_json(labelling_fields(found, colours, files))
                elif not quiet:
                    rows = labelling_rows(found, colours, files)
                    console.print_rows(f"submin label {photo}", rows)
                console.end(found.result, ending)


def read_image(photo: Path) -> Any:
    """Read the photograph."""
    from submin import vision

    with console.reading(photo):
        return vision.read_photograph(photo)


def read_strokes(path: Path) -> tuple[Any, Colours]:
    """Return the labels of strokes, and their colours.

    Labels are grey numbers, or number the colours in the order of their values.
    """
    import numpy as np

    from submin import vision

    with console.reading(path):
        picture = vision.read_photograph(path)
    if picture.ndim == 2:
        return picture.astype(np.int64) if picture.dtype != np.bool_ else picture * 1, {}
    opaque = picture[:, :, -1] > 0 if picture.shape[2] in (2, 4) else np.True_
    colours = picture[:, :, : 3 if picture.shape[2] >= 3 else 1]
    marked = opaque & colours.any(axis=2)
    distinct, numbers = np.unique(colours[marked], axis=0, return_inverse=True)
    if len(distinct) > MOST_COLOURS:
        raise console.RefusalError(
            f"{path} has {len(distinct)} colours, and each would be an object: save the strokes "
            "as PNG, without soft edges, each object in one colour on black, or as a grey picture "
            "of numbers"
        )
    seeds = np.zeros(marked.shape, dtype=np.int64)
    seeds[marked] = numbers.ravel() + 1
    return seeds, {k + 1: colour for k, colour in enumerate(distinct.tolist())}


def labelled(image: Any, seeds: Any, settings: dict[str, Any], quiet: bool) -> LabelSegmentation:
    """Label with live progress."""
    from submin.vision import segment_labels

    with console.user_input():
        return segment_labels(image, seeds, progress=not quiet, **settings)


def write_files(folder: Path, image: Any, found: LabelSegmentation) -> dict[str, Path]:
    """Write the labels, and a picture of them."""
    import numpy as np

    from submin.vision import labels_picture, save_picture

    name, kind = (LABELS, np.uint8) if max(found.values) < 256 else (MANY_LABELS, np.uint32)
    files = {"labels": folder / name, "overlay": folder / PICTURE}
    with console.user_input():
        folder.mkdir(parents=True, exist_ok=True)
        save_picture(np.maximum(found.labels, 0).astype(kind), files["labels"])
        save_picture(labels_picture(image, found.labels), files["overlay"])
    return files


def proof(found: LabelSegmentation) -> str:
    """Say in plain words what is proved."""
    result = found.result
    if result.gap <= 0.0:
        return "Proved: no labels have less energy under these colour models."
    part = result.gap / abs(result.value) if result.value else inf
    return (
        f"Proved: no labels have an energy that is lower by more than {result.gap:.3g} "
        f"({part:.2%}) under these colour models."
    )


def labelling_rows(
    found: LabelSegmentation, colours: Colours, files: dict[str, Path]
) -> console.Rows:
    """Return the closing table."""
    result = found.result
    return [
        *((f"label {value}", described(found, value, colours)) for value in found.values),
        ("energy", report.number(result.value)),
        ("gap", f"{result.gap:.3g}"),
        ("status", result.status.name + (" (interrupted)" if result.interrupted else "")),
        ("proof", proof(found)),
        ("passes", str(result.passes)),
        ("seconds", f"{result.history[-1].seconds:.3g}"),
        *((name, str(path)) for name, path in files.items()),
    ]


def described(found: LabelSegmentation, value: int, colours: Colours) -> str:
    """Say how many pixels have a label, and which colour its strokes have."""
    stroke = f"strokes of colour {tuple(colours[value])}, " if value in colours else ""
    return f"{stroke}{int((found.labels == value).sum()):,} pixels"


def labelling_fields(
    found: LabelSegmentation, colours: Colours, files: dict[str, Path]
) -> dict[str, Any]:
    """Return the JSON fields."""
    from submin import __version__

    result = found.result
    return {
        "command": "label",
        "version": __version__,
        "labels": list(found.values),
        "colours": [colours.get(value) for value in found.values],
        "pixels": [int((found.labels == value).sum()) for value in found.values],
        "energy": result.value,
        "lower_bound": result.lower_bound,
        "gap": result.gap,
        "status": result.status.name,
        "interrupted": result.interrupted,
        "proof": proof(found),
        "shape": list(found.labels.shape),
        "passes": result.passes,
        "seconds": result.history[-1].seconds,
        "files": {name: str(path) for name, path in files.items()},
    }

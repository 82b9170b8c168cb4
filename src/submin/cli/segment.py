"""``submin segment``: from a photograph or a volume to a mask, with a proof of optimality."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from submin.cli import console, report, volume
from submin.cli.options import (
    Json,
    MaxPasses,
    Quiet,
    Seed,
    SolverName,
    Threads,
    TimeLimit,
    Tolerance,
    chosen_solver,
    limits,
)
from submin.cli.solve import save

if TYPE_CHECKING:
    from submin.vision import Segmentation

RESULT = "result.npz"


def segment(
    photo: Annotated[
        Path | None,
        typer.Argument(
            help="Any image that Pillow reads, a deep TIFF; or a volume: NIfTI, a TIFF stack."
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the pictures and result.npz.")
    ] = Path("segmentation"),
    box: Annotated[
        str | None, typer.Option(metavar="X1,Y1,X2,Y2", help="A box around the whole object.")
    ] = None,
    scribbles: Annotated[
        Path | None,
        typer.Option(
            help="Picture: red background, white object, black unmarked; or a volume of 1, 2, 0."
        ),
    ] = None,
    mask: Annotated[
        Path | None, typer.Option(help="Picture of a first guess: white object on black.")
    ] = None,
    sample: Annotated[
        str | None, typer.Option(help="A photograph with a box: astronaut, cat, coffee, ...")
    ] = None,
    smoothness: Annotated[
        float | None,
        typer.Option(
            help="Cost of a boundary per pixel where neighbours look alike; 50, in a volume 10."
        ),
    ] = None,
    connectivity: Annotated[
        int | None,
        typer.Option(
            help="Neighbours of a pixel, 4 or 8 (default); in a volume 6 (default) or 26."
        ),
    ] = None,
    components: Annotated[int, typer.Option(help="Gaussians in each colour model.")] = 5,
    superpixels: Annotated[
        int, typer.Option(help="Superpixels that are kept together; 0 for none.")
    ] = 0,
    superpixel_weight: Annotated[
        float, typer.Option(help="Cost of each pixel that leaves its superpixel.")
    ] = 1.0,
    rounds: Annotated[int, typer.Option(help="Largest number of colour models to fit.")] = 10,
    whole: Annotated[
        bool, typer.Option("--whole", help="Solve all of a volume, not what scribbles reach.")
    ] = False,
    spacing: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help="Sizes of a voxel, in place of those of the file."),
    ] = None,
    solver: SolverName = "auto",
    tol: Tolerance = 0.0,
    max_passes: MaxPasses = None,
    time_limit: TimeLimit = None,
    threads: Threads = 0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Cut an object out of a photograph or a volume, and prove how good the cut is.

    Mark the object with a box, scribbles or a mask (they combine), or try a sample photograph. In
    a volume, scribbles are a file of the same size: 1 on the background, 2 on the object, else 0.
    Ctrl-C ends the work, not the answer: the best mask so far is written, with exit code 130.
    """
    with console.command():
        require_packages()
        common: dict[str, Any] = {
            "components": components, "threads": threads, "seed": seed,
            **({} if smoothness is None else {"smoothness": smoothness}),
            **({} if connectivity is None else {"connectivity": connectivity}),
        }  # fmt: skip
        if photo is not None and volume.is_one(photo):
            volume.refuse_others(photo, {
                "--box": box, "--mask": mask, "--sample": sample, "--superpixels": superpixels,
                "--rounds": rounds != 10, "--solver": solver != "auto", "--tol": tol,
                "--max-passes": max_passes,
            })  # fmt: skip
            limits(tol, max_passes, time_limit)
            settings = {**common, "whole": whole, "time_limit": time_limit}
            volume.segment(photo, scribbles, spacing, output, settings, json, quiet)
            return
        if whole or spacing is not None:
            raise console.RefusalError("--whole and --spacing are about volumes alone")
        console.require_writable_folder(output, file_names())
        image, default_box = read_image(photo, sample)
        marks = read_marks(box, scribbles, mask) or {"box": default_box}
        settings = {
            **common, "superpixels": superpixels, "superpixel_weight": superpixel_weight,
            "max_rounds": rounds, "solver": chosen_solver(solver, seed),
            **limits(tol, max_passes, time_limit),
        }  # fmt: skip
        with in_memory(image):
            found = segmented(image, {**marks, **settings}, quiet)
            with console.finishing() as ending:
                files = write_files(output, image, found)
                if json:
                    console.print_json(segmentation_fields(found, files))
                elif not quiet:
                    rows = segmentation_rows(found, files)
                    console.print_rows(f"submin segment {photo or sample}", rows)
                console.end(found.result, ending)


def require_packages() -> None:
    """Refuse to begin without the packages that the pictures will need in the end."""
    from submin.vision.optional import PACKAGES, require

    with console.user_input():
        for package in PACKAGES:
            require(package)


def file_names() -> list[str]:
    """Return the names of the files in the output folder."""
    from submin.vision.pictures import PICTURES

    return [f"{name}.png" for name in PICTURES] + [RESULT]


@contextmanager
def in_memory(image: Any, work: str = "segmentation") -> Iterator[None]:
    """Refuse a picture that does not fit into memory with the work on it."""
    try:
        yield
    except MemoryError:
        height, width = image.shape[:2]
        raise console.RefusalError(
            f"the {work} of {width} x {height} pixels does not fit into memory: scale the "
            "picture down"
        ) from None


def read_image(photo: Path | None, sample: str | None) -> tuple[Any, Any]:
    """Read the photograph, or a sample with its box."""
    from submin import vision

    if photo is not None and sample is not None:
        raise console.RefusalError(f"both {photo} and the sample {sample} are given: take one")
    if photo is not None:
        with console.reading(photo):
            return vision.read_photograph(photo), None
    with console.user_input():
        if sample is None:
            names = ", ".join(vision.SAMPLES)
            raise ValueError(f"no photograph is given: name a file, or --sample {names}")
        chosen = vision.sample(sample)
        return chosen.image(), chosen.box


def read_marks(box: str | None, scribbles: Path | None, mask: Path | None) -> dict[str, Any]:
    """Read what marks the object, of what is given."""
    from submin import vision

    marks: dict[str, Any] = {}
    if box is not None:
        marks["box"] = _corners(box)
    if scribbles is not None:
        with console.reading(scribbles):
            marks["scribbles"] = vision.read_photograph(scribbles)
    if mask is not None:
        with console.reading(mask):
            marks["mask"] = vision.read_photograph(mask)
    return marks


def _corners(box: str) -> tuple[int, ...]:
    try:
        x1, y1, x2, y2 = (int(part) for part in box.split(","))
    except ValueError:
        raise console.RefusalError(
            f"--box {box!r} must be four whole numbers X1,Y1,X2,Y2, such as 40,20,300,240"
        ) from None
    return x1, y1, x2, y2


def segmented(image: Any, settings: dict[str, Any], quiet: bool) -> Segmentation:
    """Segment with live progress."""
    from submin.vision import segment as segment_image

    with console.solving() as begun:
        return segment_image(image, progress=not quiet, callback=begun, **settings)


def write_files(folder: Path, image: Any, found: Segmentation) -> dict[str, Path]:
    """Write the result with its problem, and then the pictures."""
    from submin.vision import write_pictures

    with console.user_input():
        folder.mkdir(parents=True, exist_ok=True)
        result = save(found.result, found.problem, folder / RESULT)
        return {**write_pictures(folder, image, found), "result": result}


def segmentation_rows(found: Segmentation, files: dict[str, Path]) -> console.Rows:
    """Return the closing table: that of the last round, with rounds, passes and seconds of all."""
    ending = (
        ", until nothing changed"
        if found.settled
        else (f", up to a limit: the last one changed {found.changed[-1]:,} pixels")
    )
    own = {"passes": f"{found.passes:.6g}", "seconds": f"{found.seconds:.3g}"}
    rows = [(name, own.get(name, value)) for name, value in report.result_rows(found.result, files)]
    rows.insert([name for name, _ in rows].index("passes"), ("rounds", f"{found.rounds}{ending}"))
    return rows


def segmentation_fields(found: Segmentation, files: dict[str, Path]) -> dict[str, Any]:
    """Return the JSON fields: those of the last round, with rounds, passes and seconds of all."""
    return {
        **report.result_fields("segment", found.result, files),
        "passes": found.passes,
        "projections": found.projections,
        "seconds": found.seconds,
        "rounds": found.rounds,
        "energies": list(found.energies),
        "settled": found.settled,
    }

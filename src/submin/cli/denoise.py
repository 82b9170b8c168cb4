"""``submin denoise``: total-variation denoising of a photograph, with a proof of how good it is."""

from __future__ import annotations

import time
from collections.abc import Mapping
from math import fsum, inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from submin.cli import console, report
from submin.cli.options import Json, Quiet, Threads, TimeLimit, limits
from submin.cli.segment import in_memory, require_packages

if TYPE_CHECKING:
    from submin.solve.result import Result

COMPARISON = "comparison.png"


def denoise(
    photo: Annotated[Path, typer.Argument(help="Any image that Pillow reads, or a deep TIFF.")],
    weight: Annotated[
        float,
        typer.Option(
            help="Weight of the total variation, in units of the pixels (0 to 255, say): 0.6 of "
            "the noise's standard deviation is a start."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the pictures.")] = Path(
        "denoised"
    ),
    connectivity: Annotated[int, typer.Option(help="Neighbours of a pixel, 4 or 8.")] = 4,
    time_limit: TimeLimit = None,
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Denoise a photograph by total variation, and prove how good the answer is.

    Each colour by itself becomes the picture with the least sum of (change of a pixel)^2 / 2 plus
    weight times the differences between neighbours, over their distance. Opacity is kept, and
    pixels that are wholly transparent do not take part.
    Ctrl-C ends the work, not the answer: the best picture so far is written, with exit code 130.
    """
    with console.command():
        require_packages()
        limits(0.0, None, time_limit)
        image = read_image(photo)
        names = [denoised_name(image), COMPARISON]
        console.require_writable_folder(output, names)
        with in_memory(image, "denoising"):
            found = denoised(
                image, weight, connectivity, inf if time_limit is None else time_limit, threads,
                quiet,
            )  # fmt: skip
            with console.finishing() as ending:
                files = write_files(output, image, found.image)
                if json:
                    console.print_json(denoising_fields(found, files))
                elif not quiet:
                    console.print_rows(f"submin denoise {photo}", denoising_rows(found, files))
                console.end(found.last, ending)


class Denoised(NamedTuple):
    """A picture of float64, and the results of its colours."""

    image: Any
    results: list[Result]
    objective: float
    seconds: float

    @property
    def gap(self) -> float:
        """No picture has an objective that is lower by more."""
        return fsum(result.smooth_gap for result in self.results)

    @property
    def last(self) -> Result:
        """The result that Ctrl-C ended, or else the last one."""
        return next((one for one in self.results if one.interrupted), self.results[-1])

    @property
    def status(self) -> str:
        """The least that was proved of any colour."""
        names = [result.status.name for result in self.results]
        return next((name for name in ("STOPPED", "CONVERGED") if name in names), names[0])


def read_image(photo: Path) -> Any:
    """Read the photograph; black and white become 0 and 255."""
    import numpy as np

    from submin import vision

    with console.reading(photo):
        image = vision.read_photograph(photo)
        return image if image.dtype != np.bool_ else image.astype(np.uint8) * np.uint8(255)


def denoised_name(image: Any) -> str:
    """Return the name of the file that holds pixels of that type."""
    return f"denoised.{'png' if image.dtype == 'uint8' else 'tif'}"


def colours(image: Any) -> Any:
    """Return a view of the colour channels, shape (H, W, 1 or 3), without opacity."""
    pixels = image if image.ndim == 3 else image[:, :, None]
    return pixels[:, :, : 3 if pixels.shape[2] >= 3 else 1]


def denoised(
    image: Any, weight: float, connectivity: int, limit: float, threads: int, quiet: bool
) -> Denoised:
    """Solve each colour with live progress; after Ctrl-C the others in no time."""
    import numpy as np

    from submin.solve.api import prox
    from submin.vision import tv_problem

    started, objective = time.perf_counter(), 0.0
    results: list[Result] = []
    out = image.astype(np.float64)
    opaque = image[:, :, -1] > 0 if image.ndim == 3 and image.shape[2] in (2, 4) else None
    for channel in np.moveaxis(colours(out), 2, 0):
        with console.user_input():
            problem = tv_problem(channel, weight, connectivity=connectivity, mask=opaque)
        over = any(result.interrupted for result in results)
        left = 0.0 if over else max(0.0, limit - (time.perf_counter() - started))
        with console.solving() as begun:
            result = prox(
                problem, threads=threads, time_limit=left, progress=not quiet, callback=begun
            )
        assert result.point is not None
        objective += result.point.value + 0.5 * float(np.sum(np.square(problem.unary)))
        channel[...] = result.x if opaque is None else np.where(opaque, result.x, channel)
        results.append(result)
    return Denoised(out, results, objective, time.perf_counter() - started)


def write_files(folder: Path, image: Any, exact: Any) -> dict[str, Path]:
    """Write the picture in the type of the photograph, and before, after and difference."""
    import numpy as np

    from submin.vision import comparison_picture, save_picture

    picture = (np.rint(exact) if image.dtype.kind in "iu" else exact).astype(image.dtype)
    files = {"denoised": folder / denoised_name(image), "comparison": folder / COMPARISON}
    with console.user_input():
        folder.mkdir(parents=True, exist_ok=True)
        save_picture(picture, files["denoised"])
        save_picture(comparison_picture(colours(image), colours(picture)), files["comparison"])
    return files


def proof(found: Denoised) -> str:
    """Say in plain words what is proved of the pixels before they are rounded for the file."""
    proved = f"Proved: no picture has an objective that is lower by more than {found.gap:.3g}"
    sentence = f"{proved}, but for the rounding of pixels in the file."
    if found.status != "STOPPED":
        return sentence
    return f"Not finished: the picture is the best so far. {sentence}"


def denoising_rows(found: Denoised, files: Mapping[str, Path]) -> console.Rows:
    """Return the closing table."""
    return [
        ("objective", report.number(found.objective)),
        ("gap", f"{found.gap:.3g}"),
        ("status", found.status + (" (interrupted)" if found.last.interrupted else "")),
        ("proof", proof(found)),
        ("solver", found.last.solver),
        ("seconds", f"{found.seconds:.3g}"),
        *((name, str(path)) for name, path in files.items()),
    ]


def denoising_fields(found: Denoised, files: Mapping[str, Path]) -> dict[str, Any]:
    """Return the JSON fields."""
    from submin import __version__

    return {
        "command": "denoise",
        "version": __version__,
        "objective": found.objective,
        "gap": found.gap,
        "status": found.status,
        "interrupted": found.last.interrupted,
        "proof": proof(found),
        "shape": list(found.image.shape),
        "solver": found.last.solver,
        "seconds": found.seconds,
        "files": {name: str(path) for name, path in files.items()},
    }

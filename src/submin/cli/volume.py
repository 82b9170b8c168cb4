"""What ``submin segment`` does with a volume: NIfTI or a TIFF stack, marked by scribbles."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from submin.cli import console, report
from submin.cli.solve import save

if TYPE_CHECKING:
    from submin.volumes import Volume, VolumeSegmentation

RESULT, SLICES = "result.npz", "slices.png"


def is_one(path: Path) -> bool:
    """Say whether a file is to be read as a volume."""
    from submin.volumes import holds_volume

    with console.reading(path):
        return holds_volume(path)


def refuse_others(path: Path, options: Mapping[str, object]) -> None:
    """Refuse options that are about photographs."""
    for name, value in options.items():
        if value:
            raise console.RefusalError(
                f"{path} is a volume, and {name} is about photographs: mark a volume by --scribbles"
            )


def segment(
    path: Path,
    scribbles: Path | None,
    spacing: str | None,
    output: Path,
    settings: dict[str, Any],
    json: bool,
    quiet: bool,
) -> None:
    """Read a volume and its scribbles, cut the object out, and write what was found."""
    if scribbles is None:
        raise console.RefusalError(
            "nothing marks the object: --scribbles FILE, a volume of the same size, holds 1 on the "
            "background, 2 on the object"
        )
    mask = "mask.nii.gz" if path.name.lower().endswith((".nii", ".nii.gz")) else "mask.tif"
    console.require_writable_folder(output, [mask, RESULT, SLICES])
    volume, marks = read(path), read_scribbles(scribbles)
    sizes = _spacing(spacing) or volume.spacing
    try:
        found = segmented(volume, marks, {**settings, "spacing": sizes}, quiet)
    except MemoryError:
        raise console.RefusalError(
            f"the segmentation of {volume.voxels.size} voxels does not fit into memory: crop them, "
            "or scale them down"
        ) from None
    with console.finishing() as ending:
        files = write_files(output, mask, volume, found, sizes)
        if json:
            console.print_json(fields(found, sizes, files))
        elif not quiet:
            console.print_rows(f"submin segment {path}", rows(found, sizes, files))
        console.end(found.result, ending)


def read(path: Path) -> Volume:
    """Read a volume."""
    from submin.volumes import read_volume

    with console.reading(path):
        return read_volume(path)


def read_scribbles(path: Path) -> Any:
    """Read scribbles as integers: other programs store them as floats, too."""
    import numpy as np

    voxels = read(path).voxels
    if voxels.dtype.kind != "f":
        return voxels.astype(np.int64)
    numbers = np.nan_to_num(voxels, nan=0.5, posinf=0.5, neginf=0.5)
    if (numbers != np.rint(numbers)).any():
        raise console.RefusalError(f"{path} holds numbers that are not whole, and no labels")
    return numbers.astype(np.int64)


def _spacing(text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        first, second, third = (float(part) for part in text.split(","))
    except ValueError:
        raise console.RefusalError(
            f"--spacing {text!r} must be three numbers, such as 1,1,2.5"
        ) from None
    return first, second, third


def segmented(
    volume: Volume, marks: Any, settings: dict[str, Any], quiet: bool
) -> VolumeSegmentation:
    """Segment with live progress."""
    from submin.volumes import segment_volume

    with console.solving() as begun:
        return segment_volume(volume.voxels, marks, progress=not quiet, callback=begun, **settings)


def write_files(
    folder: Path,
    mask: str,
    volume: Volume,
    found: VolumeSegmentation,
    spacing: tuple[float, ...] | None,
) -> dict[str, Path]:
    """Write the mask like the volume, the result with its problem, and a picture."""
    from submin.vision import save_picture
    from submin.volumes import slices_picture

    files = {"mask": folder / mask, "result": folder / RESULT, "slices": folder / SLICES}
    with console.user_input():
        folder.mkdir(parents=True, exist_ok=True)
        save(found.result, found.problem, files["result"])
        volume.save(files["mask"], found.mask)
        picture = slices_picture(volume.voxels, found.mask, spacing, volume.quarter_turns)
        save_picture(picture, files["slices"])
    return files


def part(found: VolumeSegmentation) -> str:
    """Say which part of the volume was solved, and what that leaves open."""
    if found.whole:
        return "the whole volume"
    ranges = ", ".join(f"{own.start}:{own.stop}" for own in found.box)
    inside = f"[{ranges}] of {' x '.join(map(str, found.mask.shape))}"
    if found.beyond == 0.0:
        return f"{inside}; proved: the whole volume has the same answer"
    if found.beyond == float("inf"):
        return f"{inside}, and the solve was stopped before it was large enough"
    return (
        f"{inside}: the best mask in there. One that reaches beyond may cost less, by "
        f"{found.beyond:.3g} at most; --whole decides"
    )


def rows(
    found: VolumeSegmentation, spacing: tuple[float, ...] | None, files: dict[str, Path]
) -> console.Rows:
    """Return the closing table."""
    own = report.result_rows(found.result, files)
    place = [name for name, _ in own].index("elements in S")
    known = " x ".join(f"{size:.6g}" for size in spacing or ())
    voxels = ("voxels", f"{int(found.mask.sum())} of {found.mask.size}")
    return [
        *own[:place],
        ("solved", part(found)),
        voxels,
        ("spacing", known or "unknown, taken as 1"),
        *own[place + 1 :],
    ]


def fields(
    found: VolumeSegmentation, spacing: tuple[float, ...] | None, files: dict[str, Path]
) -> dict[str, Any]:
    """Return the JSON fields: those of the solve in the box, and where the box lies."""
    return {
        **report.result_fields("segment", found.result, files),
        "box": [[own.start, own.stop] for own in found.box],
        "volume": list(found.mask.shape),
        "spacing": None if spacing is None else list(spacing),
        "whole": found.whole,
        "beyond": found.beyond,
    }

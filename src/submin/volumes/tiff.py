"""TIFF stacks, by tifffile: their spacing is that of the metadata of ImageJ or OME.

ImageJ has the distance of slices in a text, and the pixels of a slice in tags of resolution; OME
has three sizes, each with its unit.
"""

from __future__ import annotations

from functools import partial
from typing import Any, BinaryIO
from xml.etree import ElementTree

import numpy as np

from submin.vision.optional import require
from submin.volumes.content import Array, Content, Spacing, known_spacing

STARTS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
ENDINGS = (".tif", ".tiff")
SLICES = "ZIQ"
"""Names of the axis across slices: I and Q stand for pages of which nothing else is known."""
MEANING = {"T": "times", "C": "channels", "S": "colours"}
UNITS = {
    "m": 1e6, "cm": 1e4, "mm": 1e3, "µm": 1.0, "um": 1.0, "micron": 1.0, "nm": 1e-3, "Å": 1e-4,
    "pm": 1e-6,
}  # fmt: skip
"""Lengths in micrometres."""


def content(path: str) -> Content:
    """Read the tags of a file; ``ValueError`` says what is no volume of numbers."""
    with require("tifffile").TiffFile(path) as file:
        series = _only_series(file)
        shape = tuple(
            length for name, length in zip(series.axes, series.shape, strict=True)
            if name in "YX" or length > 1
        )  # fmt: skip
        _refuse_other_axes(series, shape)
        spacing = _imagej_spacing(file) or _ome_spacing(file)
        kind = "imagej" if file.is_imagej else "ome" if file.is_ome else ""
        unit = str((file.imagej_metadata or {}).get("unit", "")) if kind == "imagej" else "µm"
        return Content(
            shape, series.dtype, spacing, 0, ENDINGS,
            partial(_load, path, shape), partial(_write, kind, spacing, unit),
        )  # fmt: skip


def is_stack(path: str) -> bool:
    """Say whether a file holds more than one page; nothing is refused here."""
    try:
        with require("tifffile").TiffFile(path) as file:
            pages = [length for name, length in _axes(file.series[0]) if name not in "YXS"]
            return int(np.prod(pages)) > 1
    except ImportError:
        raise
    except Exception:  # damaged bytes: whoever reads the file says so
        return False


def _axes(series: Any) -> list[tuple[str, int]]:
    return list(zip(series.axes, series.shape, strict=True))


def _only_series(file: Any) -> Any:
    if len(file.series) != 1:
        raise ValueError(f"it holds {len(file.series)} images: save the one that you mean alone")
    return file.series[0]


def _refuse_other_axes(series: Any, shape: tuple[int, ...]) -> None:
    """Refuse what is not slices of rows and columns."""
    for name, length in _axes(series):
        if name in MEANING and length > 1:
            raise ValueError(f"it holds {length} {MEANING[name]}: save one of them alone")
    if len(shape) != 3 or series.axes[-2:] != "YX":
        raise ValueError(f"its axes are {series.axes} of lengths {series.shape}, and no Z, Y, X")


def _load(path: str, shape: tuple[int, ...]) -> Array:
    with require("tifffile").TiffFile(path) as file:
        voxels: Array = file.series[0].asarray()
        return voxels.reshape(shape)


def _imagej_spacing(file: Any) -> Spacing | None:
    """Return the sizes of a voxel along Z, Y, X in the unit of the file."""
    across = (file.imagej_metadata or {}).get("spacing") if file.is_imagej else None
    if not isinstance(across, int | float):
        return None
    tags = [file.pages.first.tags.get(name) for name in ("YResolution", "XResolution")]
    if None in tags:
        return None
    fractions = [tag.value for tag in tags]
    if not all(pixels for pixels, _ in fractions):
        return None
    return known_spacing([float(across), *(length / pixels for pixels, length in fractions)])


def _ome_spacing(file: Any) -> Spacing | None:
    """Return the sizes of a voxel along Z, Y, X in micrometres, or all in one unknown unit."""
    if not file.is_ome:
        return None
    pixels = next(
        (part for part in ElementTree.fromstring(file.ome_metadata).iter()
         if part.tag.endswith("Pixels")),
        None,
    )  # fmt: skip
    names = [f"PhysicalSize{axis}" for axis in "ZYX"]
    if pixels is None or not all(name in pixels.attrib for name in names):
        return None
    units = [pixels.attrib.get(f"{name}Unit", "µm") for name in names]
    if not all(unit in UNITS for unit in units) and len(set(units)) > 1:
        return None
    sizes = zip(names, units, strict=True)
    return known_spacing(
        [float(pixels.attrib[name]) * UNITS.get(unit, 1.0) for name, unit in sizes]
    )


def _write(
    kind: str, spacing: Spacing | None, unit: str, file: BinaryIO, voxels: Array, _: str
) -> None:
    """Write a stack with the spacing, in the metadata that the input has."""
    settings: dict[str, Any] = {"photometric": "minisblack", "metadata": {"axes": "ZYX"}}
    if kind and spacing is not None:
        across, down, along = spacing
        if kind == "imagej":
            settings["resolution"] = (1.0 / along, 1.0 / down)
            settings["metadata"] |= {"spacing": across, "unit": unit}
        else:
            sizes = zip("ZYX", spacing, strict=True)
            settings["metadata"] |= {f"PhysicalSize{axis}": size for axis, size in sizes}
            settings["metadata"] |= {f"PhysicalSize{axis}Unit": unit for axis in "ZYX"}
    if kind:
        settings[kind] = True
    require("tifffile").imwrite(file, voxels, **settings)

"""What a page saves: mask, cut-out, strokes, proof, and the lines that reproduce them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from submin._typing import BoolArray
from submin.page.marks import Labels, Marks
from submin.page.photograph import Photograph
from submin.page.studio import Settings, Studio, level_of
from submin.solve.result import Result
from submin.vision.cutouts import clean_cutout
from submin.vision.optional import require
from submin.vision.pictures import Picture, mask_picture, save_picture
from submin.vision.seeds import BACKGROUND, OBJECT

RED, WHITE = (219, 0, 0), (255, 255, 255)

NAMES = {
    "mask": ("mask.png", "image/png"),
    "cutout": ("cutout.png", "image/png"),
    "strokes": ("strokes.png", "image/png"),
    "proof": ("result.npz", "application/octet-stream"),
    "all": ("cutout.zip", "application/zip"),
}
"""File name and type of all that can be saved."""

LINES = '''\
"""Cut out {name} as the page of submin did."""

import numpy as np

import submin as sm
from submin import vision
from submin.vision.colour_models import ColourFitter
from submin.vision.colours import Colours

image = vision.read_photograph("{photograph}")
colours = Colours.of(image)
shape, features = colours.shape, colours.palette.pixels
strokes = vision.scribble_labels(vision.read_photograph("strokes.png"), shape)
learned = vision.scribble_labels(vision.read_photograph("learned.png"), shape)
box = {box}  # x1, y1, x2, y2

fitter = ColourFitter(colours.palette, colours.volume, components={components}, seed=0)
models = fitter.first(learned == 2, learned == 1)
cost_in, cost_out = models.costs_of(colours.palette)
unary = cost_in - cost_out - {level!r}
if box:
    inside = np.zeros(shape, bool)
    inside[box[1] : box[3], box[0] : box[2]] = True
    unary[~inside] = np.inf
unary[strokes == 1] = np.inf
unary[strokes == 2] = -np.inf

weights = vision.contrast_weights(features, smoothness={smoothness!r}, connectivity={connectivity})
terms = [sm.GridCut(shape, weights, {connectivity})]
if {superpixels}:
    labels = vision.superpixel_labels(features, {superpixels})
    terms.append(vision.superpixel_term(labels, 1.0))

result = sm.minimize(sm.Problem(unary, terms, float(cost_out.sum())))
print(result)
vision.save_picture(vision.mask_picture(result.minimizer), "reproduced.png")
'''


def written(
    what: str, photograph: Photograph, marks: Marks, settings: Settings, studio: Studio | None
) -> tuple[str, str, bytes]:
    """Return name, type and bytes of a file.

    Raises
    ------
    ValueError
        If there is no mask yet.
    """
    name, kind = NAMES[what]
    if what == "strokes":
        return name, kind, png(strokes_picture(marks.labels))
    if studio is None or studio.last is None:
        raise ValueError("there is no mask yet: paint the object first")
    result = studio.last.result
    makers: dict[str, Callable[[], bytes]] = {
        "mask": lambda: png(mask_picture(result.minimizer)),
        "cutout": lambda: png(clean_cutout(photograph.pixels, result.minimizer)),
        "proof": lambda: proof(result, studio),
        "all": lambda: everything(photograph, marks, settings, studio, result),
    }
    return name, kind, makers[what]()


def strokes_picture(labels: Labels) -> Picture:
    """Return the picture that ``submin segment --scribbles`` takes.

    Examples
    --------
    >>> strokes_picture(np.array([[0, 1, 2]], dtype=np.uint8))[0].tolist()
    [[0, 0, 0], [219, 0, 0], [255, 255, 255]]
    """
    picture = np.zeros((*labels.shape, 3), np.uint8)
    picture[labels == BACKGROUND] = RED
    picture[labels == OBJECT] = WHITE
    return picture


def png(picture: Picture) -> bytes:
    """Return a picture as PNG."""
    file = io.BytesIO()
    require("PIL.Image").fromarray(picture).save(file, format="PNG")
    return file.getvalue()


def proof(result: Result, studio: Studio) -> bytes:
    """Return the file that ``submin verify`` checks."""
    with TemporaryDirectory(prefix="submin-") as folder:
        path = Path(folder) / "result.npz"
        result.save(path, studio.session.problem)
        return path.read_bytes()


def everything(
    photograph: Photograph, marks: Marks, settings: Settings, studio: Studio, result: Result
) -> bytes:
    """Return an archive of all files, with the photograph and the lines that reproduce the mask."""
    mask: BoolArray = result.minimizer
    ending = "png" if photograph.pixels.dtype == np.uint8 else "tif"
    with TemporaryDirectory(prefix="submin-") as folder:
        path = Path(folder) / f"photograph.{ending}"
        pixels = photograph.pixels
        save_picture(pixels.astype(np.uint8) * 255 if pixels.dtype == np.bool_ else pixels, path)
        parts = {
            path.name: path.read_bytes(),
            "mask.png": png(mask_picture(mask)),
            "cutout.png": png(clean_cutout(pixels, mask)),
            "strokes.png": png(strokes_picture(marks.labels)),
            "learned.png": png(strokes_picture(studio.learned)),
            "result.npz": proof(result, studio),
            "reproduce.py": lines(photograph, marks, settings, path.name).encode(),
        }
    file = io.BytesIO()
    with zipfile.ZipFile(file, mode="x", compression=zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return file.getvalue()


def lines(photograph: Photograph, marks: Marks, settings: Settings, file: str) -> str:
    """Return the Python lines that reproduce the mask from the files of the archive."""
    quoted = ascii(photograph.name)[1:-1].replace('"', "'")
    return LINES.format(
        name=quoted, photograph=file, box=marks.box, level=level_of(settings.more),
        components=settings.components, smoothness=settings.smoothness,
        connectivity=settings.connectivity, superpixels=settings.superpixels,
    )  # fmt: skip

"""Pictures: exact pixels, shapes, and plots without a display."""

from __future__ import annotations

import numpy as np
import pytest

import submin as sm
from submin.vision import (
    convergence_picture,
    cutout_picture,
    mask_picture,
    overlay_picture,
    path_picture,
    read_mask,
    read_photograph,
    rounds_picture,
    save_picture,
    write_pictures,
)
from submin.vision.pictures import BACKGROUND_TONE, LINE_CORE, boundary

IMAGE = np.random.default_rng(0).integers(0, 256, size=(20, 30, 3)).astype(np.uint8)
MASK = np.zeros((20, 30), dtype=bool)
MASK[6:14, 8:22] = True


def test_mask_picture():
    picture = mask_picture(MASK)
    assert picture.dtype == np.uint8
    assert np.array_equal(picture == 255, MASK)
    assert np.array_equal(picture == 0, ~MASK)


def test_cutout_keeps_colours_and_hides_the_background():
    picture = cutout_picture(IMAGE, MASK)
    assert np.array_equal(picture[..., :3], IMAGE)
    assert np.array_equal(picture[..., 3], mask_picture(MASK))


def test_cutout_keeps_transparency():
    alpha = np.full((20, 30, 1), 100, dtype=np.uint8)
    picture = cutout_picture(np.concatenate([IMAGE, alpha], axis=2), MASK)
    assert set(picture[..., 3].ravel()) == {0, 100}


def test_overlay_leaves_the_inner_object_and_draws_the_line():
    picture = overlay_picture(IMAGE, MASK)
    assert np.array_equal(picture[9:11, 11:19], IMAGE[9:11, 11:19])
    assert np.all(picture[boundary(MASK)] == np.rint(255 * LINE_CORE))
    far = (slice(0, 3), slice(0, 4))
    assert picture[far].max() <= np.ceil(BACKGROUND_TONE * 255)


def test_line_widens_with_the_image():
    mask = np.zeros((100, 1200), dtype=bool)
    mask[30:70, 300:900] = True
    picture = overlay_picture(np.zeros((100, 1200)), mask)
    line = np.all(picture == np.rint(255 * LINE_CORE), axis=2)
    assert line[:, 600].sum() == 2 * 5


@pytest.mark.parametrize("mask", [np.zeros((3, 4), bool), np.ones((3, 4), bool)])
def test_no_boundary(mask):
    assert not boundary(mask).any()


def test_wrong_masks():
    with pytest.raises(TypeError, match="mask must be boolean"):
        mask_picture(np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"mask has shape \(20, 29\)"):
        overlay_picture(IMAGE, MASK[:, 1:])


@pytest.mark.parametrize("shape", [(12,), (6, 7)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_path_picture(tmp_path, shape, sign):
    """The curves are those of the path, also where elements never change."""
    pytest.importorskip("matplotlib")
    costs = np.random.default_rng(0).normal(size=shape)
    costs.flat[0], costs.flat[1] = np.inf, -np.inf
    path = sm.path(sm.Problem(costs), np.full(shape, sign))
    figure = path_picture(path, "title")
    sizes, values = (axes.get_lines()[0] for axes in figure.axes if axes.get_lines())
    for lam, count in zip(*sizes.get_data(), strict=True):
        assert path.minimizer(lam).sum() == count or lam in path.breakpoints
    for lam, value in zip(*values.get_data(), strict=True):
        assert path.value(lam) == value
    figure.savefig(tmp_path / "path.png")


def test_convergence_picture(tmp_path):
    pytest.importorskip("matplotlib")
    unary = np.random.default_rng(1).normal(size=(8, 8))
    result = sm.minimize(sm.Problem(unary, [sm.GridCut((8, 8), 0.4)]), sm.RCDM(seed=0))
    figure = convergence_picture(result.history, "title")
    (axes,) = figure.axes
    assert axes.get_yscale() == "log"
    assert axes.get_title() == "title"
    smooth, discrete, closed = axes.lines
    shown = result.history.smooth_gap > 0
    assert np.array_equal(smooth.get_xdata(), result.history.passes[shown])
    assert np.array_equal(smooth.get_ydata(), result.history.smooth_gap[shown])
    assert np.all(discrete.get_ydata() > 0)
    assert list(closed.get_xdata()) == [result.history.passes[-1]]
    figure.savefig(tmp_path / "plot.png")
    assert read_photograph(tmp_path / "plot.png").ndim == 3


def test_convergence_picture_without_any_gap():
    pytest.importorskip("matplotlib")
    figure = convergence_picture(sm.minimize(sm.Problem([1.0, -1.0])).history)
    figure.canvas.draw()


def test_rounds_picture(scene):
    pytest.importorskip("matplotlib")
    found = sm.segment(scene.image, box=scene.box, callback=lambda record, _: False)
    energy, changed, gap = rounds_picture(found, "title").axes
    assert np.array_equal(energy.lines[0].get_ydata(), found.energies)
    assert tuple(bar.get_height() for bar in changed.patches) == found.changed
    *curves, closed = gap.lines
    assert [len(curve.get_xdata()) for curve in curves] == [len(h) for h in found.histories]
    assert closed.get_xdata()[-1] == pytest.approx(sum(h[-1].seconds for h in found.histories))
    assert np.all(np.diff(curves[0].get_ydata()) <= 0)


def test_rounds_picture_leaves_out_what_shows_nothing(scene):
    pytest.importorskip("matplotlib")
    # Without a callback, a maximum flow is looked at once: its gap has one point.
    rounds = sm.segment(scene.image, box=scene.box)
    assert len(rounds_picture(rounds).axes) == 2
    one = sm.segment(scene.image, box=scene.box, max_rounds=1, solver="rcdm")
    assert len(rounds_picture(one).axes) == 1
    assert rounds_picture(sm.segment(scene.image, box=scene.box, max_rounds=1)) is None


def test_write_pictures(scene, tmp_path):
    pytest.importorskip("matplotlib")
    found = sm.segment(scene.image, box=scene.box, max_rounds=2)
    paths = write_pictures(tmp_path / "new" / "folder", scene.image, found)
    assert list(paths) == ["mask", "cutout", "overlay", "convergence"]
    assert np.array_equal(read_mask(paths["mask"]), found.mask)
    assert np.array_equal(read_photograph(paths["cutout"])[..., 3] > 0, found.mask)
    assert read_photograph(paths["overlay"]).shape == scene.image.shape


def test_save_picture(tmp_path):
    save_picture(mask_picture(MASK), tmp_path / "mask.png")
    assert np.array_equal(read_photograph(tmp_path / "mask.png"), mask_picture(MASK))

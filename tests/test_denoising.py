"""Total-variation denoising: against exact arithmetic, other packages and closed forms."""

from __future__ import annotations

import inspect
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, pairwise

import numpy as np
import pytest

import submin as sm
from submin.vision import denoising, tv_problem

from .instances import fused_lasso

weighted = pytest.mark.skipif(
    "weights" not in inspect.signature(sm.prox).parameters, reason="prox takes no weights"
)

Edges = list[tuple[int, int, Fraction]]


def edges_of(inside, weight, axes=1, spacing=None) -> Edges:
    """All pairs of pixels of the mask that differ by 1 in at most so many axes, with weights."""
    spacing = np.ones(inside.ndim) if spacing is None else np.array(spacing, dtype=float)
    pixels = np.argwhere(np.ones(inside.shape, dtype=bool))
    found = []
    for (i, p), (j, q) in combinations(enumerate(pixels), 2):
        step = np.abs(p - q)
        if step.max() == 1 and step.sum() <= axes and inside[tuple(p)] and inside[tuple(q)]:
            found.append((i, j, Fraction(float(weight / np.linalg.norm(step * spacing)))))
    return found


def exact_point(b, edges: Edges, masses=None) -> list[Fraction]:
    """The solution by divide and conquer over all sets, in rational arithmetic."""
    m = [Fraction(1)] * len(b) if masses is None else [Fraction(float(v)) for v in masses]
    costs = [-mass * Fraction(float(v)) for mass, v in zip(m, b, strict=True)]
    x = [Fraction(0)] * len(b)

    def divide(part: list[int], u: dict[int, Fraction]) -> None:
        level = -sum(u.values()) / sum(m[v] for v in part)
        own = [(i, j, w) for i, j, w in edges if i in u and j in u]

        def excess(members: frozenset[int]) -> Fraction:
            cut = sum((w for i, j, w in own if (i in members) != (j in members)), Fraction(0))
            return cut + sum(u[v] + level * m[v] for v in members)

        sets = chain.from_iterable(combinations(part, size) for size in range(len(part)))
        best = min(map(frozenset, sets), key=excess)
        if excess(best) == 0:
            for v in part:
                x[v] = level
            return
        for i, j, w in own:
            if (i in best) != (j in best):
                high, low = (i, j) if i in best else (j, i)
                u[high] += w
                u[low] -= w
        for side in (best, frozenset(part) - best):
            divide(sorted(side), {v: u[v] for v in side})

    divide(list(range(len(b))), dict(enumerate(costs)))
    return x


def assert_near(found, expected, image):
    """The distance that ``prox`` promises, in units of the norm of the image, and twice it."""
    expected = np.array([float(value) for value in np.ravel(expected)]).reshape(np.shape(found))
    assert np.linalg.norm(found - expected) <= 2e-5 * np.linalg.norm(image)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("shape", "settings", "axes"),
    [
        ((7,), {}, 1),
        ((7,), {"spacing": [0.5]}, 1),
        ((2, 4), {}, 1),
        ((2, 4), {"connectivity": 8}, 2),
        ((3, 2), {"connectivity": 8, "spacing": (3.0, 1.0)}, 2),
        ((2, 2, 2), {}, 1),
        ((2, 2, 2), {"connectivity": 18, "spacing": (1, 2, 0.7)}, 2),
        ((2, 2, 2), {"connectivity": 26}, 3),
    ],
)
def test_against_all_sets(shape, settings, axes, seed):
    rng = np.random.default_rng(seed)
    image, weight = np.round(rng.normal(scale=4.0, size=shape), 1), float(rng.choice([0.3, 1, 2.5]))
    edges = edges_of(np.ones(shape, dtype=bool), weight, axes, settings.get("spacing"))
    found = sm.denoise_tv(image, weight, **settings)
    assert_near(found, exact_point(image.ravel(), edges), image)


@pytest.mark.parametrize("seed", range(4))
def test_a_mask_against_all_sets(seed):
    """Each pixel outside is a problem of its own, without neighbours, whose solution it is."""
    rng = np.random.default_rng(seed)
    image, mask = rng.normal(scale=4.0, size=(3, 3)), rng.random((3, 3)) < 0.7
    found = sm.denoise_tv(image, 1.5, mask=mask, connectivity=8)
    assert_near(found, exact_point(image.ravel(), edges_of(mask, 1.5, axes=2)), image)
    assert np.array_equal(found[~mask], image[~mask])


@pytest.mark.parametrize(("first", "second"), [(0.0, 10.0), (10.0, 0.0), (1.0, 2.0), (3.0, 3.0)])
@pytest.mark.parametrize("weight", [0.25, 2.0, 100.0])
def test_two_pixels_move_towards_each_other_by_the_weight(first, second, weight):
    step = np.sign(second - first) * min(weight, abs(second - first) / 2)
    found = sm.denoise_tv([first, second], weight)
    assert_near(found, [first + step, second - step], [first, second])


def test_the_fused_lasso_of_gfl(data_folder):
    y, _, stored = fused_lasso(data_folder)
    image, weight = y.reshape(100, 100), 0.8685272417128072

    def objective(x):
        variation = sum(np.abs(np.diff(x, axis=axis)).sum() for axis in (0, 1))
        return 0.5 * np.sum((x - image) ** 2) + weight * variation

    found = objective(sm.denoise_tv(image, weight))
    assert found <= objective(stored.reshape(100, 100))
    assert found == pytest.approx(1645.61567, abs=1e-4)


def test_chambolle_of_scikit_image_in_one_dimension():
    """Isotropic is anisotropic there, and its weight means the same."""
    restoration = pytest.importorskip("skimage.restoration")
    image = np.random.default_rng(0).normal(size=60)
    other = restoration.denoise_tv_chambolle(image, 0.7, eps=1e-14, max_num_iter=100_000)
    assert_near(sm.denoise_tv(image, 0.7), other, 10 * image)


@pytest.mark.parametrize("factor", [10.0, 20.0])
def test_bregman_of_scikit_image_has_the_inverse_weight(factor):
    """Anisotropic, and apart from its own treatment of borders."""
    restoration = pytest.importorskip("skimage.restoration")
    image = np.random.default_rng(0).random((40, 40))
    other = restoration.denoise_tv_bregman(
        image, factor, isotropic=False, eps=1e-9, max_num_iter=5000
    )
    inner = slice(8, -8), slice(8, -8)
    errors = [
        np.abs(sm.denoise_tv(image, share / factor) - other)[inner].max()
        for share in (0.5, 1.0, 2.0)
    ]
    assert errors[1] < 0.3 * min(errors[0], errors[2])


@pytest.mark.parametrize(("connectivity", "share"), [(4, 1 / 2), (8, 1 / 3)])
def test_the_weight_to_start_with_suits_a_photograph(connectivity, share):
    """As docs/recipes.md says: half the standard deviation of the noise, or a third."""
    data = pytest.importorskip("skimage.data")
    clean = data.camera()[::4, ::4].astype(float)
    noisy = clean + 20.0 * np.random.default_rng(0).normal(size=clean.shape)
    errors = [
        np.std(sm.denoise_tv(noisy, 20.0 * factor * share, connectivity=connectivity) - clean)
        for factor in (0.0, 0.5, 1.0, 2.0)
    ]
    assert min(errors) == errors[2] < 0.7 * errors[0]


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", ">f4", ">f8", np.longdouble])
def test_floating_types_are_kept(kind):
    image = np.random.default_rng(0).normal(size=(6, 7)).astype(kind)
    before, found = image.copy(), sm.denoise_tv(image, 0.3)
    assert found.dtype == image.dtype.newbyteorder("=")
    assert np.array_equal(found, sm.denoise_tv(image.astype("f8"), 0.3).astype(found.dtype))
    assert np.array_equal(image, before)


@pytest.mark.parametrize("kind", ["u1", "i1", "u2", ">i2", "i4", "u8", "?"])
def test_integers_keep_their_range_as_float64(kind):
    image = np.random.default_rng(0).integers(0, 2 if kind == "?" else 100, (6, 7)).astype(kind)
    found = sm.denoise_tv(image, 0.3)
    assert found.dtype == np.float64
    assert np.array_equal(found, sm.denoise_tv(image.astype(float), 0.3))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_channels_are_images_of_their_own(axis):
    channels = np.random.default_rng(0).normal(size=(3, 6, 7))
    found = sm.denoise_tv(np.moveaxis(channels, 0, axis), 0.4, channel_axis=axis, connectivity=8)
    alone = [sm.denoise_tv(channel, 0.4, connectivity=8) for channel in channels]
    assert np.array_equal(np.moveaxis(found, axis, 0), alone)


def test_axes_may_change_places():
    image, spacing = np.random.default_rng(0).normal(size=(5, 6, 4)), np.array([1.0, 2.0, 0.5])
    found = sm.denoise_tv(image, 0.4, connectivity=18, spacing=spacing)
    for order in ((1, 0, 2), (2, 1, 0), (1, 2, 0)):
        turned = sm.denoise_tv(
            image.transpose(order), 0.4, connectivity=18, spacing=spacing[list(order)]
        )
        assert_near(turned, found.transpose(order), image)


def test_scale_offset_and_units():
    """x(c b + d; c w) = c x(b; w) + d, and lengths in other units need a weight in those."""
    image = np.random.default_rng(0).normal(size=(8, 9))
    found = sm.denoise_tv(image, 0.4)
    assert_near(sm.denoise_tv(255 * image + 7, 102.0), 255 * found + 7, 255 * image + 7)
    assert_near(sm.denoise_tv(image, 1.0, spacing=(2.5, 2.5)), found, image)


def test_a_masked_image_is_the_image_that_is_left():
    """Whatever lies outside, it stays, and nothing depends on it."""
    image = np.random.default_rng(0).normal(size=(9, 10))
    mask = np.zeros(image.shape, dtype=bool)
    mask[2:7, 3:9] = True
    outside = np.where(mask, image, np.nan)
    outside[0, 0] = np.inf
    found = sm.denoise_tv(outside, 0.5, mask=mask, connectivity=8)
    assert_near(found[2:7, 3:9], sm.denoise_tv(image[2:7, 3:9], 0.5, connectivity=8), image)
    assert np.array_equal(found[~mask], outside[~mask], equal_nan=True)
    nothing = sm.denoise_tv(outside, 0.5, mask=np.zeros_like(mask))
    assert np.array_equal(nothing, outside, equal_nan=True)


@weighted
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shape", [(6,), (2, 3), (2, 2, 2)])
def test_weights_of_samples_against_all_sets(shape, seed):
    rng = np.random.default_rng(seed)
    image, m = rng.normal(scale=4.0, size=shape), rng.choice([0.25, 1.0, 3.0], shape)
    found = sm.denoise_tv(image, 1.5, sample_weight=m)
    edges = edges_of(np.ones(shape, dtype=bool), 1.5)
    assert_near(found, exact_point(image.ravel(), edges, m.ravel()), image)
    doubled = sm.denoise_tv(image, 3.0, sample_weight=2.0 * m)
    assert_near(doubled, found, image)


def test_weights_of_one_are_none():
    image = np.random.default_rng(0).normal(size=(5, 6))
    found = sm.denoise_tv(image, 0.5, sample_weight=np.ones((5, 6), dtype=int))
    assert np.array_equal(found, sm.denoise_tv(image, 0.5))


@weighted
def test_missing_samples_of_a_signal_leave_the_shorter_signal():
    """The least w |a - x| + w |x - c| over x is w |a - c|."""
    rng = np.random.default_rng(0)
    signal, there = rng.normal(size=40), rng.random(40) < 0.6
    holes = np.where(there, signal, np.nan)
    found = sm.denoise_tv(holes, 0.5, sample_weight=there)
    assert_near(found[there], sm.denoise_tv(signal[there], 0.5), signal)
    known = np.flatnonzero(there)
    for left, right in pairwise(known):
        low, high = sorted(found[[left, right]])
        assert np.all((low <= found[left:right]) & (found[left:right] <= high))


@weighted
def test_missing_pixels_lie_between_their_neighbours():
    image = np.random.default_rng(0).normal(size=(8, 9))
    there = np.ones(image.shape, dtype=bool)
    there[2, 3] = there[5, 5] = there[0, 8] = False
    found = sm.denoise_tv(np.where(there, image, np.nan), 0.3, sample_weight=there)
    padded = np.pad(found, 1, constant_values=np.nan)
    for i, j in np.argwhere(~there):
        around = padded[[i, i + 2, i + 1, i + 1], [j + 1, j + 1, j, j + 2]]
        assert np.nanmin(around) <= found[i, j] <= np.nanmax(around)


@weighted
def test_weights_of_samples_may_differ_between_channels():
    rng = np.random.default_rng(0)
    image, m = rng.normal(size=(5, 6, 3)), rng.integers(0, 3, (5, 6, 3))
    m[0, 0] = 1
    found = sm.denoise_tv(image, 0.4, channel_axis=2, sample_weight=m)
    for c in range(3):
        alone = sm.denoise_tv(image[..., c], 0.4, sample_weight=m[..., c])
        assert np.array_equal(found[..., c], alone)


@weighted
def test_a_part_without_a_sample_keeps_its_values():
    image, mask, m = np.arange(8.0), np.ones(8, dtype=bool), np.ones(8)
    mask[4], m[5:] = False, 0.0
    m[1], image[6] = 0.0, np.nan
    found = sm.denoise_tv(image, 0.5, mask=mask, sample_weight=m)
    assert np.array_equal(found[4:], image[4:], equal_nan=True)
    assert_near(found[[0, 2, 3]], [0.5, 2.0, 2.5], image[:4])


def test_no_sample_at_all_changes_nothing():
    image = np.array([[1.0, np.nan], [3.0, 4.0]])
    found = sm.denoise_tv(image, 0.5, sample_weight=np.zeros((2, 2)))
    assert np.array_equal(found, image, equal_nan=True)


@pytest.mark.parametrize("shape", [(1,), (1, 1), (5,), (3, 4), (1, 6, 1), (2, 2, 2, 2)])
@pytest.mark.parametrize("value", [0.0, -2.5, 1e6])
def test_a_constant_image_stays(shape, value):
    found = sm.denoise_tv(np.full(shape, value), 0.7)
    assert_near(found, np.full(shape, value), np.full(shape, value))


def test_without_weight_the_result_is_a_copy():
    image = np.arange(6.0).reshape(2, 3)
    found = sm.denoise_tv(image, 0)
    assert np.array_equal(found, image)
    assert not np.shares_memory(found, image)


def test_the_problem_comes_with_a_certificate():
    image = np.random.default_rng(0).integers(0, 256, (9, 10)).astype(np.uint8)
    problem = tv_problem(image, 20.0, connectivity=8)
    result = sm.prox(problem)
    assert np.array_equal(result.x, sm.denoise_tv(image, 20.0, connectivity=8))
    wide, edges = image.astype(float), edges_of(np.ones(image.shape, dtype=bool), 20.0, axes=2)
    x = result.x.ravel()
    variation = sum(float(w) * abs(x[i] - x[j]) for i, j, w in edges)
    objective = 0.5 * np.sum((result.x - wide) ** 2) + variation
    assert result.point.value + 0.5 * np.sum(wide**2) == pytest.approx(objective, rel=1e-12)
    assert result.point.gap < 1e-8 * objective


IMAGE = np.arange(6.0).reshape(2, 3)


def with_value(value):
    changed = IMAGE.copy()
    changed[1, 2] = value
    return changed


@pytest.mark.parametrize(
    ("image", "settings", "error", "message"),
    [
        (with_value(np.nan), {}, ValueError, r"image\[1, 2\] is nan: pixels must be finite"),
        (with_value(-np.inf), {}, ValueError, r"image\[1, 2\] is -inf"),
        (with_value(np.nan), {"channel_axis": 0}, ValueError, r"image\[1, 2\] is nan"),
        (IMAGE, {"weight": -1.0}, ValueError, "weight is -1.0: it must be 0 or more"),
        (IMAGE, {"weight": np.nan}, ValueError, "weight is nan"),
        (IMAGE, {"weight": "3"}, TypeError, "weight is '3': it must be a number"),
        (IMAGE, {"connectivity": 6}, ValueError, "connectivity is 6: a 2-D grid has 4 or 8"),
        (IMAGE, {"spacing": (1.0,)}, ValueError, "one distance per axis"),
        (IMAGE, {"spacing": (1.0, 0.0)}, ValueError, r"spacing\[1\] is 0.0"),
        (IMAGE, {"channel_axis": 2}, ValueError, "channel_axis is 2"),
        (IMAGE, {"channel_axis": -3}, ValueError, "channel_axis is -3"),
        (IMAGE, {"channel_axis": 0.0}, TypeError, "channel_axis is 0.0"),
        (IMAGE[0], {"channel_axis": 0}, ValueError, "no such axis beside those of the grid"),
        (IMAGE, {"mask": np.ones((2, 3))}, TypeError, "mask must be a boolean mask"),
        (IMAGE, {"mask": [True, False]}, ValueError, r"mask has shape \(2,\)"),
        (IMAGE, {"sample_weight": -IMAGE}, ValueError, r"sample_weight\[0, 1\] is -1.0"),
        (IMAGE, {"sample_weight": with_value(np.nan)}, ValueError, r"sample_weight\[1, 2\]"),
        (IMAGE, {"sample_weight": [1.0]}, ValueError, r"sample_weight has shape \(1,\)"),
        (IMAGE, {"time_limit": -1.0}, ValueError, "time_limit is -1.0"),
        (np.zeros((3, 0)), {}, ValueError, "image is empty .* axis 1 has length 0"),
        (1.0, {}, ValueError, "must be an array with an axis or more"),
        (IMAGE + 1j, {}, TypeError, "image must hold real numbers"),
        ([["a"]], {}, TypeError, "image must hold real numbers"),
        (np.ma.masked_array(IMAGE), {}, TypeError, "masked array"),
        ("photo.png", {}, TypeError, "array of pixels"),
        (IMAGE * 1e200, {}, ValueError, "image overflows: .* reach"),
        (IMAGE, {"sample_weight": IMAGE * 1e200}, ValueError, "image overflows"),
        (IMAGE * 1e-160, {}, ValueError, "image underflows"),
        (IMAGE, {"weight": 1e200}, ValueError, r"weight is 1e[+]200"),
        (np.ones((1,) * 9), {}, ValueError, "a grid has 1 to 8 axes"),
        (np.array([2**53 + 1, 0]), {}, ValueError, r"image\[0\] is 9007199254740993"),
    ],
)
def test_refused(image, settings, error, message):
    with pytest.raises(error, match=message):
        sm.denoise_tv(image, **{"weight": 1.0, **settings})


def test_a_time_limit_that_comes_first_is_said():
    image = np.random.default_rng(0).normal(size=(40, 50))
    with pytest.warns(RuntimeWarning, match="channel 0 is within .* of the solution"):
        sm.denoise_tv(image, 0.5, time_limit=0)


def test_an_interrupt_is_one(monkeypatch):
    solve = denoising.prox
    monkeypatch.setattr(
        denoising, "prox", lambda *args, **kwargs: replace(solve(*args, **kwargs), interrupted=True)
    )
    with pytest.raises(KeyboardInterrupt):
        sm.denoise_tv(IMAGE, 0.5)


def test_progress_goes_to_standard_error(capsys):
    sm.denoise_tv(IMAGE, 0.5, progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "smooth gap" in captured.err

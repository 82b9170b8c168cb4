"""Sets and vectors as terms take them: masks of any shape, vectors of any real type, no others."""

import numpy as np
import pytest

import submin as sm

PATH = [0, 1], [1, 2]
TERMS = [
    sm.Cut(*PATH, [1.0, 2.0]),
    sm.GridCut((3,), [[1.0, 2.0]]),
    sm.Cardinality([0, 3], [0, 1, 2], lambda k, m: k * (m - k)),
    sm.Hyperedge([0, 3], [0, 1, 2], 2.0),
    sm.Truncation([0, 3], [0, 1, 2], [1.0, 2.0, 3.0], 4.0),
    sm.ConcaveOfModular([0, 3], [0, 1, 2], [1.0, 2.0, 3.0], [[0.0, 2.0, 6.0]], [[0.0, 4.0, 5.0]]),
    sm.Table([[0, 1]], [[0.0, 1.0, 2.0, 2.0]]),
    sm.Function([0, 1, 2], lambda mask: float(mask.sum() ** 0.5)),
]


@pytest.mark.parametrize("term", TERMS, ids=lambda term: type(term).__name__)
@pytest.mark.parametrize(
    "members", [np.arange(3), np.ones(24, np.uint8), np.ones(3, np.float32), [1, 0, 1]]
)
def test_what_is_no_mask_is_refused(term, members):
    with pytest.raises(TypeError, match="members must be a boolean mask"):
        term.evaluate(members)


@pytest.mark.parametrize("term", TERMS, ids=lambda term: type(term).__name__)
def test_masks_of_any_layout_are_the_same_set(term):
    mask = np.array([True, False, True])
    value = term.evaluate(mask)
    assert value == pytest.approx(term.lovasz(mask.astype(float)))
    wide = np.zeros((3, 2), dtype=bool)
    wide[:, 0] = mask
    for given in (mask.tolist(), mask[None], wide[:, 0]):
        assert term.evaluate(given) == value


@pytest.mark.parametrize("term", TERMS, ids=lambda term: type(term).__name__)
def test_lovasz_extension_of_any_numbers(term):
    x = np.array([2.0, -1.0, 1.0])
    value = term.lovasz(x)
    for given in (x.tolist(), x[:, None], x.astype(np.float32), x.astype(np.int16)):
        assert term.lovasz(given) == value
    with pytest.raises(TypeError, match="x must hold real numbers"):
        term.lovasz(np.array(["a", "b", "c"]))

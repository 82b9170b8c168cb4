"""Damaged archives are refused in one sentence with exit code 2; edited ones never crash.

Random bytes and random edits of valid archives, in process: a verification ends with 0 (what the
file claims is proved), 1 (it is not) or 2 (the file can not be read), and with nothing else.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import submin as sm
from submin.cli import console
from submin.cli.verify import _load, check

ENTRIES = [
    None, True, -1, 0, 1, 2**31, 2**63, 10**400, 1e308, float("nan"), float("inf"), -float("inf"),
    "x", "", "OPTIMAL", [], {}, [1], {"a": 1}, [[]], [[1, 2, 3, 4, 5, 6, 7, 8]], 0.5,
]  # fmt: skip
NUMBERS = [0, 1, -1, 2, 2**31 - 1, -(2**31), 1e308, -1e308, np.nan, np.inf, -np.inf, 1e-320, 255]
CASES = 400
TYPES = ["i1", "u1", "f4", "f2", ">f8", "c16", "U3", "i8", "u8", "?", "S2", "M8[s]", "m8[s]", "O"]


def example() -> tuple[sm.Problem, sm.Result]:
    """Return a problem with a term of every kind that can be saved, and a result with a gap."""
    problem = sm.Problem(
        [[1.0, -np.inf, 0.25], [np.inf, -2.0, 0.1]],
        [
            sm.GridCut((2, 3), [1.0, [[1.0, 2.0, 3.0]]], reverse_weights=0.5),
            sm.Cut([0, 1], [5, 4], [1.5, 2.5], [0.0, 1.0]),
            sm.Cardinality.from_labels([[0, 0, 1], [1, -1, 1]], lambda k, m: k * (m - k)),
            sm.Hyperedge([0, 3], [0, 2, 5], [1.5]),
            sm.Truncation([0, 3], [0, 2, 4], [1.0, 2.0, 1.0], [2.0]),
            sm.ConcaveOfModular.sampled([0, 3], [1, 2, 3], [1.0, 2.0, 3.0], lambda t, _: t**0.5),
            sm.Table([[0, 1]], [0.0, 1.0, 1.0, 0.0]),
        ],
        constant=0.3,
    )
    return problem, sm.minimize(problem, "rcdm", max_passes=2)


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("valid") / "valid.npz"
    problem, result = example()
    assert result.status is sm.Status.STOPPED
    result.save(path, problem)
    return path.read_bytes()


def outcome(path: Path) -> int:
    """Verify a file, and return the exit code that the command has."""
    refusals = []
    try:
        claimed, problem = _load(path, None)
    except console.RefusalError as refusal:
        refusals.append(str(refusal))
    if refusals:
        assert len(refusals[0].splitlines()) == 1
        assert path.name in refusals[0]
        return 2
    proved, faults = check(problem, claimed)
    assert all(len(fault.splitlines()) == 1 for fault in faults)
    if not faults:
        assert proved is not None
        assert claimed.value == pytest.approx(proved.value, abs=1e-9)
        assert claimed.lower_bound <= proved.lower_bound + 1e-9
    return int(bool(faults))


def flipped(data: bytes, rng: np.random.Generator) -> bytes:
    """Change one to three bytes, and sometimes cut the end off."""
    changed = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        changed[rng.integers(len(changed))] = rng.integers(256)
    return bytes(changed if rng.random() < 0.9 else changed[: rng.integers(len(changed))])


def test_random_bytes(archive, tmp_path):
    path, rng, seen = tmp_path / "flipped.npz", np.random.default_rng(0), Counter()
    for _ in range(CASES):
        path.write_bytes(flipped(archive, rng))
        seen[outcome(path)] += 1
    assert set(seen) == {0, 2}  # a check sum finds what is not ignored
    assert seen[2] > CASES / 2


def edit_entry(tree: Any, rng: np.random.Generator) -> None:
    """Delete or replace a random entry of a JSON tree."""
    while tree:
        keys = list(tree) if isinstance(tree, dict) else range(len(tree))
        key = keys[rng.integers(len(keys))]
        if isinstance(tree[key], dict | list) and rng.random() < 0.8:
            tree = tree[key]
        elif rng.random() < 0.3:
            del tree[key]
            return
        else:
            tree[key] = ENTRIES[rng.integers(len(ENTRIES))]
            return


def edited(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Change type, order, shape or a number of an array."""
    changes = [
        lambda: array.astype(TYPES[rng.integers(len(TYPES))]),
        lambda: np.asfortranarray(array),
        lambda: array.reshape(-1),
        lambda: array[..., None],
        lambda: np.array([]),
        lambda: np.zeros((0, 3)),
        lambda: np.array(rng.normal()),
        lambda: np.concatenate([array.reshape(-1)] * 2),
        lambda: array.reshape(-1)[:-1],
        lambda: np.array([("a", 1)], dtype="U1, i4"),
        lambda: rng.integers(0, 256, array.nbytes, np.uint8).view(array.dtype).reshape(array.shape),
        lambda: one_number(array, rng),
        lambda: one_number(array, rng),
    ]
    with np.errstate(all="ignore"):
        return changes[rng.integers(len(changes))]()


def one_number(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    changed = array.copy()
    if changed.size:
        number = np.array(NUMBERS[rng.integers(len(NUMBERS))], dtype=np.float64)
        changed.reshape(-1)[rng.integers(changed.size)] = number.astype(array.dtype)
    return changed


def pack(path: Path, arrays: dict[str, np.ndarray], meta: Any) -> None:
    """Write an archive, with pickles where numpy needs them."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in {**arrays, "meta": np.array(json.dumps(meta))}.items():
            data = io.BytesIO()
            np.save(data, array, allow_pickle=True)
            archive.writestr(f"{name}.npy", data.getvalue())


def test_random_edits(archive, tmp_path):
    path, rng, seen = tmp_path / "edited.npz", np.random.default_rng(0), Counter()
    with np.load(io.BytesIO(archive)) as file:
        valid = {name: file[name] for name in file.files}
    text = str(valid.pop("meta"))
    pack(path, valid, json.loads(text))
    assert outcome(path) == 0
    for _ in range(CASES):
        arrays, meta = dict(valid), json.loads(text)
        if rng.random() < 0.5:
            edit_entry(meta, rng)
        for _ in range(rng.integers(0, 3)):
            name = list(arrays)[rng.integers(len(arrays))]
            arrays[name] = edited(arrays[name], rng)
        pack(path, arrays, meta)
        seen[outcome(path)] += 1
    assert set(seen) == {0, 1, 2}


SHAPE = b"{'descr': '<f8', 'fortran_order': False, 'shape': "
HEADERS = [
    b"(", b"'''", b"{", b"(" * 5000, b"[" * 300, b"{1: 2}", b"\\", b"\xff", b"-" * 9000,
    SHAPE + b"(10**9**9,)}", SHAPE + b"(-1,)}", SHAPE + b"(1099511627776, 4194304)}",
    b"{'descr': '|V0', 'fortran_order': 0, 'shape': (4611686018427387904,)}",
    b"{'descr': [('a', '|O')], 'fortran_order': True, 'shape': ()}",
]  # fmt: skip


@pytest.mark.parametrize("name", ["x", "meta", "minimizer", "dual_0", "unary", "term_1.tails"])
def test_headers_that_are_no_python(archive, tmp_path, name):
    """The reader of headers raises TokenError, SyntaxError, MemoryError and others."""
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        entries = {entry: file.read(entry) for entry in file.namelist()}
    for header in HEADERS:
        size = len(header).to_bytes(4, "little")
        damaged = entries | {f"{name}.npy": b"\x93NUMPY\x02\x00" + size + header}
        path = tmp_path / "header.npz"
        with zipfile.ZipFile(path, "w") as file:
            for entry, data in damaged.items():
                file.writestr(entry, data)
        assert outcome(path) == 2


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "[" * 100_000, '{"format": 1}', "null",
                                  '{"format": [1]}', '{"format": 1, "result": 3, "problem": 3}',
                                  '{"format": ' + "1" * 5000 + "}"])  # fmt: skip
def test_descriptions_that_are_none(archive, tmp_path, text):
    path = tmp_path / "description.npz"
    np.savez(path, meta=np.array(text))
    assert outcome(path) == 2

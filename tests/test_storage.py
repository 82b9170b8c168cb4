"""Files: round trips of problems and results, and files that are not what they seem."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import submin as sm
from submin.model import archive
from submin.terms.function import Function

from .problems import Model, all_sets, models


def example() -> tuple[sm.Problem, sm.Result]:
    problem = sm.Problem(
        [[1.0, -np.inf, 0.25], [np.inf, -2.0, 0.1]],
        [
            sm.GridCut((2, 3), [1.0, [[1.0, 2.0, 3.0]]], reverse_weights=0.5),
            sm.Cut([0, 1], [5, 4], [1.5, 2.5], [0.0, 1.0]),
            sm.Cardinality.from_labels([[0, 0, 1], [1, -1, 1]], lambda k, m: k * (m - k)),
        ],
        constant=0.3,
    )
    return problem, sm.minimize(problem, "accelerated_sweeps")


def assert_same_result(first: sm.Result, second: sm.Result) -> None:
    assert first.certificate == second.certificate
    assert first.status is second.status
    assert list(first.history) == list(second.history)
    assert (first.solver, first.interrupted) == (second.solver, second.interrupted)
    assert first.minimizer.dtype == second.minimizer.dtype == bool
    assert np.array_equal(first.minimizer, second.minimizer)
    assert first.x.tobytes() == second.x.tobytes()
    assert first.x.shape == second.x.shape
    assert [y.tobytes() for y in first.dual] == [y.tobytes() for y in second.dual]


def test_problem_round_trip(tmp_path):
    problem, result = example()
    problem.save(tmp_path / "problem.npz")
    loaded = sm.Problem.load(tmp_path / "problem.npz")
    assert np.array_equal(loaded.unary, problem.unary)
    assert loaded.constant == problem.constant
    assert [term.kind for term in loaded.terms] == [term.kind for term in problem.terms]
    for mask in all_sets(6):
        assert loaded.evaluate(mask) == problem.evaluate(mask)
    assert sm.verify(loaded, result) == result.certificate


def test_result_round_trip(tmp_path):
    problem, result = example()
    path = str(tmp_path / "result")
    result.save(path)
    assert_same_result(sm.Result.load(path), result)
    result.save(path, problem)
    assert_same_result(sm.Result.load(path), result)
    assert sm.verify(sm.Problem.load(path), sm.Result.load(path)) == result.certificate


@settings(max_examples=25)
@given(models(["cut", "grid_cut", "cardinality"], hard=True))
def test_any_problem_round_trip(tmp_path_factory, case: Model):
    path = tmp_path_factory.mktemp("any") / "file.npz"
    result = sm.minimize(case.problem, max_passes=5)
    result.save(path, case.problem)
    loaded = sm.Problem.load(path)
    assert loaded.shape == case.problem.shape
    for mask in all_sets(case.problem.n)[:: max(1, 2**case.problem.n // 32)]:
        assert loaded.evaluate(mask) == case.problem.evaluate(mask)
    assert sm.verify(loaded, sm.Result.load(path)) == result.certificate
    again = sm.minimize(loaded, warm_start=sm.Result.load(path), max_passes=5)
    assert again.value <= result.value


def test_results_without_a_value_keep_their_infinities(tmp_path):
    _, result = example()
    certificate = replace(result.certificate, value=np.inf, gap=np.inf, lower_bound=-np.inf)
    replace(result, certificate=certificate).save(tmp_path / "file.npz")
    assert sm.Result.load(tmp_path / "file.npz").certificate == certificate


def test_a_problem_without_terms(tmp_path):
    problem = sm.Problem(-3.0)
    sm.minimize(problem).save(tmp_path / "file.npz", problem)
    assert sm.Problem.load(tmp_path / "file.npz").evaluate([True]) == -3.0
    assert sm.Result.load(tmp_path / "file.npz").dual == ()


def test_files_hold_plain_arrays_only(tmp_path):
    problem, result = example()
    result.save(tmp_path / "file.npz", problem)
    with np.load(tmp_path / "file.npz", allow_pickle=False) as file:
        for name in file.files:
            assert file[name].dtype.kind in "biufU"


def test_code_is_not_saved(tmp_path):
    problem = sm.Problem([1.0, 2.0], [Function([0, 1], evaluate=lambda mask: float(mask.any()))])
    result = sm.minimize(problem)
    with pytest.raises(TypeError, match="holds Python code and can not be saved"):
        problem.save(tmp_path / "file.npz")
    assert not (tmp_path / "file.npz").exists()
    result.save(tmp_path / "file.npz")
    assert_same_result(sm.Result.load(tmp_path / "file.npz"), result)


# Files that are refused.


def test_missing_files(tmp_path):
    for load in (sm.Problem.load, sm.Result.load):
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "nothing.npz")


def test_the_other_half_is_missing(tmp_path):
    problem, result = example()
    problem.save(tmp_path / "problem.npz")
    result.save(tmp_path / "result.npz")
    with pytest.raises(ValueError, match="holds a problem without a result"):
        sm.Result.load(tmp_path / "problem.npz")
    with pytest.raises(ValueError, match="holds a result without its problem"):
        sm.Problem.load(tmp_path / "result.npz")


def broken_files() -> dict[str, bytes]:
    return {
        "empty": b"",
        "text": b"min F(S)\n",
        "half a zip": b"PK\x03\x04" + bytes(40),
        "pickle": pickle.dumps({"meta": 1}),
    }


@pytest.mark.parametrize("name", list(broken_files()))
@pytest.mark.parametrize("load", [sm.Problem.load, sm.Result.load])
def test_files_of_another_kind(tmp_path, load, name):
    path = tmp_path / "file.npz"
    path.write_bytes(broken_files()[name])
    with pytest.raises(ValueError, match=r"file.npz is not a submin file"):
        load(path)


def test_arrays_of_another_program(tmp_path):
    np.savez(tmp_path / "file.npz", a=np.zeros(3))
    np.save(tmp_path / "file.npy", np.zeros(3))
    for path in (tmp_path / "file.npz", tmp_path / "file.npy"):
        with pytest.raises(ValueError, match="is not a submin file"):
            sm.Result.load(path)


def test_pickled_objects_are_not_loaded(tmp_path):
    np.savez(tmp_path / "file.npz", meta=np.array([{"format": 1}], dtype=object))
    with pytest.raises(ValueError, match="is not a submin file"):
        sm.Result.load(tmp_path / "file.npz")


def rewritten(tmp_path, change) -> str:
    """Save the example, change its arrays and its JSON, and write it again."""
    problem, result = example()
    result.save(tmp_path / "good.npz", problem)
    with np.load(tmp_path / "good.npz") as file:
        arrays = {name: file[name] for name in file.files}
    meta = json.loads(str(arrays.pop("meta")))
    change(arrays, meta)
    path = tmp_path / "changed.npz"
    np.savez(path, meta=np.array(json.dumps(meta)), **arrays)
    return str(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, meta: meta.update(format=99),
        lambda arrays, meta: meta["problem"].update(terms=["grid_cut", "unknown", "cardinality"]),
        lambda arrays, meta: meta["problem"].pop("constant"),
        lambda arrays, meta: meta["problem"].update(constant="abc"),
        lambda arrays, meta: arrays.pop("unary"),
        lambda arrays, meta: arrays.pop("term_1.tails"),
        lambda arrays, meta: arrays.update({"term_1.weights": np.array([1.0, -1.0])}),
        lambda arrays, meta: arrays.update({"term_2.pointers": np.array([0, 9, 5])}),
        lambda arrays, meta: arrays.update({"term_2.members": np.array([0, 0, 0, 0, 0])}),
        lambda arrays, meta: arrays.update(unary=np.full((2, 3), np.nan)),
        lambda arrays, meta: arrays.update(other=arrays.pop("term_1.reverse_weights")),
        lambda arrays, meta: arrays.pop("term_1.reverse_weights"),
        lambda arrays, meta: meta.update(arrays=3),
        lambda arrays, meta: meta.update(arrays=[[]]),
    ],
)
def test_damaged_problems(tmp_path, change):
    with pytest.raises(ValueError, match=r"changed.npz"):
        sm.Problem.load(rewritten(tmp_path, change))


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, meta: meta.update(format=99),
        lambda arrays, meta: meta["result"].update(status="PERFECT"),
        lambda arrays, meta: meta["result"]["certificate"].pop("gap"),
        lambda arrays, meta: meta["result"].update(history=[[1, 2]]),
        lambda arrays, meta: meta["result"].update(duals=5),
        lambda arrays, meta: meta["result"].pop("solver"),
        lambda arrays, meta: arrays.pop("x"),
        lambda arrays, meta: arrays.pop("minimizer"),
        lambda arrays, meta: arrays.pop("dual_1"),
        lambda arrays, meta: meta["result"].update(tol=-1.0),
        lambda arrays, meta: meta["result"].update(tol=float("nan")),
        lambda arrays, meta: meta["result"].update(tol="0"),
        lambda arrays, meta: meta["result"].update(tol=10**400),
        lambda arrays, meta: meta["result"].update(duals=-1),
        lambda arrays, meta: meta["result"].update(duals=True),
        lambda arrays, meta: meta["result"].update(solver=3),
        lambda arrays, meta: meta["result"].update(interrupted=1),
        lambda arrays, meta: meta["result"].update(history=3),
        lambda arrays, meta: meta.update(result=[]),
        lambda arrays, meta: meta["result"]["certificate"].update(value=None),
        lambda arrays, meta: meta["result"]["certificate"].update(value="1"),
        lambda arrays, meta: meta["result"]["certificate"].update(optimal=1),
        lambda arrays, meta: meta["result"]["certificate"].update(more=1.0),
        lambda arrays, meta: arrays.update(minimizer=arrays["minimizer"].astype(np.int8)),
        lambda arrays, meta: arrays.update(minimizer=np.full((2, 3), 3, np.uint8).view(bool)),
        lambda arrays, meta: arrays.update(minimizer=np.full((2, 3), 255, np.uint8).view(bool)),
        lambda arrays, meta: arrays.update(x=arrays["x"] + 1j),
        lambda arrays, meta: arrays.update(x=arrays["x"].astype(str)),
        lambda arrays, meta: arrays.update(dual_1=np.array([("a", 1)], dtype="U1, i4")),
    ],
)
def test_damaged_results(tmp_path, change):
    with pytest.raises(ValueError, match=r"changed.npz"):
        sm.Result.load(rewritten(tmp_path, change))


def test_a_flipped_byte_is_found(tmp_path):
    problem, result = example()
    path = tmp_path / "file.npz"
    result.save(path, problem)
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("x.npy")
    data = bytearray(path.read_bytes())
    data[info.header_offset + 60] ^= 0xFF
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match=r"file\.npz is damaged: Bad CRC-32 for file 'x\.npy'"):
        sm.Result.load(path)


def test_a_truncated_file_is_found(tmp_path):
    problem, result = example()
    path = tmp_path / "file.npz"
    result.save(path, problem)
    for size in (10, 100, path.stat().st_size - 1):
        short = tmp_path / "short.npz"
        short.write_bytes(path.read_bytes()[:size])
        with pytest.raises(ValueError, match="is not a submin file"):
            sm.Result.load(short)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_any_byte_order_and_memory_order(tmp_path, order, layout):
    def change(arrays, meta):
        for name, array in arrays.items():
            arrays[name] = np.asarray(array.astype(array.dtype.newbyteorder(order)), order=layout)

    path = rewritten(tmp_path, change)
    result = sm.Result.load(tmp_path / "good.npz")
    assert_same_result(sm.Result.load(path), result)
    assert sm.verify(sm.Problem.load(path), sm.Result.load(path)) == result.certificate


def test_headers_of_arrays_that_are_too_large(tmp_path):
    """An array of a petabyte by its header, and none by its bytes."""
    path = tmp_path / "large.npz"
    problem, result = example()
    result.save(path, problem)
    header = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (2**47,)}
    np.lib.format.write_array_header_1_0(header, shape)
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (entries | {"x.npy": header.getvalue()}).items():
            archive.writestr(name, data)
    with pytest.raises(ValueError, match=r"large\.npz is damaged"):
        sm.Result.load(path)


def test_archives_that_unpack_to_more_than_the_memory(tmp_path, monkeypatch):
    path = tmp_path / "bomb.npz"
    sm.Problem(np.zeros(10**5)).save(path)
    assert path.stat().st_size < 4096
    monkeypatch.setattr(archive, "memory_size", lambda: 7 * 10**5)
    with pytest.raises(ValueError, match=r"bomb\.npz is not a submin file: it unpacks to 8\d{5} b"):
        sm.Problem.load(path)


def test_what_nobody_wrote_is_refused(tmp_path):
    problem, result = example()
    result.save(tmp_path / "file.npz", problem)
    with zipfile.ZipFile(tmp_path / "file.npz", "a") as archive:
        archive.writestr("other.npy", b"no array")
    with pytest.raises(ValueError, match="its arrays are not those that were written: see other"):
        sm.Result.load(tmp_path / "file.npz")


def test_files_of_version_0_1_do_not_list_their_arrays(tmp_path):
    path = rewritten(tmp_path, lambda arrays, meta: meta.pop("arrays"))
    problem, result = example()
    assert sm.verify(problem, sm.Result.load(path)) == result.certificate


def test_the_format_is_numbered():
    assert archive.FORMAT == 1


@pytest.mark.parametrize(("offset", "value"), [(10, 99), (8, 1), (8, 32), (6, 99)])
def test_a_damaged_archive_is_refused_by_name(tmp_path, offset, value):
    """Compression method, flags and version of an entry of the archive's directory."""
    path = tmp_path / "damaged.npz"
    problem = sm.Problem([1.0, -1.0], [sm.Cut([0], [1], 0.5)])
    sm.minimize(problem).save(path, problem)
    data = bytearray(path.read_bytes())
    data[data.find(b"PK\x01\x02") + offset] = value
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"damaged\.npz is not a submin file"):
        sm.Problem.load(path)


@pytest.mark.parametrize(
    ("term", "kinds"),
    [
        (sm.GridCut((3, 4), 2.0, 8), {"shape", "connectivity", "weights"}),
        (sm.GridCut((3, 4), 2.0, 8, 1.0), {"shape", "connectivity", "weights", "reverse_weights"}),
        (sm.Cut([0, 1], [1, 2], [1.0, 2.0]), {"tails", "heads", "weights"}),
        (sm.Cut([0], [1], 1.0, 2.0), {"tails", "heads", "weights", "reverse_weights"}),
    ],
)
def test_symmetric_weights_are_saved_once(term, kinds, tmp_path):
    assert {name.rstrip("_0123456789") for name in term.arrays()} == kinds
    problem = sm.Problem(np.zeros(term.elements), [term])
    problem.save(tmp_path / "problem.npz")
    (loaded,) = sm.Problem.load(tmp_path / "problem.npz").terms
    for (_, forward, backward), (_, one_way, other_way) in zip(
        loaded.segments, term.segments, strict=True
    ):
        assert np.array_equal(np.broadcast_to(one_way, forward.shape), forward)
        assert np.array_equal(np.broadcast_to(other_way, backward.shape), backward)
        assert (forward is backward) == ("reverse_weights" not in kinds)


@pytest.mark.parametrize("weights", [2.0, np.array([1.0, 2.0, 3.0], dtype=np.float32)])
def test_one_weight_for_all_edges_stays_one(weights, tmp_path):
    term = sm.Cut([0, 1, 2], [1, 2, 3], weights, 0.5)
    sm.Problem(np.zeros(4), [term]).save(tmp_path / "problem.npz")
    (loaded,) = sm.Problem.load(tmp_path / "problem.npz").terms
    assert loaded.backward.size == 1
    assert loaded.forward.dtype == term.forward.dtype
    assert np.array_equal(loaded.forward, term.forward)


def test_a_system_that_does_not_say_its_memory(monkeypatch, tmp_path):
    """Windows has no sysconf: files are read as they are."""
    sm.Problem([1.0, -1.0]).save(tmp_path / "problem.npz")
    monkeypatch.delattr(archive.os, "sysconf", raising=False)
    assert sm.Problem.load(tmp_path / "problem.npz").n == 2

"""Files: problems and results as ``.npz`` archives of plain arrays and JSON, without pickle."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from os import PathLike, fspath
from typing import Any

import numpy as np
import numpy.typing as npt

from submin.certificate import Certificate, Status
from submin.problem import Problem
from submin.proximal_certificate import UNKNOWN, ProximalCertificate
from submin.result import History, Record, Result
from submin.terms import REGISTRY, Term

FORMAT = 1
Arrays = dict[str, npt.NDArray[Any]]


def save(
    path: str | PathLike[str], problem: Problem | None = None, result: Result | None = None
) -> None:
    """Write a problem, a result, or both to one ``.npz`` file."""
    arrays: Arrays = {}
    meta: dict[str, Any] = {"format": FORMAT}
    if problem is not None:
        meta["problem"] = _put_problem(problem, arrays)
    if result is not None:
        meta["result"] = _put_result(result, arrays)
    with open(fspath(path), "wb") as file:
        np.savez_compressed(file, meta=np.array(json.dumps(meta)), **arrays)  # type: ignore[arg-type]


def load_problem(path: str | PathLike[str]) -> Problem:
    """Read the problem of a file.

    Raises
    ------
    ValueError
        If the file is not a submin file or holds no problem.
    """
    meta, arrays = _read(path)
    if "problem" not in meta:
        raise ValueError(
            f"{fspath(path)} holds a result without its problem; "
            "save it with result.save(path, problem)"
        )
    with _damage_named(path):
        terms = [
            _family(kind).from_arrays(_with_prefix(arrays, f"term_{index}."))
            for index, kind in enumerate(meta["problem"]["terms"])
        ]
        return Problem(arrays["unary"], terms, meta["problem"]["constant"])


def _family(kind: str) -> type[Term]:
    if kind not in REGISTRY:
        known = ", ".join(repr(name) for name in REGISTRY)
        raise ValueError(f"it has a term of kind {kind!r}, and this version knows {known}")
    return REGISTRY[kind]


def load_result(path: str | PathLike[str]) -> Result:
    """Read the result of a file.

    Raises
    ------
    ValueError
        If the file is not a submin file or holds no result.
    """
    meta, arrays = _read(path)
    if "result" not in meta:
        raise ValueError(f"{fspath(path)} holds a problem without a result")
    with _damage_named(path):
        saved = meta["result"]
        return Result(
            minimizer=arrays["minimizer"].astype(np.bool_),
            certificate=Certificate(**saved["certificate"]),
            status=Status[saved["status"]],
            x=arrays["x"],
            dual=tuple(arrays[f"dual_{k}"] for k in range(saved["duals"])),
            history=History(Record(*row) for row in saved["history"]),
            solver=saved["solver"],
            tol=saved["tol"],
            interrupted=saved["interrupted"],
            point=_point(saved),
            stalled=saved.get("stalled", False),
        )


def _put_problem(problem: Problem, arrays: Arrays) -> dict[str, Any]:
    arrays["unary"] = problem.unary
    for index, term in enumerate(problem.terms):
        for name, array in term.arrays().items():
            arrays[f"term_{index}.{name}"] = np.asarray(array)
    return {"terms": [term.kind for term in problem.terms], "constant": problem.constant}


def _put_result(result: Result, arrays: Arrays) -> dict[str, Any]:
    arrays["minimizer"], arrays["x"] = result.minimizer, result.x
    for k, part in enumerate(result.dual):
        arrays[f"dual_{k}"] = part
    return {
        "certificate": asdict(result.certificate),
        "status": result.status.name,
        "duals": len(result.dual),
        "history": [list(record) for record in result.history],
        "solver": result.solver,
        "tol": result.tol,
        "proximal": result.proximal,
        "interrupted": result.interrupted,
        "point": None if result.point is None else asdict(result.point),
        "stalled": result.stalled,
    }


def _point(saved: dict[str, Any]) -> ProximalCertificate | None:
    """Return the certificate of a proximal point; version 0.1 saved none."""
    if not saved["proximal"]:
        return None
    return ProximalCertificate(**saved["point"]) if "point" in saved else UNKNOWN


DAMAGE = (
    KeyError, TypeError, ValueError, EOFError, NotImplementedError, RuntimeError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What reading an archive raises when some of its bytes are wrong."""


def _read(path: str | PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    name = fspath(path)
    with open(name, "rb") as stream:
        if not zipfile.is_zipfile(stream):
            raise ValueError(f"{name} is not a submin file: it is not an .npz archive")
        stream.seek(0)
        try:
            with np.load(stream, allow_pickle=False) as file:
                arrays = {entry: file[entry] for entry in file.files}
            meta = json.loads(str(arrays.pop("meta")))
            version = meta["format"]
        except DAMAGE as error:
            raise ValueError(f"{name} is not a submin file: {error}") from error
    if version != FORMAT:
        raise ValueError(f"{name} has format {version}, and this version reads {FORMAT}")
    return meta, arrays


@contextmanager
def _damage_named(path: str | PathLike[str]) -> Iterator[None]:
    """Refuse a file whose entries are missing or malformed, naming the file."""
    try:
        yield
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        detail = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{fspath(path)} is damaged: {detail}") from error


def _with_prefix(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> Arrays:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }

"""Files: problems and results as ``.npz`` archives of plain arrays and JSON, without pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike, fspath
from typing import Any

import numpy as np
import numpy.typing as npt

from submin.certificate import Certificate, Status
from submin.problem import Problem
from submin.result import History, Record, Result
from submin.terms import REGISTRY

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
    terms = [
        REGISTRY[kind].from_arrays(_with_prefix(arrays, f"term_{index}."))
        for index, kind in enumerate(meta["problem"]["terms"])
    ]
    return Problem(arrays["unary"], terms, meta["problem"]["constant"])


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
    saved = meta["result"]
    return Result(
        minimizer=arrays["minimizer"].astype(np.bool_),
        certificate=Certificate(**saved["certificate"]),
        status=Status[saved["status"]],
        x=arrays["x"],
        dual=tuple(arrays[f"dual_{k}"] for k in range(saved["duals"])),
        history=History(Record(*row) for row in saved["history"]),
        solver=saved["solver"],
        interrupted=saved["interrupted"],
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
        "interrupted": result.interrupted,
    }


def _read(path: str | PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    try:
        with np.load(fspath(path), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        meta = json.loads(str(arrays.pop("meta")))
        if meta["format"] != FORMAT:
            raise ValueError(f"it has format {meta['format']}, and this version reads {FORMAT}")
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(f"{fspath(path)} is not a submin file: {error}") from error
    return meta, arrays


def _with_prefix(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> Arrays:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }

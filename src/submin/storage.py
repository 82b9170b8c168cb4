"""Files: problems and results as ``.npz`` archives of plain arrays and JSON, without pickle."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from os import PathLike, fspath
from typing import Any, BinaryIO, TypeVar, get_type_hints

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._files import whole_file
from submin._typing import BoolArray, FloatArray
from submin.certificate import Certificate, Status
from submin.problem import Problem
from submin.proximal_certificate import UNKNOWN, ProximalCertificate
from submin.result import History, Record, Result
from submin.terms import REGISTRY, Term

FORMAT = 1
Arrays = dict[str, npt.NDArray[Any]]
Saved = TypeVar("Saved", Certificate, ProximalCertificate)


def save(
    path: str | PathLike[str], problem: Problem | None = None, result: Result | None = None
) -> None:
    """Write a problem, a result, or both to one ``.npz`` file.

    The file is written beside an old one of the name and then takes its place, so that an interrupt
    or a full disk leaves the old one as it was.

    Raises
    ------
    TypeError
        If a term holds Python code.
    OSError
        If the file can not be written.
    """
    arrays: Arrays = {}
    meta: dict[str, Any] = {"format": FORMAT}
    if problem is not None:
        meta["problem"] = _put_problem(problem, arrays)
    if result is not None:
        meta["result"] = _put_result(result, arrays)
    with whole_file(path) as file:
        np.savez_compressed(file, meta=np.array(json.dumps(meta)), **arrays)  # type: ignore[arg-type]


def load_problem(path: str | PathLike[str]) -> Problem:
    """Read the problem of a file.

    Raises
    ------
    ValueError
        If the file is not a submin file, is damaged or holds no problem.
    OSError
        If the file can not be opened.
    """
    with _opened(path) as archive:
        if "problem" not in archive.meta:
            raise ValueError(
                f"{archive.name} holds a result without its problem; "
                "save it with result.save(path, problem)"
            )
        with archive.damage_named():
            saved = archive.part("problem")
            terms = [
                _family(kind).from_arrays(archive.with_prefix(f"term_{index}."))
                for index, kind in enumerate(saved["terms"])
            ]
            return Problem(archive["unary"], terms, saved["constant"])


def _family(kind: object) -> type[Term]:
    if not isinstance(kind, str) or kind not in REGISTRY:
        known = ", ".join(repr(name) for name in REGISTRY)
        raise ValueError(f"it has a term of kind {kind!r}, and this version knows {known}")
    return REGISTRY[kind]


def load_result(path: str | PathLike[str]) -> Result:
    """Read the result of a file.

    Raises
    ------
    ValueError
        If the file is not a submin file, is damaged or holds no result.
    OSError
        If the file can not be opened.
    """
    with _opened(path) as archive:
        if "result" not in archive.meta:
            raise ValueError(f"{archive.name} holds a problem without a result")
        with archive.damage_named():
            saved = archive.part("result")
            return Result(
                minimizer=_set(archive["minimizer"]),
                certificate=_entries(Certificate, saved["certificate"]),
                status=Status[saved["status"]],
                x=_floats("x", archive["x"]),
                dual=tuple(
                    _floats(f"dual_{k}", archive[f"dual_{k}"])
                    for k in range(_checks.whole_number("duals", saved["duals"], 0))
                ),
                history=History(map(_record, saved["history"])),
                solver=_of_type("solver", saved["solver"], str),
                tol=_tolerance(saved["tol"]),
                interrupted=_of_type("interrupted", saved["interrupted"], bool),
                point=_point(saved),
                stalled=_of_type("stalled", saved.get("stalled", False), bool),
            )


def _set(members: npt.NDArray[Any]) -> BoolArray:
    """Return a saved set; other bytes than 0 and 1 would count as other numbers of elements."""
    if members.dtype != np.bool_:
        raise ValueError(f"its set has the type {members.dtype}, and not bool")
    values = members.view(np.uint8)
    _checks.refuse_where("minimizer", values, values > 1, "a boolean is the byte 0 or 1")
    return np.ascontiguousarray(members).reshape(members.shape)


def _floats(name: str, values: npt.NDArray[Any]) -> FloatArray:
    if values.dtype.kind != "f":
        raise ValueError(f"{name} has the type {values.dtype}, and not float64")
    return _checks.float_array(name, values)


def _entries(kind: type[Saved], saved: Mapping[str, Any]) -> Saved:
    """Return a certificate with each of its entries, of the type that it must have."""
    kinds = get_type_hints(kind)
    if set(saved) != set(kinds):
        raise ValueError(f"its {kind.__name__} has the entries {sorted(saved)}")
    return kind(**{name: _of_type(name, saved[name], kinds[name]) for name in kinds})


def _point(saved: Mapping[str, Any]) -> ProximalCertificate | None:
    """Return the certificate of a proximal point; version 0.1 saved none."""
    if not _of_type("proximal", saved["proximal"], bool):
        return None
    return _entries(ProximalCertificate, saved["point"]) if "point" in saved else UNKNOWN


def _record(row: Sequence[Any]) -> Record:
    kinds = get_type_hints(Record)
    numbers = zip(kinds, row, strict=True)
    return Record(**{name: _of_type(name, number, kinds[name]) for name, number in numbers})


def _tolerance(value: object) -> float:
    tol: float = _of_type("tol", value, float)
    if not tol >= 0.0:
        raise ValueError(f"tol is {tol}, and a gap can not be below 0")
    return tol


def _of_type(name: str, value: Any, kind: type) -> Any:
    """Return an entry of the type that it must have; a whole number is a float too."""
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise ValueError(f"{name} is {value!r:.40}, and not of type {kind.__name__}")
    return value


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


class _Archive:
    """A submin file that is open: its arrays are read when they are asked for.

    Numbers come in the byte order of the machine.
    """

    def __init__(self, name: str, file: Any) -> None:
        self.name, self.file = name, file
        self.meta = json.loads(str(file["meta"]))
        if not isinstance(self.meta, dict):
            raise ValueError("its description is no JSON object")
        self.version = self.meta["format"]

    def __getitem__(self, entry: str) -> npt.NDArray[Any]:
        if entry not in self.file:
            raise ValueError(f"it has no array {entry!r}")
        array = self.file[entry]
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{entry} is no array")
        return array.astype(array.dtype.newbyteorder("="), copy=False)

    def part(self, name: str) -> Mapping[str, Any]:
        """Return the description of the problem or of the result."""
        part = self.meta[name]
        if not isinstance(part, dict):
            raise ValueError(f"the description of the {name} is no JSON object")
        return part

    def with_prefix(self, prefix: str) -> Arrays:
        """Return the arrays of one term."""
        names = [name for name in self.file.files if name.startswith(prefix)]
        return {name.removeprefix(prefix): self[name] for name in names}

    @contextmanager
    def damage_named(self) -> Iterator[None]:
        """Refuse a file whose entries are missing or malformed, naming the file."""
        with _refused(f"{self.name} is damaged"):
            yield


@contextmanager
def _opened(path: str | PathLike[str]) -> Iterator[_Archive]:
    name = fspath(path)
    with open(name, "rb") as stream:
        foreign = f"{name} is not a submin file"
        if not zipfile.is_zipfile(stream):
            raise ValueError(f"{foreign}: it is not an .npz archive")
        stream.seek(0)
        with _refused(foreign):
            _require_memory(stream)
            archive = _Archive(name, np.load(stream, allow_pickle=False))
        if archive.version != FORMAT:
            raise ValueError(
                f"{name} has format {archive.version!r:.40}, and this version reads {FORMAT}"
            )
        with archive.file:
            yield archive


@contextmanager
def _refused(what: str) -> Iterator[None]:
    """Refuse a file in one sentence.

    The modules that unpack it raise exceptions of a dozen types where its bytes are wrong, so every
    exception counts as damage.
    """
    try:
        yield
    except Exception as error:
        detail = f"no {error}" if isinstance(error, KeyError) else str(error)
        detail = " ".join(detail.split()) or type(error).__name__
        raise ValueError(f"{what}: {detail:.300}") from error


def _require_memory(stream: BinaryIO) -> None:
    """Refuse an archive that unpacks to more than the memory of the machine."""
    with zipfile.ZipFile(stream) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > memory_size():
        raise ValueError(f"it unpacks to {size} bytes, more than the memory of this machine")
    stream.seek(0)


def memory_size() -> int:
    """Return the size of the machine's memory in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

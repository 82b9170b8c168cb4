"""Files: ``.npz`` archives of plain arrays and a description in JSON, without pickle."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Any, BinaryIO, TypeVar, get_type_hints

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._files import whole_file
from submin._typing import FloatArray

FORMAT = 1
Arrays = dict[str, npt.NDArray[Any]]
Description = dict[str, Any]
Saved = TypeVar("Saved")


def write(path: str | PathLike[str], arrays: Arrays, **parts: Description) -> None:
    """Write arrays, and the description of each part, to one ``.npz`` file.

    The file is written beside an old one of the name and then takes its place, so that an interrupt
    or a full disk leaves the old one as it was.

    Raises
    ------
    OSError
        If the file can not be written.
    """
    meta = {"format": FORMAT, "arrays": sorted(arrays), **parts}
    with whole_file(path) as file:
        np.savez_compressed(file, meta=np.array(json.dumps(meta)), **arrays)  # type: ignore[arg-type]


def floats(name: str, values: npt.NDArray[Any]) -> FloatArray:
    """Return a saved array of numbers."""
    if values.dtype.kind != "f":
        raise ValueError(f"{name} has the type {values.dtype}, and not float64")
    return _checks.float_array(name, values)


def entries(kind: type[Saved], saved: Mapping[str, Any]) -> Saved:
    """Return a certificate with each of its entries, of the type that it must have."""
    kinds = get_type_hints(kind)
    if set(saved) != set(kinds):
        raise ValueError(f"its {kind.__name__} has the entries {sorted(saved)}")
    return kind(**{name: of_type(name, saved[name], kinds[name]) for name in kinds})


def of_type(name: str, value: Any, kind: type) -> Any:
    """Return an entry of the type that it must have; a whole number is a float too."""
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise ValueError(f"{name} is {value!r:.40}, and not of type {kind.__name__}")
    return value


class Archive:
    """A submin file that is open: its arrays are read when they are asked for.

    Numbers come in the byte order of the machine.
    """

    def __init__(self, name: str, file: Any) -> None:
        self.name, self.file = name, file
        self.meta = json.loads(str(file["meta"]))
        if not isinstance(self.meta, dict):
            raise ValueError("its description is no JSON object")
        self.version = self.meta["format"]

    def require_arrays(self) -> None:
        """Refuse a file that has lost arrays, or gained some; version 0.1 did not list them.

        Families have arrays that need not be there, and one that is renamed would be overlooked.
        """
        written = set(self.meta.get("arrays", [])) | {"meta"}
        if "arrays" in self.meta and written != set(self.file.files):
            names = ", ".join(sorted(map(str, written.symmetric_difference(self.file.files))))
            raise ValueError(f"its arrays are not those that were written: see {names}")

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
def opened(path: str | PathLike[str]) -> Iterator[Archive]:
    """Open a file.

    Raises
    ------
    ValueError
        If it is not a submin file, or damaged.
    OSError
        If it can not be opened.
    """
    name = fspath(path)
    with open(name, "rb") as stream:
        foreign = f"{name} is not a submin file"
        if not zipfile.is_zipfile(stream):
            raise ValueError(f"{foreign}: it is not an .npz archive")
        stream.seek(0)
        with _refused(foreign):
            _require_memory(stream)
            archive = Archive(name, np.load(stream, allow_pickle=False))
        if archive.version != FORMAT:
            raise ValueError(
                f"{name} has format {archive.version!r:.40}, and this version reads {FORMAT}"
            )
        with archive.file:
            yield archive


@contextmanager
def reading(
    path: str | PathLike[str], name: str, missing: str
) -> Iterator[tuple[Archive, Mapping[str, Any]]]:
    """Open a file for one of its parts, and refuse what is wrong while that is read.

    Raises
    ------
    ValueError
        If it is not a submin file, is damaged or has no such part: it "holds" what is `missing`.
    OSError
        If it can not be opened.
    """
    with opened(path) as file:
        if name not in file.meta:
            raise ValueError(f"{file.name} holds {missing}")
        with file.damage_named():
            file.require_arrays()
            yield file, file.part(name)


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
    """Return the size of the machine's memory in bytes; where the system does not say, 2^40."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (
        AttributeError,
        ValueError,
    ):  # Windows has no sysconf; names may be missing
        return 2**40

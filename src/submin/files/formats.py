"""Which format a file has, told by its content."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from os import PathLike, fsdecode

from submin.files.arrays import read_arrays, read_matlab, read_sparse
from submin.files.dimacs import read_dimacs, write_dimacs
from submin.files.graph import Graph
from submin.files.hmetis import hypergraph, read_hypergraph, write_hypergraph
from submin.files.metis import graph, read_graph, write_graph
from submin.files.rows import read_rows
from submin.files.text import BYTE_ORDER_MARK, open_text
from submin.files.uai import read_uai, write_uai
from submin.model.problem import Problem

START = 2**12
"""Bytes that tell a text's format, at least."""
READERS: dict[str, Callable[[str | PathLike[str]], Problem | Graph]] = {
    "submin": Problem.load,
    "dimacs": read_dimacs,
    "hmetis": read_hypergraph,
    "metis": read_graph,
    "uai": read_uai,
    "arrays": read_arrays,
    "sparse": read_sparse,
    "matlab": read_matlab,
}
"""What reads each format."""
ENDINGS = {
    ".npz": "submin",
    ".max": "dimacs",
    ".hgr": "hmetis",
    ".graph": "metis",
    ".uai": "uai",
}
"""The formats that can be written, by the usual endings of their files."""
GRAPH_WRITERS = {"hmetis": write_hypergraph, "metis": write_graph}


def format_of(path: str | PathLike[str]) -> str:
    """Tell the format of a file by its content, a key of ``READERS``; errors as those of ``read``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.txt")
    ...     _ = path.write_text("p max 2 0")
    ...     format_of(path)
    'dimacs'
    """
    name = _format_by_start(path)
    return _graph_of(path)[0] if name == "rows" else name


def _format_by_start(path: str | PathLike[str]) -> str:
    """Tell the format by the first bytes; "rows" are of a graph or a hypergraph."""
    with open_text(path) as stream:
        start = stream.read(START)
    if start.startswith(b"PK"):
        return _archive_format(path)
    if start.startswith(b"MATLAB 5"):
        return "matlab"
    lines = start.removeprefix(BYTE_ORDER_MARK).replace(b"\r", b"\n").split(b"\n")
    words = [word for line in lines for word in line.split()[:1]]
    first = words[0] if words else b""
    if first in (b"MARKOV", b"BAYES"):
        return "uai"
    if first in (b"p", b"n", b"a") or first.startswith(b"c"):
        return "dimacs"
    if first.startswith(b"%") or first.isdigit():
        return "rows"
    raise ValueError(
        f"{fsdecode(path)} is not a submin file, nor one of DIMACS, hMETIS, METIS, UAI (MARKOV), "
        "MATLAB (5 to 7.2), or a NumPy archive of a graph"
    )


def _archive_format(path: str | PathLike[str]) -> str:
    try:
        with zipfile.ZipFile(path) as file:
            names = {name.removesuffix(".npy") for name in file.namelist()}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, UnicodeError, ValueError):
        return "submin"  # whose reader says what is wrong
    if {"format", "shape", "data"} <= names and "meta" not in names:
        return "sparse"
    return "arrays" if {"tails", "heads", "weights"} <= names else "submin"


def _graph_of(path: str | PathLike[str]) -> tuple[str, Graph]:
    """Tell a graph from a hypergraph: its lines are as many as its nodes, and have edges twice."""
    rows, found, reasons = read_rows(path), {}, {}
    for name, from_rows in (("hmetis", hypergraph), ("metis", graph)):
        try:
            found[name] = from_rows(rows)
        except ValueError as error:
            reasons[name] = str(error)
    if len(found) == 2:
        raise ValueError(
            f"{fsdecode(path)} may be a hypergraph of hMETIS and a graph of METIS: name the format"
        )
    if not found:
        raise ValueError(f"{reasons['hmetis']} (or, as a graph, {reasons['metis']})")
    return next(iter(found.items()))


def read(path: str | PathLike[str], form: str | None = None) -> Problem | Graph:
    """Read a problem or a graph from a file of any format that is known.

    Parameters
    ----------
    path : str or path
        A file that submin saved, or of DIMACS max-flow, hMETIS, METIS, UAI, MATLAB (`read_matlab`),
        NumPy (`read_arrays`) or SciPy (`read_sparse`).
    form : str, optional
        ``"submin"``, ``"dimacs"``, ``"hmetis"``, ``"metis"``, ``"uai"``, ``"arrays"``,
        ``"sparse"`` or ``"matlab"``; by default the content tells.

    Returns
    -------
    Problem or Graph
        A graph or hypergraph has no costs of nodes; ``Graph.problem(unary)`` adds them.

    Raises
    ------
    ValueError
        If the format is not known, or a line or array is wrong; the message says which.
    OSError
        If the file can not be read.

    Examples
    --------
    >>> import tempfile, pathlib, submin as sm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.hgr")
    ...     _ = path.write_text("1 3" + chr(10) + "1 2 3")
    ...     graph = sm.files.read(path)
    >>> sm.minimize(graph.problem([-3.0, 1.0, 1.0])).value
    -2.0
    """
    name = _format_by_start(path) if form is None else form
    if name == "rows":
        return _graph_of(path)[1]
    if name not in READERS:
        raise ValueError(f"form is {name!r}: known are {', '.join(READERS)}")
    return READERS[name](path)


def write(path: str | PathLike[str], content: Problem | Graph, form: str | None = None) -> None:
    """Write a problem or graph to a file; an old one stays whole until the new one is complete.

    Parameters
    ----------
    path : str or path
        The ending tells the format: ``.npz`` (saved by submin), ``.max``, ``.uai`` for problems,
        ``.hgr``, ``.graph`` for graphs.
    content : Problem or Graph
        Problems for ``.max`` and ``.uai`` have only ``Cut`` and ``GridCut`` as terms.
    form : str, optional
        ``"submin"``, ``"dimacs"``, ``"uai"``, ``"hmetis"`` or ``"metis"``, whatever the ending is.

    Raises
    ------
    TypeError
        If the format does not hold such a content.
    ValueError
        If the format is not known, or does not hold a number.
    OSError
        If the file can not be written.
    """
    name = fsdecode(path)
    form = form or next((ENDINGS[end] for end in ENDINGS if name.endswith(end)), None)
    if form not in ENDINGS.values():
        known = ", ".join(f"{known} ({end})" for end, known in ENDINGS.items())
        raise ValueError(f"{name}: neither ending nor form is of what is written, which is {known}")
    if form in GRAPH_WRITERS:
        if not isinstance(content, Graph):
            raise TypeError(f"a problem has costs of elements, which {form} does not hold")
        GRAPH_WRITERS[form](path, content)
    elif isinstance(content, Graph):
        raise TypeError(
            f"a graph has no costs of nodes, so {form} can not hold it: use Graph.problem"
        )
    elif form == "submin":
        content.save(path)
    else:
        (write_dimacs if form == "dimacs" else write_uai)(path, content)

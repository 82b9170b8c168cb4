"""Problems and graphs as plain arrays: NumPy archives, SciPy sparse matrices, MATLAB files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike, fsdecode
from types import ModuleType
from typing import Any

import numpy as np

from submin import _checks
from submin.files.graph import Graph
from submin.model.problem import Problem
from submin.terms import Cardinality, Cut, GridCut
from submin.terms.base.term import Term

EDGES = ("tails", "heads", "weights")
ENTRIES = {"unary", "constant", "reverse_weights", *EDGES}


def read_arrays(path: str | PathLike[str]) -> Problem | Graph:
    """Read a graph from the named arrays of an ``.npz`` file, O(edges).

    Parameters
    ----------
    path : str or path
        What ``numpy.savez(path, tails=..., heads=..., weights=...)`` wrote, with the arguments of
        ``Cut``; ``reverse_weights`` makes arcs, ``unary`` and ``constant`` make a problem.

    Raises
    ------
    ValueError
        If the file is damaged, or has other arrays.
    OSError
        If the file can not be read.

    Examples
    --------
    >>> import tempfile, pathlib, submin as sm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.npz")
    ...     np.savez(path, tails=[0], heads=[1], weights=[1.5], unary=[-3.0, 2.0])
    ...     problem = read_arrays(path)
    >>> sm.minimize(problem).value
    -1.5
    """
    with _damage(path):
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        if not {*EDGES} <= set(arrays) <= ENTRIES:
            known = ", ".join(sorted(ENTRIES))
            raise ValueError(f"it has the arrays {', '.join(sorted(arrays))}, and not of {known}")
        tails, heads, weights = (arrays[name] for name in EDGES)
        term = Cut(tails, heads, weights, arrays.get("reverse_weights"))
        if "unary" not in arrays:
            return Graph(term, term.elements)
        constant = float(arrays.get("constant", 0.0))
        return Problem(arrays["unary"], [term] if term.size else [], constant)


def read_sparse(path: str | PathLike[str]) -> Graph:
    """Read a matrix that ``scipy.sparse.save_npz`` wrote, as ``Cut.from_sparse`` understands it.

    Raises
    ------
    ImportError
        If SciPy is not installed.
    ValueError
        If the file is damaged, or its matrix is no graph.
    OSError
        If the file can not be read.

    Examples
    --------
    >>> import tempfile, pathlib, scipy.sparse
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.npz")
    ...     scipy.sparse.save_npz(path, scipy.sparse.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    ...     graph = read_sparse(path)
    >>> graph.nodes, graph.term.forward, graph.term.backward
    (2, array([2.]), array([1.]))
    """
    sparse = _scipy("scipy.sparse", path)
    with _damage(path):
        matrix = sparse.load_npz(path)
        matrix.check_format() if hasattr(matrix, "check_format") else None
        term = Cut.from_sparse(matrix)
        return Graph(term, matrix.shape[0])


def read_matlab(
    path: str | PathLike[str],
    superpixels: str | PathLike[str] | None = None,
    *,
    cut: float = 1.0,
    consistency: float = 0.0,
) -> Problem:
    """Read a published instance of image segmentation from MATLAB files, O(pixels).

    The problem is::

        F(S) = unary(S) + cut * cut(S; W1, W2) + consistency * sum over R of |S and R| |R less S|

    Parameters
    ----------
    path : str or path
        A MATLAB file (version 5 to 7.2) with ``W1``, shape (h - 1, w), the weights of vertical
        edges, ``W2``, shape (h, w - 1), those of horizontal ones, and ``unary``, h w costs in
        column-major order.
    superpixels : str or path, optional
        A MATLAB file with ``sup_img``, shape (h, w): the superpixels R, labels from 1.
    cut, consistency : float, optional
        The factors of both terms; those of each published result are given with it.

    Raises
    ------
    ImportError
        If SciPy is not installed.
    ValueError
        If a file is damaged, or lacks an array.
    OSError
        If a file can not be read.

    Notes
    -----
    Jegelka, Bach & Sra, "Reflection methods for user-friendly submodular optimization", 2013.
    """
    arrays = _matlab(path, "W1", "W2", "unary")
    with _damage(path):
        columns, rows = arrays["W2"].shape, arrays["W1"].shape
        shape = (columns[0], rows[1])
        if rows != (shape[0] - 1, shape[1]) or columns != (shape[0], shape[1] - 1):
            raise ValueError(f"W1 has shape {rows} and W2 {columns}: one row and column less each")
        if arrays["unary"].size != shape[0] * shape[1]:
            raise ValueError(f"unary has {arrays['unary'].size} entries for a picture {shape}")
        unary = arrays["unary"].reshape(shape, order="F")
        terms: list[Term] = [GridCut(shape, [cut * arrays["W2"], cut * arrays["W1"]], 4)]
    if superpixels is not None:
        with _damage(superpixels):
            labels = _matlab(superpixels, "sup_img")["sup_img"].astype(np.int64)
            if labels.shape != shape:
                raise ValueError(f"sup_img has shape {labels.shape}, and the picture has {shape}")
            _checks.refuse_where("sup_img", labels, labels < 1, "labels count from 1")
            terms.append(Cardinality.from_labels(labels, lambda k, m: consistency * k * (m - k)))
    return Problem(unary, terms)


def _matlab(path: str | PathLike[str], *names: str) -> Mapping[str, np.ndarray[Any, Any]]:
    io = _scipy("scipy.io", path)
    with _damage(path):
        found = io.loadmat(path, appendmat=False)
        missing = [name for name in names if name not in found]
        if missing:
            known = ", ".join(name for name in found if not name.startswith("__"))
            raise ValueError(f"it lacks {', '.join(missing)}, and has {known or 'nothing'}")
        arrays = {}
        for name in names:
            array = found[name]
            if not isinstance(array, np.ndarray) or array.dtype.kind not in "uif":
                raise ValueError(f"{name} is no array of numbers")
            arrays[name] = array.astype(np.float64)
        return arrays


def _scipy(module: str, path: str | PathLike[str]) -> ModuleType:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{fsdecode(path)} needs SciPy; install it with: pip install 'submin[files]'"
        ) from error


@contextmanager
def _damage(path: str | PathLike[str]) -> Iterator[None]:
    """Name the file in every refusal; readers of foreign bytes may raise any exception."""
    with open(path, "rb"):
        pass  # a file that can not be opened is another matter
    try:
        yield
    except ImportError:
        raise
    except Exception as error:
        name, reason = fsdecode(path), str(error) or type(error).__name__
        message = reason if reason.startswith(name) else f"{name} can not be read: {reason}"
        raise ValueError(message) from error

"""Cut functions of n-dimensional grids, with implicit neighbours: no index arrays.

    F(S) = sum over offsets d, pixels p of  forward_d[p] [p in S, p + d not in S] + backward ...

The edges of one offset are held over the *overlap* of the grid with its shifted copy, so a matching
(one offset, every second position along the offset's first axis) is a strided view of the dual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import BoolArray, WeightArray
from submin.terms.base.edges import edge_weights, saved_weights
from submin.terms.base.grid import GridTerm, Offset, checked_offsets, grid_offsets
from submin.terms.base.term import Block, TermMinor, check_decomposition
from submin.terms.blocks import grid_blocks
from submin.terms.capabilities.fixing import Fixing
from submin.terms.cut import contracted


class GridCut(GridTerm):
    """The cut function of an n-dimensional grid.

    Parameters
    ----------
    shape : tuple of int
        Shape of the grid.
    weights : float or sequence of array_like
        One cost for all edges, or one entry per offset of ``grid_offsets(len(shape),
        connectivity)`` or of `offsets`: a scalar, or an array of the overlap shape (``shape -
        |offset|``), whose position p is the edge from pixel ``p + max(0, -offset)`` to pixel ``p +
        max(0, offset)``.
    connectivity : int, optional
        4, 8, 16 or 32 in two dimensions, 6, 18 or 26 in three; 2 per axis by default.
    reverse_weights : like `weights`, optional
        Costs of edges whose head is in S and whose tail is not; by default the same as `weights`.
        An infinite weight is a precedence: "the tail only with the head", or the other way round.
    offsets : sequence of tuple of int, optional
        Any neighbours in place of those of `connectivity`, each with one step per axis; an edge
        and its reverse are the same, so (0, 1) stands for (0, -1) too.
    periodic : bool or sequence of bool, optional
        Whether the last pixels along all axes, or some, are beside the first ones.  Arrays of
        weights then have the whole length of these axes, and p is the tail along them.
    cells : array_like of bool, shape `shape`, optional
        The pixels that exist.  The others have no edges: their costs alone decide on them, and a
        cost of 0 leaves them out of the smallest minimiser.

    Arrays of float64 or float32 in C order are used in place, without a copy, 8 or 4 bytes an edge;
    of any other type or order, and where the two ways of an offset differ in type, they are
    converted to float64.  Every float32 is a float64, and all arithmetic is in float64.

    Raises
    ------
    ValueError
        If a shape is wrong, or a weight is negative or NaN.

    Examples
    --------
    >>> import numpy as np, submin as sm
    >>> sm.GridCut((2, 2), 1.0).evaluate(np.array([True, False, False, False]))
    2.0
    >>> ring = sm.GridCut(5, 1.0, periodic=True)
    >>> ring.evaluate(np.array([True, True, False, False, False]))
    2.0
    """

    kind = "grid_cut"

    def __init__(
        self,
        shape: int | Sequence[int],
        weights: float | Sequence[npt.ArrayLike],
        connectivity: int | None = None,
        reverse_weights: float | Sequence[npt.ArrayLike] | None = None,
        *,
        offsets: Sequence[Sequence[int]] | None = None,
        periodic: bool | Sequence[bool] = False,
        cells: npt.ArrayLike | None = None,
    ) -> None:
        checked = _checks.shape("shape", shape)
        if offsets is not None and connectivity is not None:
            raise ValueError("connectivity and offsets both say which pixels are neighbours")
        self.connectivity = (connectivity or 2 * len(checked)) if offsets is None else None
        neighbours = (
            grid_offsets(len(checked), 2 * len(checked) if connectivity is None else connectivity)
            if offsets is None
            else checked_offsets(len(checked), offsets)
        )
        super().__init__(checked, neighbours, _rings(periodic, len(checked)))
        self.cells = None if cells is None else self._cells(cells)
        forward = self._weights("weights", weights)
        backward = (
            forward
            if reverse_weights is None
            else self._weights("reverse_weights", reverse_weights)
        )
        self._set_weights(forward, backward)

    def _set_weights(self, forward: list[WeightArray], backward: list[WeightArray]) -> None:
        self.segments = self._segments(forward, backward)
        self._check_overflow()

    def _cells(self, cells: npt.ArrayLike) -> BoolArray:
        exists = _checks.flat_mask("cells", cells, "of the grid")
        if np.shape(cells) != self.shape:
            raise ValueError(f"cells has shape {np.shape(cells)}, and the grid has {self.shape}")
        return exists.reshape(self.shape)

    def _weights(self, name: str, weights: float | Sequence[npt.ArrayLike]) -> list[WeightArray]:
        """Return the weights of each offset: 0 where a pixel does not exist."""
        given = self._given(name, weights)
        wholes = [weight.size == 1 != prod(self.extent(k)) for k, weight in enumerate(given)]
        parts = [
            weight if whole else weight.reshape(self.extent(k))[part.slices].ravel()
            for k, (weight, whole) in enumerate(zip(given, wholes, strict=True))
            for part in self.parts[k]
        ]
        if self.cells is None:
            return parts
        return [self._of_cells(k, weight, self.cells) for k, weight in enumerate(parts)]

    def _of_cells(self, k: int, weights: WeightArray, cells: BoolArray) -> WeightArray:
        if 0 in self.overlaps[k]:
            return weights
        tails, heads = self.ends(k)
        both = (cells[tails] & cells[heads]).ravel()
        return np.where(both, weights, weights.dtype.type(0.0))

    def _given(self, name: str, weights: float | Sequence[npt.ArrayLike]) -> list[WeightArray]:
        """Check one cost for all edges, or one scalar or array per neighbour."""
        if not isinstance(weights, Sequence) and np.ndim(weights) == 0:
            return [edge_weights(name, _checks.float_array(name, weights))] * len(self.neighbours)
        arrays = list(weights if isinstance(weights, Sequence) else np.asarray(weights))
        if len(arrays) != len(self.neighbours):
            of_which = f"connectivity {self.connectivity} has " if self.connectivity else ""
            raise ValueError(
                f"{name} has {len(arrays)} entries, but {of_which or 'there are '}"
                f"{len(self.neighbours)} offsets: {self.neighbours}"
            )
        return [
            self._entry(f"{name}[{k}]", array, self.neighbours[k], self.extent(k))
            for k, array in enumerate(arrays)
        ]

    def _entry(
        self, name: str, array: npt.ArrayLike, offset: Offset, extent: tuple[int, ...]
    ) -> WeightArray:
        if np.ndim(array) and np.shape(array) != extent:
            raise ValueError(
                f"{name} has shape {np.shape(array)}, but offset {offset} needs {extent}, or a "
                "scalar"
            )
        return edge_weights(name, _checks.weight_array(name, array))

    def reweighted(
        self,
        weights: float | Sequence[npt.ArrayLike],
        reverse_weights: float | Sequence[npt.ArrayLike] | None = None,
    ) -> Self:
        """Return a cut of the same grid with other weights, as the constructor takes them."""
        stencil = {} if self.connectivity else {"offsets": self.neighbours}
        return type(self)(
            self.shape, weights, self.connectivity, reverse_weights, periodic=self.periodic,
            cells=self.cells, **stencil,
        )  # fmt: skip

    def _check_overflow(self) -> None:
        with np.errstate(over="ignore"):
            total = sum(
                float(part[0]) * (slots.stop - slots.start)
                for slots, *pair in self.segments
                for part in pair
                if part.size == 1 and np.isfinite(part[0])  # sums over arrays are bounded already
            )
        if not total < 1e150:
            raise ValueError(f"weights overflow: they sum to {total}; scale them down")

    def sizes(self) -> dict[str, object]:
        """Return the grid, and count its edges."""
        sizes: dict[str, object] = {"shape": self.shape}
        if self.connectivity:
            sizes["connectivity"] = self.connectivity
        else:
            sizes["offsets"] = len(self.neighbours)
        if any(self.periodic):
            sizes["periodic"] = self.periodic
        return {**sizes, "edges": self.size}

    def minor(self, fixing: Fixing) -> TermMinor:
        """Return a ``Cut`` of the free pixels, and a modular part, O(edges)."""
        return contracted(self, fixing)

    @property
    def decompositions(self) -> tuple[str, ...]:
        """Chains by direction (the default), matchings by parity, grid lines, or single edges."""
        return ("chains", "matchings", "lines", "functions")

    def blocks(self, decomposition: str, threads: int) -> Sequence[Block]:
        """Split the edges of each offset.

        ``"chains"``: all rows, all columns, all diagonals, ...: 1 block per offset.
        ``"matchings"``: every second position along the offset's first axis, so 2 blocks per
        offset.  ``"lines"``: each position along that axis on its own, the edges between two
        neighbouring lines of the grid.  ``"functions"``: each edge.
        """
        split = {
            "chains": grid_blocks.chains,
            "matchings": grid_blocks.matchings,
            "lines": grid_blocks.lines,
            "functions": grid_blocks.functions,
        }[check_decomposition(self, decomposition)]
        return [block for k in self.used for block in split(self, k, threads)]

    def arrays(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """Return shape, neighbours, and the weights of each offset, one way if both are one."""
        arrays = {"shape": np.array(self.shape)}
        if self.connectivity:
            arrays["connectivity"] = np.array(self.connectivity)
        else:
            arrays["neighbours"] = np.array(self.neighbours).reshape(-1, len(self.shape))
        if any(self.periodic):
            arrays["periodic"] = np.array(self.periodic)
        if self.cells is not None:
            arrays["cells"] = self.cells
        for k, (_, forward, backward) in enumerate(self.segments):
            arrays[f"weights_{k}"] = saved_weights(forward, self.overlaps[k])
            if backward is not forward:
                arrays[f"reverse_weights_{k}"] = saved_weights(backward, self.overlaps[k])
        return arrays

    @classmethod
    def examples(cls) -> list[Self]:
        """Return small terms of the family."""
        return [
            cls(5, 2.0),
            cls((2, 4), 1.0, connectivity=8, reverse_weights=0.25),
            cls((3, 3), [np.arange(6.0).reshape(3, 2), 0.1], reverse_weights=0.0),
            cls((2, 2, 2), 0.7, connectivity=26),
            cls((2, 4), [0.5, [[1.0, 2.0]]], None, 0.2, offsets=[(0, -2), (1, 2)]),
            cls((3, 3), 1.0, periodic=(True, False), cells=np.arange(9).reshape(3, 3) != 4),
        ]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        """Rebuild a grid cut."""
        shape = tuple(arrays["shape"].tolist())
        connectivity = int(arrays["connectivity"]) if "connectivity" in arrays else None
        term = cls(
            shape, 0.0, connectivity,
            offsets=arrays["neighbours"].tolist() if connectivity is None else None,
            periodic=arrays["periodic"].tolist() if "periodic" in arrays else False,
            cells=arrays.get("cells"),
        )  # fmt: skip
        count = range(len(term.offsets))
        ways = {f"{way}_{k}" for way in ("weights", "reverse_weights") for k in count}
        unknown = set(arrays) - ways - {"shape", "connectivity", "neighbours", "periodic", "cells"}
        if unknown:
            raise ValueError(f"a grid has no array {min(unknown)!r}")
        forward, backward = [], []
        for k, (offset, overlap) in enumerate(zip(term.offsets, term.overlaps, strict=True)):
            name, other = f"weights_{k}", f"reverse_weights_{k}"
            forward.append(term._entry(name, arrays[name], offset, overlap))
            backward.append(
                term._entry(other, arrays[other], offset, overlap)
                if other in arrays
                else forward[k]
            )
        term._set_weights(forward, backward)
        return term


def _rings(periodic: bool | Sequence[bool], dimensions: int) -> tuple[bool, ...]:
    each = periodic if isinstance(periodic, Sequence) else np.asarray(periodic)
    flags = tuple(each) if np.ndim(each) else (periodic,) * dimensions
    if not all(isinstance(flag, bool | np.bool_) for flag in flags):
        raise TypeError(f"periodic is {periodic!r}: it must be a boolean, or one for each axis")
    if len(flags) != dimensions:
        raise ValueError(f"periodic has {len(flags)} entries for {dimensions} axes")
    return tuple(map(bool, flags))

"""Cut functions of n-dimensional grids, with implicit neighbours: no index arrays.

    F(S) = sum over offsets d, pixels p of  forward_d[p] [p in S, p + d not in S] + backward ...

The edges of one offset are held over the *overlap* of the grid with its shifted copy, so a matching
(one offset, every second position along the offset's first axis) is a strided view of the dual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import WeightArray
from submin.terms.base.edges import edge_weights, saved_weights
from submin.terms.base.grid import GridTerm, grid_offsets
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
        connectivity)``: a scalar, or an array of the overlap shape (``shape - |offset|``), whose
        position p is the edge from pixel ``p + max(0, -offset)`` to pixel ``p + max(0, offset)``.
    connectivity : int, optional
        4 or 8 in two dimensions, 6, 18 or 26 in three; 2 per axis by default.
    reverse_weights : like `weights`, optional
        Costs of edges whose head is in S and whose tail is not; by default the same as `weights`.
        An infinite weight is a precedence: "the tail only with the head", or the other way round.

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
    """

    kind = "grid_cut"

    def __init__(
        self,
        shape: int | Sequence[int],
        weights: float | Sequence[npt.ArrayLike],
        connectivity: int | None = None,
        reverse_weights: float | Sequence[npt.ArrayLike] | None = None,
    ) -> None:
        checked = _checks.shape("shape", shape)
        super().__init__(checked, 2 * len(checked) if connectivity is None else connectivity)
        forward = self._weights("weights", weights)
        backward = (
            forward
            if reverse_weights is None
            else self._weights("reverse_weights", reverse_weights)
        )
        self.segments = self._segments(forward, backward)
        self._check_overflow()

    def _weights(self, name: str, weights: float | Sequence[npt.ArrayLike]) -> list[WeightArray]:
        """Check one cost for all edges, or one scalar or array per offset."""
        if not isinstance(weights, Sequence) and np.ndim(weights) == 0:
            return [edge_weights(name, _checks.float_array(name, weights))] * len(self.offsets)
        arrays = list(weights if isinstance(weights, Sequence) else np.asarray(weights))
        if len(arrays) != len(self.offsets):
            raise ValueError(
                f"{name} has {len(arrays)} entries, but connectivity {self.connectivity} has "
                f"{len(self.offsets)} offsets: {self.offsets}"
            )
        checked: list[WeightArray] = []
        for k, (array, overlap) in enumerate(zip(arrays, self.overlaps, strict=True)):
            if np.ndim(array) and np.shape(array) != overlap:
                raise ValueError(
                    f"{name}[{k}] has shape {np.shape(array)}, but offset {self.offsets[k]} needs "
                    f"{overlap}, or a scalar"
                )
            entry = f"{name}[{k}]"
            checked.append(edge_weights(entry, _checks.weight_array(entry, array)))
        return checked

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
        return {"shape": self.shape, "connectivity": self.connectivity, "edges": self.size}

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
        """Return shape, connectivity, and the weights of each offset, one way if both are one."""
        arrays = {"shape": np.array(self.shape), "connectivity": np.array(self.connectivity)}
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
        ]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        """Rebuild a grid cut."""
        shape, connectivity = tuple(arrays["shape"].tolist()), int(arrays["connectivity"])
        count = len(grid_offsets(len(shape), connectivity))
        weights = [arrays[f"weights_{k}"] for k in range(count)]
        reverse = [arrays.get(f"reverse_weights_{k}", weights[k]) for k in range(count)]
        same = all(np.array_equal(a, b) for a, b in zip(weights, reverse, strict=True))
        return cls(shape, weights, connectivity, None if same else reverse)

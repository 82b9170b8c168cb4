"""The problem: minimise F(S) over all subsets S."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Self

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._sums import compensated_sum
from submin.model import archive
from submin.model.minor import Minor, fix
from submin.model.objective import Objective
from submin.terms import REGISTRY
from submin.terms.base.term import Term


class Problem(Objective):
    """A sum of a modular function and terms, on a ground set of any shape.

    Parameters
    ----------
    unary : array_like of float, any shape
        Cost of having each element in S; its shape is the shape of every answer.  ``inf`` and
        ``-inf`` are hard constraints (out of S, in S).
    terms : sequence of Term, optional
        The submodular functions.
    constant : float, optional
        A cost that every set pays; part of every reported value.

    Notes
    -----
    Problem and terms use arrays of type float64 (indices: int32) in place, without a copy: leave
    them unchanged while the problem is in use.

    Raises
    ------
    ValueError
        If a cost is NaN, an axis has length 0, costs overflow, a term does not fit the shape, or
        infinite weights want an element of cost -inf in S only with one of cost inf.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1.0, -2.0, 0.5], [sm.GridCut(3, 1.0)])
    >>> problem.evaluate([False, True, True])
    -0.5
    """

    @classmethod
    def from_costs(
        cls, cost_in: npt.ArrayLike, cost_out: npt.ArrayLike, terms: Sequence[Term] = ()
    ) -> Self:
        """Build a problem from the costs of both labels of each element.

        Parameters
        ----------
        cost_in, cost_out : array_like of float, same shape
            Cost of each element when it is in S (label 1) and when it is not (label 0).  An
            infinite cost forbids that label.

        Raises
        ------
        ValueError
            If an element may have neither label (the problem is infeasible), or a cost is NaN
            or -inf.

        Examples
        --------
        >>> import numpy as np, submin as sm
        >>> problem = sm.Problem.from_costs([1.0, 2.0, np.inf], [3.0, 0.5, 0.0])
        >>> problem.unary, problem.constant
        (array([-2. ,  1.5,  inf]), 3.5)
        """
        first, second = _checks.costs("cost_in", cost_in), _checks.costs("cost_out", cost_out)
        if first.shape != second.shape:
            raise ValueError(f"cost_in has shape {first.shape} and cost_out {second.shape}")
        for name, costs in (("cost_in", first), ("cost_out", second)):
            _checks.refuse_where(name, costs, np.isneginf(costs), "use inf on the other label")
        both = np.isinf(first) & np.isinf(second)
        _checks.refuse_where(
            "cost_in", first, both, "cost_out is infinite there too, so the problem is infeasible"
        )
        for name, costs in (("cost_in", first), ("cost_out", second)):
            large = np.isfinite(costs) & (np.abs(costs) >= _checks.LARGEST_SUM)
            _checks.refuse_where(name, costs, large, "inf forbids a label; scale other costs down")
        unary = np.where(np.isinf(first), np.inf, np.where(np.isinf(second), -np.inf, 0.0))
        finite = np.isfinite(first) & np.isfinite(second)
        unary[finite] = first[finite] - second[finite]
        base = np.where(np.isposinf(unary) | finite, second, first)
        return cls(unary, terms, compensated_sum(base))

    def minor(
        self, inside: npt.ArrayLike | None = None, outside: npt.ArrayLike | None = None
    ) -> Minor[Problem]:
        """Return the problem that is left when some elements are fixed in S and some out of it.

        Parameters
        ----------
        inside, outside : array_like of bool, the problem's shape (or flat), optional
            The elements fixed in S, and those fixed out of it; none by default.  What infinite
            weights tie to them is fixed with them.

        Returns
        -------
        Minor
            ``minor.problem`` on the free elements, flat; ``minor.lift(S)`` is S with the elements
            fixed inside, and costs the same in this problem.

        Raises
        ------
        ValueError
            If an element is fixed both ways or against a constraint, or none is left free.
        TypeError
            If a term's family does not say what fixing elements leaves of it.

        Notes
        -----
        O(size of the data).  Elements with hard constraints that are not fixed keep them.

        Examples
        --------
        >>> import numpy as np, submin as sm
        >>> problem = sm.Problem([1.0, -2.0, 0.5], [sm.GridCut(3, 1.0)])
        >>> minor = problem.minor(inside=np.array([False, True, False]))
        >>> minor.elements, minor.problem.unary, minor.problem.constant
        (array([0, 2], dtype=int32), array([ 0. , -0.5]), 0.0)
        >>> minor.lift(sm.minimize(minor.problem).minimizer)
        array([False,  True,  True])
        """
        nothing = np.zeros(self.n, dtype=np.bool_)
        return fix(
            self, nothing if inside is None else inside, nothing if outside is None else outside
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the problem to a ``.npz`` file, without pickle.

        Raises
        ------
        TypeError
            If a term holds Python code.
        OSError
            If the file can not be written.
        """
        arrays: archive.Arrays = {}
        archive.write(path, arrays, problem=self.put(arrays))

    def put(self, arrays: archive.Arrays) -> archive.Description:
        """Add what a file holds of the problem to the arrays, and return its description."""
        arrays["unary"] = self.unary
        for index, term in enumerate(self.terms):
            for name, array in term.arrays().items():
                arrays[f"term_{index}.{name}"] = np.asarray(array)
        return {"terms": [term.kind for term in self.terms], "constant": self.constant}

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Problem:
        """Read a problem that ``save`` or ``Result.save`` wrote.

        Raises
        ------
        ValueError
            If the file is not a submin file, is damaged or holds no problem.
        OSError
            If the file can not be opened.
        """
        missing = "a result without its problem; save it with result.save(path, problem)"
        with archive.reading(path, "problem", missing) as (file, saved):
            terms = [
                _family(kind).from_arrays(file.with_prefix(f"term_{index}."))
                for index, kind in enumerate(saved["terms"])
            ]
            return cls(file["unary"], terms, saved["constant"])


def _family(kind: object) -> type[Term]:
    if not isinstance(kind, str) or kind not in REGISTRY:
        known = ", ".join(repr(name) for name in REGISTRY)
        raise ValueError(f"it has a term of kind {kind!r}, and this version knows {known}")
    return REGISTRY[kind]

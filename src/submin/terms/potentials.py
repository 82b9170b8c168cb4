"""The higher-order potentials of computer vision and machine learning, under their names.

Each function returns a term of one of the families; nothing here needs its own projection.
Groups are in CSR form, as for the families; ``label_groups`` makes them from a label image, and
``list_groups`` from lists.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from submin import _checks
from submin._typing import FloatArray, IndexArray, PointerArray
from submin.terms.base.groups import check_pointers, per_entry
from submin.terms.cardinality import Cardinality
from submin.terms.concave_of_modular import ConcaveOfModular, rounded_sums
from submin.terms.hyperedge import Hyperedge
from submin.terms.truncation import Truncation

__all__ = ["coverage", "facility_location", "negative_hinge", "potts_pn", "robust_pn"]


def potts_pn(
    pointers: npt.ArrayLike, members: npt.ArrayLike, penalties: npt.ArrayLike
) -> Hyperedge:
    """P^n Potts potentials: a penalty for each group whose members do not all agree.

    The term is::

        F(S) = sum_R penalty_R [R is neither inside S nor outside of S]

    (Kohli, Kumar, Torr 2009, doi:10.1109/TPAMI.2008.217.)  The same as an undirected hyperedge.

    Parameters
    ----------
    pointers, members : array_like of int, shapes (groups + 1,) and (incidences,)
        The groups.
    penalties : array_like of float, shape (groups,), or float

    Raises
    ------
    TypeError, ValueError
        As ``Hyperedge``, which calls the penalties its weights.

    Examples
    --------
    >>> import numpy as np
    >>> potts_pn([0, 3], [0, 1, 2], 2.0).evaluate(np.array([True, False, False]))
    2.0
    """
    return Hyperedge(pointers, members, penalties)


def robust_pn(
    pointers: npt.ArrayLike,
    members: npt.ArrayLike,
    penalties: npt.ArrayLike,
    tolerances: npt.ArrayLike,
    masses: npt.ArrayLike | None = None,
) -> Cardinality | ConcaveOfModular:
    """Robust P^n potentials: the penalty grows with the minority of each group, up to a limit.

    The term is::

        F(S) = sum_R penalty_R min(1, m(S and R) / tolerance_R, m(R without S) / tolerance_R)

    (Kohli, Ladický, Torr 2009, doi:10.1007/s11263-008-0202-0.)  A tolerance of at most one member
    gives the P^n Potts potential; beyond half of the group the limit is never reached.

    Parameters
    ----------
    pointers, members : array_like of int, shapes (groups + 1,) and (incidences,)
        The groups.
    penalties : array_like of float, shape (groups,), or float
        The most that each group costs.
    tolerances : array_like of float, shape (groups,), or float
        Mass of the minority at which the penalty is reached, more than 0.
    masses : array_like of float, shape (incidences,), optional
        Mass of each member in its group; by default 1, so that members are counted.

    Returns
    -------
    Cardinality or ConcaveOfModular
        The first if no masses are given.  Nothing has to be added to the unary.

    Raises
    ------
    TypeError, ValueError
        As the families, or if a tolerance is not positive, or is lost in the rounding of the mass
        of its group.

    Notes
    -----
    Masses of S are rounded once to float64, which moves the value of a group by its penalty times
    1.1e-16 times its mass over its tolerance, at most.

    Examples
    --------
    >>> import numpy as np
    >>> term = robust_pn([0, 6], range(6), penalties=10.0, tolerances=2.0)
    >>> [term.evaluate(np.arange(6) < count) for count in range(7)]
    [0.0, 5.0, 10.0, 10.0, 10.0, 5.0, 0.0]
    """
    size, groups = np.size(members), np.size(pointers) - 1
    checked = check_pointers("pointers", pointers, size)
    most = per_entry("penalties", penalties, groups, "group")
    never = "a tolerance of half the mass of its group is never reached"
    tolerance = per_entry("tolerances", tolerances, groups, "group", never)
    _checks.refuse_where("tolerances", tolerance, tolerance == 0.0, "it must be more than 0")
    if masses is None:
        return _robust_counts(checked, members, most, tolerance)
    mass = per_entry("masses", masses, size, "member")
    whole = rounded_sums(mass, checked)
    whole = np.where(whole > 0.0, whole, 1.0)
    turn = np.minimum(tolerance, 0.5 * whole)
    reached = most * (turn / tolerance)
    # Up to the first turn, level, down from the second; where both meet, a knot half way up.
    meet = turn == 0.5 * whole
    first, second = np.where(meet, 0.5 * turn, turn), np.where(meet, turn, whole - turn)
    lost = (first == 0.0) | (second >= whole) | ~np.isfinite(reached)
    remedy = "it is lost in the rounding of the mass of its group; a larger one says the same"
    _checks.refuse_where("tolerances", tolerance, lost, remedy)
    zero = np.zeros(groups)
    knots = np.stack([zero, first, second, whole], axis=1)
    heights = np.stack([zero, reached * (first / turn), reached, zero], axis=1)
    return ConcaveOfModular(checked, members, mass, knots, heights)


def _robust_counts(
    pointers: PointerArray, members: npt.ArrayLike, most: FloatArray, tolerance: FloatArray
) -> Cardinality:
    """Tabulate robust potentials for all counts."""
    sizes = np.diff(pointers)
    owner = np.repeat(np.arange(sizes.size), sizes + 1)
    count = np.arange(owner.size) - (pointers[:-1] + np.arange(sizes.size))[owner]
    minority = np.minimum(count, sizes[owner] - count)
    values = most[owner] * np.minimum(minority / np.maximum(tolerance[owner], 1e-300), 1.0)
    indices: IndexArray = _checks.indices("members", members).ravel()
    return Cardinality.from_arrays(
        {"pointers": pointers, "members": indices, "values": values, "shape": np.zeros(0)}
    )


def coverage(pointers: npt.ArrayLike, members: npt.ArrayLike, weights: npt.ArrayLike) -> Truncation:
    """Coverage functions: the weight of the items that S covers.

    The term is::

        F(S) = sum over items of  weight [S has an element that covers the item]

    Parameters
    ----------
    pointers, members : array_like of int, shapes (items + 1,) and (incidences,)
        Item i is covered by the elements ``members[pointers[i]:pointers[i + 1]]``.
    weights : array_like of float, shape (items,), or float
        Cost of each item that is covered.

    Raises
    ------
    TypeError, ValueError
        As ``Truncation``: an item is the truncation ``w min(|S and R|, 1)``.

    Examples
    --------
    >>> import numpy as np
    >>> term = coverage([0, 2, 3], [0, 1, 1], [2.0, 5.0])
    >>> term.evaluate(np.array([True, False])), term.evaluate(np.array([False, True]))
    (2.0, 7.0)
    """
    checked = check_pointers("pointers", pointers, np.size(members))
    weight = per_entry("weights", weights, checked.size - 1, "item")
    return Truncation(checked, members, np.repeat(weight, np.diff(checked)), weight)


def facility_location(benefits: npt.ArrayLike) -> Truncation:
    """Facility location functions: each client takes the largest number that S offers it.

    The term is::

        F(S) = sum over clients i of  max over j in S of benefits[i, j],   0 if S is empty

    A maximum is a sum of coverage functions of nested sets: the elements that offer the largest
    number, the two largest, and so on, weighted by the steps between those numbers.

    Parameters
    ----------
    benefits : array_like of float, shape (clients, n)
        What each element offers to each client, 0 or more.

    Raises
    ------
    ValueError
        If the array does not have two axes or a number is negative, NaN or infinite.

    Notes
    -----
    A client to whom k elements offer something is k functions of up to k elements: O(k^2) numbers.

    Examples
    --------
    >>> import numpy as np
    >>> term = facility_location([[3.0, 1.0], [0.0, 2.0]])
    >>> [term.evaluate(np.array(chosen)) for chosen in ([True, False], [False, True], [True] * 2)]
    [3.0, 3.0, 5.0]
    """
    matrix = _checks.weights("benefits", benefits)
    if matrix.ndim != 2:
        raise ValueError(f"benefits has shape {matrix.shape}: it needs a row for each client")
    order = np.argsort(-matrix, axis=1, kind="stable")
    offers = np.take_along_axis(matrix, order, axis=1)
    steps = -np.diff(offers, axis=1, append=0.0)
    client, count = np.nonzero(steps > 0.0)
    pointers = np.concatenate([[0], np.cumsum(count + 1)])
    first = np.arange(pointers[-1]) - np.repeat(pointers[:-1], count + 1)
    members = order[np.repeat(client, count + 1), first]
    return coverage(pointers, members, steps[client, count])


def negative_hinge(
    pointers: npt.ArrayLike,
    members: npt.ArrayLike,
    masses: npt.ArrayLike,
    thresholds: npt.ArrayLike,
) -> Truncation:
    """Hinge rewards: what the mass of S in each group exceeds a threshold by is gained.

    The term is::

        F(S) = - sum_R max(0, m(S and R) - threshold_R)

    The concave hinge: it is min(m, threshold) - m.  (The convex hinge loss of support vector
    machines, as a cost of the mass of a *set*, is supermodular.)

    Parameters
    ----------
    pointers, members : array_like of int, shapes (groups + 1,) and (incidences,)
        The groups.
    masses : array_like of float, shape (incidences,), or float
        Mass of each member in its group, 0 or more, in units of cost.
    thresholds : array_like of float, shape (groups,), or float

    Raises
    ------
    TypeError, ValueError
        As ``Truncation``, which calls the thresholds its caps.

    Examples
    --------
    >>> import numpy as np
    >>> negative_hinge([0, 3], [0, 1, 2], 1.0, 2.0).evaluate(np.array([True] * 3))
    -1.0
    """
    mass = _checks.weights("masses", masses)
    never = "a threshold of the mass of its group is never exceeded"
    threshold = _checks.weights("thresholds", thresholds, never)
    return Truncation(pointers, members, mass, threshold, -mass)

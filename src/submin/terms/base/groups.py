"""What the families with one dual value per member of a group share.

Groups are held in CSR form: group i has the elements ``members[pointers[i]:pointers[i + 1]]``, and
the dual has one value for each of them, in the same order.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from submin import _checks, kernels
from submin._lazy import lazy
from submin._sums import UNIT_ROUNDOFF, largest_multiplicity, two_sum
from submin._typing import BoolArray, FloatArray, IndexArray, PointerArray
from submin.terms.base.term import Block, Term, check_decomposition
from submin.terms.blocks.colouring import colour_classes
from submin.terms.capabilities.fixing import Fixing


class Selection(NamedTuple):
    """Some members of some groups, which form a family again.

    ``groups`` are the old numbers of the groups, ``slots`` the old places of their members, and
    ``pointers``, ``members`` the groups in new numbers of elements.
    """

    groups: PointerArray
    slots: PointerArray
    pointers: PointerArray
    members: IndexArray


class GroupTerm(Term):
    """One function for each group of elements, with one dual value for each member."""

    pointers: PointerArray
    members: IndexArray
    group_of: IndexArray

    def _set_groups(self, pointers: npt.ArrayLike, members: npt.ArrayLike) -> None:
        """Check and store the groups."""
        self.pointers, self.members = checked_members("members", members, "pointers", pointers)
        self.group_of = np.repeat(
            np.arange(self.pointers.size - 1, dtype=np.int32), np.diff(self.pointers)
        )
        self.size = self.members.size
        self.elements = int(self.members.max()) + 1 if self.size else 0
        self.depth = largest_multiplicity(self.members)

    def check_data(self) -> None:
        """Refuse members that were changed in place to something else than elements."""
        _checks.numbers_in_place("members", self.members, self.elements)

    def sizes(self) -> dict[str, object]:
        """Count the groups, their members in all, and the elements."""
        groups = self.pointers.size - 1
        return {"groups": groups, "members": self.size, "elements": self.elements}

    def accumulate(self, dual: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add each value to its element, O(incidences)."""
        kernels.active.groups_accumulate(self.members, dual, s, scale)

    def magnitude(self, dual: FloatArray) -> float:
        """Return sum |y|."""
        return kernels.active.absolute_sum(dual, 0)

    def select(self, chosen: BoolArray, fixing: Fixing) -> Selection:
        """Return the groups of the chosen places, all of them free, without empty groups."""
        slots = np.flatnonzero(chosen)
        counts = np.bincount(self.group_of[slots], minlength=self.pointers.size - 1)
        groups = np.flatnonzero(counts)
        pointers = np.concatenate([[0], np.cumsum(counts[groups])])
        return Selection(groups, slots, pointers, fixing.number[self.members[slots]])

    @property
    def decompositions(self) -> tuple[str, ...]:
        """Disjoint groups together (the default), or one block per group."""
        return ("groups", "functions")

    def group_classes(self, decomposition: str) -> list[IndexArray]:
        """Split the groups into classes without common members by greedy colouring, O(incidences).

        Groups without members are in no class.
        """
        filled = np.flatnonzero(np.diff(self.pointers)).astype(np.int32)
        if check_decomposition(self, decomposition) == "functions":
            return list(filled[:, None])
        if self.depth <= 1:
            return [filled] if filled.size else []
        pointers = np.append(self.pointers[:-1][filled], self.pointers[-1])
        return [filled[chosen] for chosen in colour_classes(pointers, self.members)]


class GroupBlock(Block):
    """Groups of one term without common elements; a family adds the projections."""

    term: GroupTerm

    def __init__(self, term: GroupTerm, groups: IndexArray, threads: int) -> None:
        self.term, self.groups, self.threads = term, groups, threads
        self.slots: Any = incidences(term.pointers, groups)
        self.size = self.slots.size
        if groups.size and groups[-1] - groups[0] + 1 == groups.size:
            first, stop = term.pointers[groups[0]], term.pointers[groups[-1] + 1]
            self.slots = slice(int(first), int(stop))
        self.members: IndexArray = term.members[self.slots]

    def support(self) -> IndexArray:
        """Return the members of the groups."""
        return self.members

    @abstractmethod
    def nearest(self, a: FloatArray, d: FloatArray, out: FloatArray) -> None:
        """Write the y of the block that minimises sum (y - a)^2 / d to `out`."""

    def project_weighted(
        self, dual: FloatArray, step: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Project in the metric of the weights of the members."""
        out = np.empty(self.size)
        self.nearest(dual[self.slots] - step[self.members], 1.0 / weights[self.members], out)
        return out

    @lazy
    def pointers(self) -> PointerArray:
        """Where the groups begin and end in the block's part."""
        sizes = np.diff(self.term.pointers)[self.groups]
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])

    def accumulate(self, part: FloatArray, s: FloatArray, scale: float = 1.0) -> None:
        """Add each value to its element, O(block)."""
        kernels.active.groups_accumulate(self.members, part, s, scale)


def label_groups(labels: npt.ArrayLike) -> tuple[PointerArray, IndexArray]:
    """Return the groups of equal labels as the pair (pointers, members) that terms take.

    Parameters
    ----------
    labels : array_like of int, any shape
        One label for each element of the ground set (superpixels, say).  Elements with a negative
        label are in no group.

    Returns
    -------
    pointers : int64 array, shape (groups + 1,)
    members : int32 array
        Groups in increasing order of their labels, elements numbered in C order.

    Raises
    ------
    TypeError
        If the labels are not integers.

    Notes
    -----
    O(n log n).

    Examples
    --------
    >>> pointers, members = label_groups([[7, 2], [2, -1]])
    >>> pointers.tolist(), members.tolist()
    ([0, 2, 3], [1, 2, 0])
    """
    array = np.asarray(labels)
    if array.dtype.kind not in "biu":
        raise TypeError(f"labels must hold integers, but its type is {array.dtype}")
    flat = array.ravel()
    order = np.argsort(flat, kind="stable").astype(np.int32)
    members = order[np.count_nonzero(flat < 0) :]
    _, starts = np.unique(flat[members], return_index=True)
    return np.append(starts, members.size).astype(np.int64), members


def list_groups(
    lists: Iterable[npt.ArrayLike | Iterable[int]] | Mapping[Any, npt.ArrayLike | Iterable[int]],
) -> tuple[PointerArray, IndexArray]:
    """Return groups given as lists of members in CSR form, as pointers and members.

    Parameters
    ----------
    lists : iterable of array_like of int, or mapping to them
        The element numbers of each group, in C order of the ground set: lists, arrays, sets (which
        are sorted) or generators, in any iterable.  Of a mapping, such as a dict, its values.

    Raises
    ------
    TypeError
        If a group does not hold integers.
    ValueError
        If a number is negative, or a group has an element twice.

    Examples
    --------
    >>> pointers, members = list_groups([[0, 1, 2], [2, 3]])
    >>> pointers.tolist(), members.tolist()
    ([0, 3, 5], [0, 1, 2, 2, 3])
    """
    named = dict(lists if isinstance(lists, Mapping) else enumerate(lists))
    groups = [_listed(f"lists[{name!r}]", group) for name, group in named.items()]
    pointers = np.cumsum([0, *(group.size for group in groups)], dtype=np.int64)
    members = np.concatenate([np.zeros(0, dtype=np.int32), *groups])
    repeated = _repeats(pointers, members)
    if repeated.any():
        place = int(np.argmax(repeated))
        group = group_at(pointers, place)
        raise ValueError(
            f"lists[{list(named)[group]!r}] has element {members[place]} twice: an element may be "
            "once in each group"
        )
    return pointers, members


def _listed(name: str, group: Any) -> IndexArray:
    """Convert the element numbers of one group, or refuse them."""
    if isinstance(group, Iterable) and not isinstance(group, Sequence | np.ndarray):
        numbers = _checks.indices(name, list(group)).ravel()
        return np.sort(numbers) if isinstance(group, Set) else numbers
    return _checks.indices(name, group).ravel()


def group_at(pointers: PointerArray, place: int) -> int:
    """Return the group that has a place among all members."""
    return int(np.searchsorted(pointers, place, side="right")) - 1


def checked_members(
    name: str, members: npt.ArrayLike, pointers_name: str, pointers: npt.ArrayLike
) -> tuple[PointerArray, IndexArray]:
    """Convert groups in CSR form, or refuse them, naming the group."""
    checked, given = check_pointers(pointers_name, pointers, np.size(members)), np.asarray(members)
    if given.dtype.kind == "i" and np.any(given < 0):
        place = int(np.argmax(given.ravel() < 0))
        raise ValueError(
            f"{name}[{place}] is {given.ravel()[place]} (group {group_at(checked, place)}): "
            "element numbers start at 0"
        )
    numbers = _checks.indices(name, members).ravel()
    repeated = _repeats(checked, numbers)
    if repeated.any():
        place = int(np.argmax(repeated))
        raise ValueError(
            f"{name}[{place}] is {numbers[place]} (group {group_at(checked, place)}): an element "
            "may be once in each group"
        )
    return checked, numbers


def check_pointers(name: str, pointers: npt.ArrayLike, incidences: int) -> PointerArray:
    """Convert CSR pointers into `incidences` members, or refuse them."""
    try:
        array = np.asarray(pointers)
    except ValueError:  # lists of several lengths
        array = np.zeros((0, 0))
    if array.dtype.kind not in "iu" or array.ndim != 1 or array.size < 1:
        raise TypeError(
            f"{name} must be a 1-D array of integers with groups + 1 entries; *list_groups(lists) "
            "gives pointers and members of lists of members"
        )
    checked = np.ascontiguousarray(array, dtype=np.int64)
    falls = np.zeros(checked.size, dtype=np.bool_)
    falls[1:] = np.diff(checked) < 0
    if falls.any():
        group = int(np.argmax(falls)) - 1
        raise ValueError(
            f"{name}[{group + 1}] is {checked[group + 1]}: {name} must not decrease, and group "
            f"{group} begins at {checked[group]}"
        )
    if checked[0] != 0 or checked[-1] != incidences:
        raise ValueError(
            f"{name} runs from {checked[0]} to {checked[-1]}: it must run from 0 to "
            f"{incidences}, the number of members"
        )
    return checked


def _repeats(pointers: PointerArray, members: IndexArray) -> BoolArray:
    """Say where an element is for the second time in one group, O(incidences log incidences)."""
    group_of = np.repeat(np.arange(pointers.size - 1), np.diff(pointers))
    keys = group_of * (1 + int(members.max(initial=0))) + members
    repeated = np.zeros(members.size, dtype=np.bool_)
    ascending = np.sort(keys)
    if np.any(ascending[1:] == ascending[:-1]):  # the order itself takes several times as long
        order = np.argsort(keys, kind="stable")
        repeated[order[1:]] = keys[order][1:] == keys[order][:-1]
    return repeated


def per_entry(
    name: str,
    values: npt.ArrayLike,
    size: int,
    what: str,
    infinite: str | None = _checks.CONSTRAINT,
) -> FloatArray:
    """Convert non-negative weights, one for each of `size` entries or one for all of them.

    `infinite` says what to give in place of infinity; None accepts it.
    """
    if infinite is None:
        weights = _checks.precedence_weights(name, values)
    else:
        weights = _checks.weights(name, values, infinite)
    if weights.ndim == 0:
        return np.full(size, float(weights))
    if weights.shape != (size,):
        raise ValueError(
            f"{name} has shape {weights.shape}: it must have one entry for each {what}, shape "
            f"({size},), or be one number for all of them"
        )
    return weights


def incidences(pointers: PointerArray, groups: npt.NDArray[np.integer[Any]]) -> PointerArray:
    """Return the positions of the members of some groups, one group after the other."""
    return ranges(pointers[:-1][groups], np.diff(pointers)[groups])


def ranges(starts: PointerArray, sizes: PointerArray) -> PointerArray:
    """Return start, start + 1, ... of each start, as many as its size says.

    Examples
    --------
    >>> ranges(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    shift = starts - (np.cumsum(sizes) - sizes)
    positions: PointerArray = np.repeat(shift, sizes) + np.arange(int(sizes.sum()))
    return positions


def grouped_sums(values: FloatArray, pointers: PointerArray) -> tuple[FloatArray, FloatArray]:
    """Return the sum of each group as high + low, 0 for empty groups, O(incidences).

    The leading digits of a group's numbers are multiples of one power of two, which float64 adds up
    exactly (Rump, Ogita, Oishi 2008, doi:10.1137/050645671); ``grouped_error`` bounds what the sum
    of the other digits loses.  ``high`` is the rounded sum.

    Examples
    --------
    >>> high, low = grouped_sums(np.array([1e16, 1.0, 4.0]), np.array([0, 2, 2, 3]))
    >>> high.tolist(), low.tolist()
    ([1e+16, 0.0, 4.0], [1.0, 0.0, 0.0])
    """
    scale = np.repeat(_group_scales(values, pointers), np.diff(pointers))
    leading = (scale + values) - scale
    return two_sum(plain_sums(leading, pointers), plain_sums(values - leading, pointers))


def grouped_error(values: FloatArray, pointers: PointerArray) -> FloatArray:
    """Bound the error of high + low in ``grouped_sums``, and in ``running_sums``, for each group.

    The other digits are below u * scale each, and a plain sum of k of them errs by k times u of
    their magnitudes at most.
    """
    share: FloatArray = np.diff(pointers) * UNIT_ROUNDOFF
    return share * share * _group_scales(values, pointers)


def running_sums(values: FloatArray, pointers: PointerArray) -> tuple[FloatArray, FloatArray]:
    """Return for each place the sum of the numbers before it in its group, as high + low.

    Groups of similar size are rows of one matrix: O(incidences), whatever the other groups hold.

    Examples
    --------
    >>> high, low = running_sums(np.array([1e16, 1.0, 4.0, 5.0]), np.array([0, 3, 4]))
    >>> high.tolist(), low.tolist()
    ([0.0, 1e+16, 1e+16, 0.0], [0.0, 0.0, 1.0, 0.0])
    """
    high, low, sizes = np.zeros(values.size), np.zeros(values.size), np.diff(pointers)
    scales, classes = _group_scales(values, pointers), np.frexp(sizes)[1]
    for width in np.unique(classes[sizes > 1]).tolist():
        groups = np.flatnonzero(classes == width)
        column = np.arange((1 << width) - 1)
        inside = column < sizes[groups, None]
        places = (pointers[groups, None] + column)[inside]
        rows = np.zeros(inside.shape)
        rows[inside] = values[places]
        leading = (scales[groups, None] + rows) - scales[groups, None]
        for out, part in ((high, leading), (low, rows - leading)):
            part[:, 1:] = np.cumsum(part[:, :-1], axis=1)
            part[:, 0] = 0.0
            out[places] = part[inside]
    return two_sum(high, low)


def _group_scales(values: FloatArray, pointers: PointerArray) -> FloatArray:
    """Return for each group a power of two of at least twice its size times its largest number.

    It is 0 where all numbers are.
    """
    sizes, largest = np.diff(pointers), np.zeros(pointers.size - 1)
    if values.size:
        filled = sizes > 0
        largest[filled] = np.maximum.reduceat(np.abs(values), pointers[:-1][filled])
    scales = np.ldexp(1.0, np.frexp(largest)[1] + np.frexp(sizes)[1] + 1)
    return np.where(largest > 0.0, scales, 0.0)


def plain_sums(values: FloatArray, pointers: PointerArray) -> FloatArray:
    """Return the sum of each group, one number after the other."""
    sums, filled = np.zeros(pointers.size - 1), np.diff(pointers) > 0
    if values.size:
        sums[filled] = np.add.reduceat(values, pointers[:-1][filled])
    return sums


def grouped_any(marks: BoolArray, pointers: PointerArray) -> BoolArray:
    """Say for each group whether a member is marked."""
    running = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(marks)])
    found: BoolArray = running[pointers[1:]] > running[pointers[:-1]]
    return found

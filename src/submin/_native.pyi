# The compiled kernels have the signatures of their NumPy twins; the flows have no twin.

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from submin._typing import FloatArray, IndexArray, PointerArray, WeightArray
from submin.kernels.chains_reference import grid_chains_project as grid_chains_project
from submin.kernels.chains_reference import grid_chains_sweep as grid_chains_sweep
from submin.kernels.chains_reference import path_chains_project as path_chains_project
from submin.kernels.chains_reference import path_chains_sweep as path_chains_sweep
from submin.kernels.diagonal_metric import weighted_cardinality as weighted_cardinality
from submin.kernels.diagonal_metric import weighted_chains as weighted_chains
from submin.kernels.diagonal_metric import weighted_hyperedge as weighted_hyperedge
from submin.kernels.diagonal_metric import weighted_table as weighted_table
from submin.kernels.diagonal_metric import weighted_truncation as weighted_truncation
from submin.kernels.groups_reference import cardinality_excess as cardinality_excess
from submin.kernels.groups_reference import group_counts as group_counts
from submin.kernels.groups_reference import groups_accumulate as groups_accumulate
from submin.kernels.groups_reference import hyperedge_excess as hyperedge_excess
from submin.kernels.groups_reference import hyperedge_project as hyperedge_project
from submin.kernels.groups_reference import hyperedge_sweep as hyperedge_sweep
from submin.kernels.groups_reference import truncation_excess as truncation_excess
from submin.kernels.groups_reference import truncation_project as truncation_project
from submin.kernels.groups_reference import truncation_sweep as truncation_sweep
from submin.kernels.reference import cardinality_greedy as cardinality_greedy
from submin.kernels.reference import cardinality_project as cardinality_project
from submin.kernels.reference import cardinality_sweep as cardinality_sweep
from submin.kernels.reference import colour as colour
from submin.kernels.reference import edges_project as edges_project
from submin.kernels.reference import edges_sweep as edges_sweep
from submin.kernels.reference import evaluate_sets as evaluate_sets
from submin.kernels.reference import grid_project as grid_project
from submin.kernels.reference import grid_sweep as grid_sweep
from submin.kernels.reference import linear_forests as linear_forests
from submin.kernels.reference import table_project as table_project
from submin.kernels.reference import table_second_differences as table_second_differences
from submin.kernels.reference import table_sweep as table_sweep
from submin.kernels.sums_reference import absolute_sum as absolute_sum
from submin.kernels.sums_reference import best_prefix as best_prefix
from submin.kernels.sums_reference import compensated_sum as compensated_sum
from submin.kernels.sums_reference import descending_ranks as descending_ranks
from submin.kernels.sums_reference import edges_accumulate as edges_accumulate
from submin.kernels.sums_reference import edges_cut_value as edges_cut_value
from submin.kernels.sums_reference import edges_excess as edges_excess
from submin.kernels.sums_reference import extrapolate as extrapolate
from submin.kernels.sums_reference import grid_accumulate as grid_accumulate
from submin.kernels.sums_reference import grid_cut_value as grid_cut_value
from submin.kernels.sums_reference import grid_greedy as grid_greedy
from submin.kernels.sums_reference import grid_inspect as grid_inspect
from submin.kernels.sums_reference import negative_sum as negative_sum
from submin.kernels.sums_reference import nonnegative_sum as nonnegative_sum
from submin.kernels.sums_reference import sum_of_squares as sum_of_squares
from submin.kernels.sums_reference import sum_within as sum_within

class GridFlow:
    def __init__(
        self,
        shape: PointerArray,
        offsets: PointerArray,
        backward: Sequence[WeightArray],
        forward: Sequence[WeightArray],
        flows: Sequence[FloatArray],
        s: FloatArray,
        patience: int = ...,
    ) -> None: ...
    def advance(self, budget: int, threads: int = 1) -> bool: ...
    def members(self, member: npt.NDArray[np.uint8], largest: bool = False) -> None: ...
    def gave_up(self) -> bool: ...
    def counts(self) -> dict[str, int]: ...
    def visits(self) -> int: ...

class GridTreeFlow:
    def __init__(
        self,
        shape: PointerArray,
        offsets: PointerArray,
        backward: Sequence[WeightArray],
        forward: Sequence[WeightArray],
        flows: Sequence[FloatArray],
        s: FloatArray,
    ) -> None: ...
    def advance(self, budget: int, threads: int = 1) -> bool: ...
    def members(self, member: npt.NDArray[np.uint8], largest: bool = False) -> None: ...
    def gave_up(self) -> bool: ...
    def counts(self) -> dict[str, int]: ...
    def visits(self) -> int: ...

class GraphFlow:
    def __init__(
        self,
        tails: IndexArray,
        heads: IndexArray,
        backward: WeightArray,
        forward: WeightArray,
        flow: FloatArray,
        s: FloatArray,
        warm: bool = False,
    ) -> None: ...
    def advance(self, budget: int, threads: int = 1) -> bool: ...
    def members(self, member: npt.NDArray[np.uint8], largest: bool = False) -> None: ...
    def gave_up(self) -> bool: ...
    def counts(self) -> dict[str, int]: ...
    def visits(self) -> int: ...

def add_net_flow(tails: IndexArray, heads: IndexArray, flow: FloatArray, s: FloatArray) -> None: ...
def settle(
    tails: IndexArray,
    heads: IndexArray,
    backward: WeightArray,
    forward: WeightArray,
    flow: FloatArray,
    s: FloatArray,
    first: int,
) -> None: ...
def vector_width() -> str: ...
def empty(size: int) -> FloatArray: ...
def zeros(size: int) -> FloatArray: ...

# The compiled kernels have the signatures of their NumPy twins.

from submin.kernels.chains_reference import grid_chains_project as grid_chains_project
from submin.kernels.chains_reference import grid_chains_sweep as grid_chains_sweep
from submin.kernels.chains_reference import path_chains_project as path_chains_project
from submin.kernels.chains_reference import path_chains_sweep as path_chains_sweep
from submin.kernels.groups_reference import hyperedge_project as hyperedge_project
from submin.kernels.groups_reference import hyperedge_sweep as hyperedge_sweep
from submin.kernels.groups_reference import truncation_project as truncation_project
from submin.kernels.groups_reference import truncation_sweep as truncation_sweep
from submin.kernels.reference import cardinality_greedy as cardinality_greedy
from submin.kernels.reference import cardinality_project as cardinality_project
from submin.kernels.reference import cardinality_sweep as cardinality_sweep
from submin.kernels.reference import colour as colour
from submin.kernels.reference import edges_project as edges_project
from submin.kernels.reference import edges_sweep as edges_sweep
from submin.kernels.reference import grid_project as grid_project
from submin.kernels.reference import grid_sweep as grid_sweep
from submin.kernels.reference import table_project as table_project
from submin.kernels.reference import table_sweep as table_sweep

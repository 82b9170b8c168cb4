"""Labels that are proved before any move (Kovtun 2003, doi:10.1007/978-3-540-45243-0_52).

For a label alpha and Potts distances, let F(S) be the energy of a problem of two labels, alpha in S
and beyond it whatever costs the element least.  With A the smallest minimiser of F, x a labelling
and S = {x = alpha}, taking alpha on A changes the energy by

    E(x') - E(x)  <=  F(S + A) - F(S)  <=  F(A) - F(S and A)  <=  0,

and by less than 0 where A is not in S.  So every labelling of least energy has alpha on all of A.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from submin.labels.distances import POTTS, distance_matrix
from submin.labels.problem import LabelProblem, checked_problem
from submin.model.problem import Problem
from submin.solve.api import minimize
from submin.solve.certificate import Status

UNPROVED = -1


def proved_labels(problem: LabelProblem, *, threads: int = 0) -> npt.NDArray[np.int32]:
    """Return the label that an element has in every labelling of least energy, -1 if unproved.

    A minimum cut for each label, whose smallest minimiser is proved; up to rounding, if the data
    are no integers.

    Raises
    ------
    ValueError
        If a distance is not that of Potts, or there are groups or label costs.

    Examples
    --------
    >>> import submin as sm
    >>> costs = [[0.0, 0.0, 2.0], [9.0, 1.0, 1.0], [9.0, 1.0, 2.0]]
    >>> proved_labels(sm.LabelProblem(costs, [sm.GridCut(3, 1.0)]))
    array([ 0,  0, -1], dtype=int32)
    """
    distances = [own for _, _, own in checked_problem(problem).cuts]
    potts = POTTS.matrix(problem.labels)
    for (place, _, _), own in zip(problem.cuts, distances, strict=True):
        if not np.array_equal(distance_matrix("distance", own, problem.labels), potts):
            raise ValueError(f"the distance of terms[{place}] is not Potts(), so nothing is proved")
    if problem.groups or len(problem.prices):
        raise ValueError("nothing is proved where there are groups or label costs")
    found = np.full(problem.n, UNPROVED, dtype=np.int32)
    cuts = [cut for _, cut, _ in problem.cuts]
    for alpha in range(problem.labels):
        others = np.delete(problem.costs, alpha, axis=0).min(axis=0, initial=np.inf)
        binary = Problem.from_costs(problem.costs[alpha], others, cuts)
        result = minimize(binary, threads=threads)
        if result.interrupted:
            raise KeyboardInterrupt
        if result.status in (Status.OPTIMAL, Status.CLOSED):
            found[result.minimizer] = alpha
    return found.reshape(problem.shape)

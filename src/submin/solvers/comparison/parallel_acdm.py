"""Parallel accelerated coordinate descent: Li & Milenkovic 2018 (arXiv:1803.03851).

    APPROX (see ``approx``) with sets of K blocks:
        uniform   any K of the r blocks;  p = K / r,  w_v = 1 + (mu_v - 1) (K - 1) / (r - 1)
        greedy    a random part of a partition of the blocks into m = ceil(r / K) parts that
                  overlap little;  p = 1 / m,  w_v = the number of blocks of the part on v
    restarted after epochs of Fercoq & Qu (see ``restarted_acdm``)

mu_v is the number of blocks that touch element v.  With a partition, the parts are the blocks of a
serial method whose steps inside of a part are those of ``iap``.
"""

from __future__ import annotations

from dataclasses import dataclass

from submin.solve.layout import Layout
from submin.solvers.restarted_acdm import RestartedApprox
from submin.solvers.samplings import SAMPLINGS, Sampling, check_sampling


@dataclass(frozen=True)
class ParallelACDM(RestartedApprox):
    """Accelerated random coordinate descent on several blocks at a time.

    Parameters
    ----------
    seed : int, optional
        Seed of the random sets.
    epoch_passes : float, optional
        K_0, the shortest epoch in passes.
    batch : int, optional
        K, the number of blocks of one iteration; at most r are taken.
    sampling : str, optional
        ``"uniform"`` or ``"greedy"``, as in ``ParallelRCDM``.

    Raises
    ------
    ValueError
        If `batch` is below 1, or there is no sampling of that name.

    Examples
    --------
    >>> import submin as sm
    >>> problem = sm.Problem([1, -2, 1], [sm.GridCut(3, 1)])
    >>> sm.minimize(problem, sm.solvers.comparison.ParallelACDM(batch=2)).value
    0.0
    """

    batch: int = 4
    sampling: str = "uniform"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sampling(self.batch, self.sampling)

    def make_sampling(self, layout: Layout) -> Sampling:
        """Return random sets of K blocks."""
        return SAMPLINGS[self.sampling](layout, self.batch)

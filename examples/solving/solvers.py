"""
Solvers, pass by pass
=====================

All solvers run in one loop, and are judged by one certificate, so they can be compared: the gap
against the passes over the blocks.  This is the picture of Ene & Nguyen 2015 (arXiv:1502.02643),
whose RCDM and ACDM take random blocks, where AP projects on all of them at once.
"""

import matplotlib.pyplot as plt
import numpy as np

import submin as sm

# %%
# A noisy disc with superpixels.  ``blocks="matchings"`` is the decomposition of the paper.

rows, columns = np.mgrid[:30, :40]
disc = (rows - 15) ** 2 + (columns - 20) ** 2 < 100
unary = np.where(disc, -1.0, 1.0) + 2.0 * np.random.default_rng(0).normal(size=disc.shape)
patches = rows // 5 * 8 + columns // 5
consistency = sm.Cardinality.from_labels(patches, lambda k, m: 0.02 * k * (m - k))
problem = sm.Problem(unary, [sm.GridCut(disc.shape, 0.7, connectivity=8), consistency])

# %%
# The paper's solvers, and the one that ``"auto"`` takes where there is no exact one.  ``sm.prox``
# goes on to the proximal point, whose smooth gap is on the left; the set is proved optimal long
# before, where the discrete gap on the right ends.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for solver, style in {
    sm.AP(): ":",
    sm.RCDM(seed=0): "--",
    sm.ACDM(seed=0, epoch_passes=30): "-.",
    sm.AcceleratedSweeps(): "-",
}.items():
    result = sm.prox(problem, solver, blocks="matchings", max_passes=150, check_every=2)
    name, history = type(solver).__name__, result.history
    print(f"{name}: {result}")
    for axes, gap in ((left, history.smooth_gap), (right, history.discrete_gap)):
        axes.semilogy(history.passes, np.maximum(gap, 1e-12), style, label=name)
left.set(title="smooth gap", xlabel="passes", ylabel="cost squared")
right.set(title="discrete gap", xlabel="passes", ylabel="cost", ylim=(1e-3, None))
right.legend()
plt.show()

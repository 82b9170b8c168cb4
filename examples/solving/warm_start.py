"""
Warm starts
===========

Often one problem is solved many times, with other weights.  The dual of the last answer is a good
start for the next one, whatever the solver and the blocks.  It is scaled, so that it stays feasible
when the weights fall.
"""

import matplotlib.pyplot as plt
import numpy as np

import submin as sm

rows, columns = np.mgrid[:40, :50]
disc = (rows - 20) ** 2 + (columns - 25) ** 2 < 200
unary = np.where(disc, -1.0, 1.0) + 2.0 * np.random.default_rng(0).normal(size=disc.shape)
patches = rows // 5 * 10 + columns // 5

# %%
# First-order solves of problems with superpixels, for weights that rise.

strengths = np.linspace(0.2, 1.2, 21)
solver = sm.AcceleratedSweeps()
passes = {"cold": [], "warm": []}
last = None
for strength in strengths:
    grid = sm.GridCut(disc.shape, strength, connectivity=8)
    groups = sm.Cardinality.from_labels(patches, lambda k, m, w=strength: 0.02 * w * k * (m - k))
    problem = sm.Problem(unary, [grid, groups])
    cold = sm.minimize(problem, solver)
    warm = sm.minimize(problem, solver, warm_start=last)
    last = warm
    passes["cold"].append(cold.passes)
    passes["warm"].append(warm.passes)
    assert np.isclose(cold.value, warm.value)
print(f"cold {sum(passes['cold']):.0f} passes, warm {sum(passes['warm']):.0f}; {warm.certificate}")

figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.plot(strengths, passes["cold"], "o--", label="from nothing")
axes.plot(strengths, passes["warm"], "s-", label="from the last answer")
axes.set(xlabel="weight", ylabel="passes until the gap is closed", ylim=(0, None))
axes.legend()
plt.show()

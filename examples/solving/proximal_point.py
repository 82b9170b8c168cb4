"""
The proximal point and its level sets
=====================================

The proximal point x minimises f(x) + ||x||^2 / 2, where f is the Lovász extension of F.  On a chain
it is a piecewise constant fit.  And for every lam, {x > lam} is the smallest minimiser of
F(S) + lam * (number of elements in S): one point has the answers to all of these problems.
"""

import matplotlib.pyplot as plt
import numpy as np

import submin as sm

# %%
# A signal with steps and noise.

rng = np.random.default_rng(0)
steps = np.repeat([0.0, 2.0, 1.0, 3.0, 0.5], 60)
data = steps + 0.6 * rng.normal(size=steps.size)
chain = sm.GridCut(data.shape, 4.0)
point = sm.prox(sm.Problem(-data, [chain]))
print(point)

# %%
# Cut at three levels, it gives the minimisers that three solves find.

figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(9, 5.4), layout="constrained", sharex=True, height_ratios=[2, 1]
)
top.plot(data, ".", color="#bbbbbb", label="data")
top.plot(point.x, color="#0072B2", label="proximal point")
for row, lam in enumerate((0.75, 1.5, 2.4)):
    alone = sm.minimize(sm.Problem(lam - data, [chain]))
    same = np.array_equal(alone.minimizer, point.x > lam)
    print(f"lam = {lam}: the same set: {same}; {alone.certificate}")
    top.axhline(lam, color="#D55E00", linewidth=0.8)
    bottom.fill_between(np.arange(data.size), row, row + 0.8 * alone.minimizer, step="mid")
top.legend()
bottom.set_yticks([0.4, 1.4, 2.4], ["0.75", "1.5", "2.4"])
bottom.set(ylabel="lam", title="minimisers of F(S) + lam |S|")
plt.show()

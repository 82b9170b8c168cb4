"""
An open-pit mine
================

A block comes out only with the three blocks above it.  The best pit, at given values of the blocks,
is a minimiser with precedences.  As the price of ore falls, the pit shrinks: ``sm.path`` finds the
pits of all prices at once, and they are nested, so they also say in which order to dig.
"""

import matplotlib.pyplot as plt
import numpy as np

import submin as sm

# %%
# A section through the ground: a vein of ore, and rock that costs more to move further down.

rng = np.random.default_rng(1)
depth, across = np.mgrid[:30, :90]
ore = 14.0 * np.exp(-(((across - 30 - depth) / 6.0) ** 2)) * np.exp(-(((depth - 14) / 9.0) ** 2))
ore += 9.0 * np.exp(-(((across - 72) / 5.0) ** 2) - ((depth - 6) / 4.0) ** 2)
ore *= rng.lognormal(sigma=0.3, size=ore.shape)
cost = 1.0 + 0.06 * depth

# %%
# ``inf`` on the arcs from a block to those above it.  The order of the neighbours is that of
# ``sm.grid_offsets(2, 8)``: (0, 1), (1, -1), (1, 0), (1, 1).

needs = sm.GridCut(ore.shape, 0.0, 8, reverse_weights=[0.0, np.inf, np.inf, np.inf])
problem = sm.Problem(cost - ore, [needs])
pit = sm.minimize(problem)
print(f"worth {-pit.value:.2f}, {pit.certificate}")

# %%
# Now each unit of ore is worth 1 - lam.  ``path.x`` has the lam at which each block is left.

path = sm.path(problem, direction=ore)
print(f"{len(path)} pits; at lam = 0 the same:", (path.minimizer(0.0) == pit.minimizer).all())

figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 6), layout="constrained")
picture = top.imshow(ore - cost, cmap="RdYlGn", vmin=-10, vmax=10)
top.contour(pit.minimizer, [0.5], colors="black")
top.set_title("value of each block, and the best pit")
figure.colorbar(picture, ax=top)
phases = np.ma.masked_where(path.x <= 0, path.x)
picture = bottom.imshow(phases, cmap="viridis", vmin=0)
bottom.set_title("by how much the price may fall until a block stays in the ground")
figure.colorbar(picture, ax=bottom)
for axes in (top, bottom):
    axes.set(xticks=[], ylabel="depth")
plt.show()

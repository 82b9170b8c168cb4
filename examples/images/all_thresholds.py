"""
Every threshold at once
=======================

A threshold divides a picture in two.  With a cost for the boundary, the division that is best at
the threshold lam minimises F(S) + lam * (number of pixels in S).  ``sm.path`` finds the minimisers
for every lam at once.  They are nested, so one picture holds them all: that of the lam at which
each pixel leaves.
"""

import matplotlib.pyplot as plt
import numpy as np
import skimage.data

import submin as sm

# %%
# Brighter pixels want in: their cost is minus the brightness.

noisy = skimage.data.coins()[::2, ::2] + 25.0 * np.random.default_rng(0).normal(size=(152, 192))
problem = sm.Problem(-noisy, [sm.GridCut(noisy.shape, 15.0, connectivity=8)])
path = sm.path(problem)
print(f"{len(path)} different sets")

# %%
# At 120, the set of the path is that of a solve of its own, which is proved to be a minimiser.

alone = sm.minimize(sm.Problem(120.0 - noisy, problem.terms))
print(np.array_equal(alone.minimizer, path.minimizer(120.0)), alone.certificate)

figure, axes = plt.subplots(2, 3, figsize=(10, 5.6), layout="constrained")
axes[0, 0].imshow(noisy, cmap="gray", vmin=0, vmax=255)
axes[0, 0].set_title("picture")
axes[0, 1].imshow(noisy > 120, cmap="gray")
axes[0, 1].set_title("brighter than 120")
axes[0, 2].imshow(path.x, cmap="viridis")
axes[0, 2].set_title("all sets: the lam of each pixel")
for panel, lam in zip(axes[1], (80.0, 120.0, 160.0), strict=True):
    panel.imshow(path.minimizer(lam), cmap="gray")
    panel.set_title(f"best set at {lam:.0f}")
for panel in axes.flat:
    panel.set_axis_off()
plt.show()

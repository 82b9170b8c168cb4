"""
Sixteen neighbours against four
===============================

With 4 neighbours a diagonal boundary costs 1.4 times as much as one of the same length along an
axis, and the best shapes have corners.  More neighbours, with the weights of ``length_weights``,
measure lengths in all directions alike.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np

import submin as sm
from submin.vision import length_weights

# %%
# How long is a line of length 1, by its angle?

angles = np.linspace(0, 2 * np.pi, 721)
direction = np.stack([np.sin(angles), np.cos(angles)])
figure, compass = plt.subplots(
    figsize=(5, 5), layout="constrained", subplot_kw={"projection": "polar"}
)
for connectivity, style in {4: ":", 8: "--", 16: "-"}.items():
    offsets = np.array(sm.grid_offsets(2, connectivity))
    crossed = np.abs(offsets[:, [1]] * direction[0] - offsets[:, [0]] * direction[1])
    length = np.array(length_weights(offsets)) @ crossed
    compass.plot(angles, length, style, label=f"{connectivity} neighbours")
    print(f"{connectivity} neighbours: lengths from {length.min():.3f} to {length.max():.3f}")
compass.set_ylim(0, 1.4)
compass.set_title("length of a line of length 1")
compass.legend(loc="center")

# %%
# One pixel in twenty says whether it is in a disc.  All others have no cost, so that the boundary
# runs where it is shortest.

rng = np.random.default_rng(0)
rows, columns = np.mgrid[:120, :120]
disc = (rows - 60) ** 2 + (columns - 60) ** 2 < 45**2
unary = np.where(disc, -6.0, 6.0) * (rng.random(disc.shape) < 0.05)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for panel, connectivity in zip(axes, (4, 16), strict=True):
    weights = length_weights(sm.grid_offsets(2, connectivity))
    grid = sm.GridCut(disc.shape, weights, connectivity)
    result = sm.minimize(sm.Problem(unary, [grid]))
    print(f"{connectivity} neighbours: {result.certificate}")
    panel.imshow(result.minimizer, cmap="Blues", vmin=0, vmax=2)
    panel.contour(disc, [0.5], colors="black", linestyles=":")
    panel.scatter(*np.nonzero(unary)[::-1], c=unary[unary != 0] > 0, cmap="coolwarm", s=6)
    panel.set(title=f"{connectivity} neighbours", xticks=[], yticks=[])
plt.show()

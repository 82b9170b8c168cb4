"""
A volume
========

Grids have any number of dimensions.  This volume has 26 neighbours for each voxel, with weights
that measure the area of the boundary, for voxels twice as high as wide.
"""

import matplotlib.pyplot as plt
import numpy as np
import skimage.data

import submin as sm
from submin.vision import length_weights

# %%
# Blobs in 24 slices of 48 x 48 voxels, and noise twice as strong as the signal.

truth = skimage.data.binary_blobs(48, blob_size_fraction=0.3, n_dim=3, rng=0)[::2]
noisy = np.where(truth, 1.0, -1.0) + 2.0 * np.random.default_rng(0).normal(size=truth.shape)
offsets = sm.grid_offsets(3, 26)
weights = [1.2 * weight for weight in length_weights(offsets, spacing=(2.0, 1.0, 1.0))]
problem = sm.Problem(-noisy, [sm.GridCut(truth.shape, weights, connectivity=26)])
result = sm.minimize(problem)
print(f"{np.mean((noisy > 0) != truth):.1%} of the voxels wrong by their sign,")
print(f"{np.mean(result.minimizer != truth):.1%} with the area of the boundary")
print(result.certificate)

# %%
# Three slices: the data, the answer, and the truth.

figure, axes = plt.subplots(3, 3, figsize=(7, 7), layout="constrained")
for row, level in zip(axes, (4, 12, 20), strict=True):
    row[0].imshow(noisy[level], cmap="gray", vmin=-3, vmax=3)
    row[1].imshow(result.minimizer[level], cmap="gray")
    row[2].imshow(truth[level], cmap="gray")
    row[0].set_ylabel(f"slice {level}")
for panel, name in zip(axes[0], ("noisy", "minimiser", "truth"), strict=True):
    panel.set_title(name)
for panel in axes.flat:
    panel.set(xticks=[], yticks=[])
plt.show()

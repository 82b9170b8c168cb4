"""
Superpixels
===========

Every pixel has a weak, noisy guess of its label.  Costs of neighbours smooth it.  Superpixels help
more: a robust potential charges for the minority in each, up to a limit, so that regions of one
colour tend to get one label, but need not.
"""

import matplotlib.pyplot as plt
import numpy as np
import skimage.data
from skimage.segmentation import mark_boundaries, slic

import submin as sm

# %%
# The picture is a silhouette with noise.  The guess is far noisier: it says nothing by itself.

rng = np.random.default_rng(0)
truth = ~skimage.data.horse()[::2, ::2].astype(bool)
picture = truth + 0.05 * rng.normal(size=truth.shape)
guess = np.where(truth, -1.0, 1.0) + 4.0 * rng.normal(size=truth.shape)

# %%
# Superpixels come from the picture.  The penalty grows with the minority, and stays the same once
# a tenth of the superpixel disagrees.

labels = slic(picture, n_segments=400, compactness=0.1, channel_axis=None, start_label=0)
pointers, members = sm.label_groups(labels)
sizes = np.diff(pointers)
robust = sm.robust_pn(pointers, members, penalties=1.0 * sizes, tolerances=0.1 * sizes)

# %%
# Each model has weights that suit it.  Both are solved exactly, so the difference is one of the
# models alone.

models = {
    "pairs": [sm.GridCut(truth.shape, 1.4, connectivity=8)],
    "pairs and superpixels": [sm.GridCut(truth.shape, 0.5, connectivity=8), robust],
}
figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
axes[0].imshow(mark_boundaries(np.clip(picture, 0, 1), labels, color=(0.9, 0.3, 0)))
axes[0].set_title("picture and superpixels")
for panel, (name, terms) in zip(axes[1:], models.items(), strict=True):
    result = sm.minimize(sm.Problem(guess, terms))
    wrong = np.mean(result.minimizer != truth)
    print(f"{name}: {wrong:.1%} of the pixels wrong, {result.certificate}")
    panel.imshow(result.minimizer, cmap="gray")
    panel.set_title(f"{name}: {wrong:.1%} wrong")
for panel in axes:
    panel.set_axis_off()
plt.show()

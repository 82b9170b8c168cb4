"""
Salt and pepper: absolute values in place of squares
====================================================

Squares give way to outliers, absolute values do not.  ``sm.minimize_convex`` takes any convex cost
of each pixel, and total variation between them.
"""

import matplotlib.pyplot as plt
import numpy as np
import skimage.data

import submin as sm
from submin.levels import Absolute

# %%
# A fifth of the pixels is black or white, whatever was there.

rng = np.random.default_rng(0)
clean = skimage.data.coins()[::3, ::3] / 255.0
noisy = clean.copy()
hit = rng.random(clean.shape) < 0.2
noisy[hit] = rng.integers(0, 2, size=hit.sum())

# %%
# The same cut, with squares and with absolute values.

grid = sm.GridCut(noisy.shape, 1.0)
squares = sm.denoise_tv(noisy, 0.4)
absolute = sm.minimize_convex(sm.Problem(np.zeros(noisy.shape), [grid]), Absolute(noisy))
print(f"value {absolute.value:.6f}, lower bound {absolute.lower_bound:.6f}, gap {absolute.gap:.1e}")

figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
pictures = {"noisy": noisy, "squares": squares, "absolute values": absolute.x}
for panel, (name, picture) in zip(axes, pictures.items(), strict=True):
    panel.imshow(picture, cmap="gray", vmin=0, vmax=1)
    panel.set_title(f"{name}: mean error {np.abs(picture - clean).mean():.3f}")
    panel.set_axis_off()
plt.show()

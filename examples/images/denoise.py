"""
Total-variation denoising
=========================

``sm.denoise_tv`` returns the image x that minimises::

    sum of (x_p - b_p)^2 / 2  +  weight * sum over neighbours of |x_p - x_q|

for the noisy image b.  The answer is exact, not the last iterate of a descent.
"""

import matplotlib.pyplot as plt
import numpy as np
import skimage.data
from skimage.metrics import peak_signal_noise_ratio

import submin as sm
from submin.vision import tv_problem

clean = skimage.data.camera()[::3, ::3] / 255.0
noisy = clean + 0.1 * np.random.default_rng(0).normal(size=clean.shape)

# %%
# The larger the weight, the smoother.  Half of the noise's standard deviation is a start.

pictures = {"noisy": noisy}
for weight in (0.05, 0.2):
    pictures[f"weight {weight}"] = sm.denoise_tv(noisy, weight)

figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for panel, (name, picture) in zip(axes, pictures.items(), strict=True):
    ratio = peak_signal_noise_ratio(clean, picture, data_range=1.0)
    panel.imshow(picture, cmap="gray", vmin=0, vmax=1)
    panel.set_title(f"{name}: {ratio:.1f} dB")
    panel.set_axis_off()

# %%
# The problem behind it is a cut of the grid.  Its proximal point is the image, and comes with a
# bound on the distance to the exact one.

result = sm.prox(tv_problem(noisy, 0.05))
print(np.abs(result.x - pictures["weight 0.05"]).max())
print(result)
plt.show()

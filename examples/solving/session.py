"""
A session: strokes of a brush
=============================

``sm.Session`` keeps a problem and its maximum flow.  After a change of some costs it visits only
what the change moves, and answers as exactly as a solve from nothing.  That is how
``submin paint`` follows a brush.
"""

import matplotlib.pyplot as plt
import numpy as np
import skimage.data

import submin as sm
from submin.vision import contrast_weights

# %%
# Coins, and a first guess by brightness.  A bright corner of the ground comes with them, and dark
# coins are left out.

image = skimage.data.coins()[::2, ::2] / 255.0
weights = contrast_weights(image[..., None], smoothness=1.0, connectivity=8)
unary = 6.0 * (0.5 - image)
session = sm.Session(sm.Problem(unary, [sm.GridCut(image.shape, weights, connectivity=8)]))
strokes = np.zeros(image.shape)

# %%
# Each stroke changes the costs of its pixels: -100 draws the object, 100 the background.

brush = [
    (None, 0),
    (np.s_[2:6, 5:110], 100),  # the bright ground
    (np.s_[120:124, 12:25], -100),  # a dark coin
    (np.s_[130:134, 92:104], -100),  # another one
]
figure, axes = plt.subplots(2, 2, figsize=(9, 7.4), layout="constrained")
for number, (panel, (stroke, cost)) in enumerate(zip(axes.flat, brush, strict=True)):
    if stroke is not None:
        strokes[stroke] = cost
        session.change_unary(strokes != 0, strokes[strokes != 0])
    result = session.solve()
    print(f"{number} strokes: {result.minimizer.sum()} pixels, {result.certificate}")
    panel.imshow(image, cmap="gray")
    panel.contour(result.minimizer, [0.5], colors="yellow")
    panel.imshow(np.ma.masked_equal(strokes, 0), cmap="bwr", interpolation="nearest")
    panel.set_title(f"{number} strokes")
    panel.set_axis_off()

# %%
# The answer is that of a solve from nothing.

whole = sm.Problem(np.where(strokes, strokes, unary), session.problem.terms)
print(np.array_equal(sm.minimize(whole).minimizer, result.minimizer))
plt.show()

"""
A session: strokes of a brush
=============================

``sm.Session`` keeps a problem and its maximum flow.  After a change of some costs it visits only
what the change moves, and answers as exactly as a solve from nothing.  That is how
``submin paint`` follows a brush.
"""

import matplotlib.pyplot as plt
import numpy as np

import submin as sm
from submin import vision

# %%
# A box around the astronaut, and the mask that colours and contrasts give.

astronaut = vision.sample("astronaut")
image = astronaut.image()[::2, ::2]
found = sm.segment(image, box=[corner // 2 for corner in astronaut.box], max_rounds=2)
session = sm.Session(found.problem)

# %%
# Each stroke changes the costs of its pixels: -1000 draws the object, 1000 would draw the
# background.

strokes = np.zeros(image.shape[:2])
brush = [
    (None, 0),
    (np.s_[95:130, 100:125], -1000),  # the neck
    (np.s_[75:125, 68:74], -1000),  # the collar
    (np.s_[162:184, 143:162], -1000),  # a badge
]
figure, axes = plt.subplots(1, 4, figsize=(11, 3.2), layout="constrained")
for number, (panel, (stroke, cost)) in enumerate(zip(axes, brush, strict=True)):
    if stroke is not None:
        strokes[stroke] = cost
        session.change_unary(strokes != 0, strokes[strokes != 0])
    result = session.solve()
    print(f"strokes: {number}, {result.minimizer.sum()} pixels, {result.certificate}")
    panel.imshow(vision.overlay_picture(image, result.minimizer))
    panel.imshow(np.ma.masked_equal(strokes, 0), cmap="bwr", vmin=-1000, vmax=1000)
    panel.set_title(f"strokes: {number}")
    panel.set_axis_off()

# %%
# The answer is that of a solve from nothing.

whole = sm.Problem(np.where(strokes, strokes, found.problem.unary), found.problem.terms)
print(np.array_equal(sm.minimize(whole).minimizer, result.minimizer))
plt.show()

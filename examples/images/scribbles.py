"""
Scribbles
=========

Where a box is not enough, draw strokes: some on the object, some on the background.  Strokes are
hard constraints, so the mask keeps to them, and their colours train the models.
"""

import matplotlib.pyplot as plt
import numpy as np

import submin as sm
from submin import vision

# %%
# Labels say what a pixel is: 0 is unmarked, 1 background and 2 object.  A picture with red and
# white strokes would do as well.

image = vision.sample("astronaut").image()[::2, ::2]
scribbles = np.zeros(image.shape[:2], dtype=int)
scribbles[12:86, 112:116] = 2  # hair and face
scribbles[75:140, 66:70] = 2  # collar
scribbles[100:135, 100:128] = 2  # neck
scribbles[160:164, 45:160] = 2  # suit, badges, zip
scribbles[190:194, 30:130] = 2
scribbles[160:250, 60:64] = 2
scribbles[160:245, 122:126] = 2
scribbles[30:34, 5:70] = 1  # flag and wall
scribbles[100:104, 5:40] = 1
scribbles[50:54, 160:250] = 1  # wall and rocket
scribbles[205:209, 160:245] = 1  # helmet
scribbles[120:124, 185:250] = 1
found = sm.segment(image, scribbles=scribbles)
print(found)

# %%
# Every stroke is kept.

print(found.mask[scribbles == 2].all(), found.mask[scribbles == 1].any())

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
strokes = np.ma.masked_equal(scribbles, 0)
left.imshow(image)
left.imshow(strokes, cmap="bwr_r", interpolation="nearest")
left.set_title("strokes: blue on the object")
right.imshow(vision.overlay_picture(image, found.mask))
right.set_title("object")
for axes in (left, right):
    axes.set_axis_off()
plt.show()

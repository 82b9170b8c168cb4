"""
A photograph from a box
=======================

``sm.segment`` takes a photograph and a box around an object, and returns the object's mask.  In
each round it fits colour models to object and background, and finds the best mask under these
models.  The mask is exact: a lower bound proves that none is better.
"""

import matplotlib.pyplot as plt

import submin as sm
from submin import vision

# %%
# The photograph comes with scikit-image.  Half of its resolution is enough here.

coffee = vision.sample("coffee")
image = coffee.image()[::2, ::2]
box = [corner // 2 for corner in coffee.box]  # x1, y1, x2, y2
found = sm.segment(image, box=box)
print(f"{found.mask.mean():.0%} of the pixels, {found.rounds} rounds")
print(found.certificate)

# %%
# ``verify`` checks the proof again, from the arrays alone.  It shares no code with the solver.

print(sm.verify(found.problem, found.result))

# %%
# The energy falls in every round, and the rounds end when nothing changes.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
left.imshow(image)
x1, y1, x2, y2 = box
left.add_patch(plt.Rectangle((x1, y1), x2 - x1, y2 - y1, fill=False, color="yellow", linewidth=2))
left.set_title("photograph and box")
middle.imshow(vision.overlay_picture(image, found.mask))
middle.set_title("object")
right.plot(range(1, found.rounds + 1), found.energies, "o-")
right.set(title="energy of the mask", xlabel="round")
for axes in (left, middle):
    axes.set_axis_off()
plt.show()

"""
A certificate that was tampered with
====================================

A result holds a set and a dual.  From these two alone ``sm.verify`` computes the value of the set
and a lower bound on the minimum, whoever made them.  So a wrong answer can not pass: a worse set
has a larger value, and any dual, however bad, gives a bound that is true.
"""

import matplotlib.pyplot as plt
import numpy as np

import submin as sm

rng = np.random.default_rng(0)
rows, columns = np.mgrid[:30, :40]
disc = (rows - 15) ** 2 + (columns - 20) ** 2 < 100
unary = np.where(disc, -1.0, 1.0) + 1.5 * rng.normal(size=disc.shape)
problem = sm.Problem(unary, [sm.GridCut(disc.shape, 0.7, connectivity=8)])
result = sm.minimize(problem)
print(sm.verify(problem, result))

# %%
# One pixel is flipped.  The proof of the true answer also says how much worse the false one is.

false = result.minimizer.copy()
false[15, 20] = ~false[15, 20]
print(sm.verify(problem, false, result.dual))

costs = np.empty(problem.shape)
for pixel in np.ndindex(problem.shape):
    false = result.minimizer.copy()
    false[pixel] = ~false[pixel]
    costs[pixel] = sm.verify(problem, false, result.dual).gap

# %%
# Noise is added to the dual.  The bound falls, and the gap grows by what was spoilt.

noise = np.geomspace(1e-12, 1.0, 25)
gaps = []
for size in noise:
    spoilt = [part + size * rng.normal(size=part.shape) for part in result.dual]
    gaps.append(sm.verify(problem, result.minimizer, spoilt).gap)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
picture = left.imshow(costs, cmap="magma")
left.contour(result.minimizer, [0.5], colors="white")
left.set(title="gap after one pixel is flipped", xticks=[], yticks=[])
figure.colorbar(picture, ax=left)
right.loglog(noise, gaps, "o-")
right.set(title="gap after noise in the dual", xlabel="size of the noise", ylabel="gap")
plt.show()

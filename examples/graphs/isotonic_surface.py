"""
An isotonic surface
===================

A response rises with the dose of each of two drugs, and the measurements are noisy.  Isotonic
regression finds the nearest surface that rises along both axes.  With precedences, the proximal
point of a grid is just that: x may not fall from a cell to the next one.
"""

import matplotlib.pyplot as plt
import numpy as np

import submin as sm

rows, columns = np.mgrid[:40, :40] / 39.0
truth = 1.0 / (1.0 + np.exp(12.0 * (0.9 - rows - columns))) + 0.4 * (rows * columns > 0.5)
noisy = truth + 0.3 * np.random.default_rng(0).normal(size=truth.shape)

# %%
# A weight of ``inf`` from each cell to the next one, and 0 back: "the tail only with the head".

rising = sm.GridCut(noisy.shape, np.inf, reverse_weights=0.0)
result = sm.prox(sm.Problem(-noisy, [rising]))
print(result)
print("rises:", np.diff(result.x, axis=0).min() >= 0, np.diff(result.x, axis=1).min() >= 0)
for name, surface in {"noisy": noisy, "isotonic": result.x}.items():
    print(f"{name}: root mean square error {np.sqrt(np.mean((surface - truth) ** 2)):.3f}")

figure, axes = plt.subplots(
    1, 3, figsize=(10, 3.6), layout="constrained", subplot_kw={"projection": "3d"}
)
surfaces = {"measured": noisy, "isotonic": result.x, "truth": truth}
for panel, (name, surface) in zip(axes, surfaces.items(), strict=True):
    panel.plot_surface(rows, columns, surface, cmap="viridis", vmin=-0.2, vmax=1.5)
    panel.set(title=name, zlim=(-0.7, 2.2), xlabel="dose A", ylabel="dose B")
    panel.set(xticklabels=[], yticklabels=[], zticklabels=[])
    panel.view_init(25, -120)
plt.show()

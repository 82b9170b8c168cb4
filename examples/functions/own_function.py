"""
A function of your own
======================

Any submodular function can be a term: give its values.  Here places on a map pay for a sensor, and
a sensor costs the more, the more it tells beside the others.  What a set of places tells is
F(S) = log det(I + K_S), for a covariance K that falls with the distance: nearby places tell much
the same, and cost less together.
"""

import matplotlib.pyplot as plt
import numpy as np

import submin as sm

rng = np.random.default_rng(5)
places = rng.random((40, 2))
pays = rng.gamma(2.0, 0.45, size=len(places))
distance = np.linalg.norm(places[:, None] - places[None], axis=-1)
covariance = 4.0 * np.exp(-((distance / 0.25) ** 2))


# %%
# ``Function.batched`` asks for many sets at once: a boolean matrix with a row for each set.


def information(sets):
    """Return log det(I + K_S) of each set S."""
    inside = sets[:, :, None] & sets[:, None, :]
    return np.linalg.slogdet(np.eye(sets.shape[1]) + covariance * inside)[1]


term = sm.Function.batched(np.arange(len(places)), information)
problem = sm.Problem(-pays, [term])
result = sm.minimize(problem)
print(f"{result.minimizer.sum()} of {result.minimizer.size} places; {result.certificate}")

# %%
# A place that pays little may be in S since its neighbours are, and one that pays more out of it.

figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
colours = np.where(result.minimizer, "#0072B2", "#cccccc")
axes.scatter(*places.T, s=250 * pays, c=colours, edgecolor="black")
axes.set(title="chosen places (blue), by what they pay (size)", xticks=[], yticks=[])
plt.show()

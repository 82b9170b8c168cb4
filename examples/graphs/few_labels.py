"""
Few labels, many samples
========================

Of 300 samples six are labelled.  Neighbours should have one label, so the labels spread along a
graph of nearest neighbours.  ``submin.learn`` has an estimator with the interface of scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsClassifier, kneighbors_graph

import submin as sm
from submin.learn import TotalVariationClassifier

samples, truth = make_moons(300, noise=0.08, random_state=0)
given = np.full(truth.size, -1)  # -1 marks samples without label
for label in (0, 1):
    given[np.flatnonzero(truth == label)[:3]] = label
known = given >= 0

# %%
# The nearest labelled sample is often one of the other moon.  Along the graph it is not.

model = TotalVariationClassifier(n_neighbors=8).fit(samples, given)
nearest = KNeighborsClassifier(1).fit(samples[known], given[known]).predict(samples)
print(f"nearest label: {np.mean(nearest == truth):.1%} right")
print(f"total variation: {np.mean(model.transduction_ == truth):.1%} right")

# %%
# The scores come from a proximal point.  A minimum cut with the labels as hard constraints is the
# other classic, and takes three lines.

neighbours = kneighbors_graph(samples, 8)
unary = np.select([given == 0, given == 1], [np.inf, -np.inf], 0.0)
cut = sm.minimize(sm.Problem(unary, [sm.Cut.from_sparse(neighbours + neighbours.T)]))
print(f"minimum cut: {np.mean(cut.minimizer == truth):.1%} right; {cut.certificate}")

figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained", sharey=True)
shown = {"nearest label": nearest, "scores of total variation": model.scores_, "cut": cut.minimizer}
for panel, (name, values) in zip(axes, shown.items(), strict=True):
    panel.scatter(*samples.T, c=values, cmap="coolwarm", s=12)
    panel.scatter(*samples[known].T, c=given[known], cmap="coolwarm", s=90, edgecolor="black")
    panel.set(title=name, xticks=[], yticks=[])
plt.show()

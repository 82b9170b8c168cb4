"""
Few labels, many samples
========================

Of 300 samples six are labelled.  Neighbours should have one label, so the labels spread along a
graph of nearest neighbours.  ``submin.learn`` has an estimator with the interface of scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
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
cmap = ListedColormap(["#0072B2", "#D55E00"])
shown = {"six labels": None, "nearest label": nearest, "total variation": model.transduction_}
for panel, (name, values) in zip(axes, shown.items(), strict=True):
    if values is None:
        panel.scatter(*samples.T, color="lightgrey", s=12)
    else:
        panel.scatter(*samples.T, c=values, cmap=cmap, s=12)
    panel.scatter(*samples[known].T, c=given[known], cmap=cmap, s=90, edgecolor="black")
    panel.set(title=name, xticks=[], yticks=[])
plt.show()

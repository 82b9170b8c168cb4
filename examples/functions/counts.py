"""
A function of counts: vans for districts
========================================

Customers pay for a delivery.  Each district needs a van as soon as one of its customers is served,
and k customers of a district take the time of sqrt(k).  One ``Function`` for each district would
do, but a concave function of counts is a ``Cardinality``, which holds all districts at once.
"""

import matplotlib.pyplot as plt
import numpy as np

import submin as sm

# %%
# 400 customers in 25 districts.

rng = np.random.default_rng(2)
places = rng.random((400, 2))
across, up = np.minimum((5 * places).astype(int), 4).T
district = 5 * up + across
pays = rng.gamma(1.2, 0.45, size=len(places)) * rng.uniform(0.5, 1.5, size=25)[district]


def time(count, size):
    """Return the cost of serving so many customers of a district."""
    return (count > 0) + 2.5 * np.sqrt(count)


vans = sm.Cardinality.from_labels(district, time)

# %%
# The best customers, with proof.

result = sm.minimize(sm.Problem(-pays, [vans]))
served = result.minimizer
print(f"earned {-result.value:.3f} with {served.sum()} customers; {result.certificate}")

figure, axes = plt.subplots(figsize=(6, 5.4), layout="constrained")
axes.scatter(*places[~served].T, s=30 * pays[~served], color="#bbbbbb", label="not served")
axes.scatter(*places[served].T, s=30 * pays[served], color="#D55E00", label="served")
for line in (0.2, 0.4, 0.6, 0.8):
    axes.axhline(line, color="black", linewidth=0.5)
    axes.axvline(line, color="black", linewidth=0.5)
axes.set(title="customers by what they pay (size)", xticks=[], yticks=[], xlim=(0, 1), ylim=(0, 1))
axes.legend(loc="upper left", bbox_to_anchor=(0, -0.01), ncols=2, frameon=False)
plt.show()

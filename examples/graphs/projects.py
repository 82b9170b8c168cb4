"""
Projects that need others: precedences
======================================

Some projects earn, others cost, and many need others to be done first.  Which ones to do?  A weight
of ``inf`` on an arc says "the tail only with the head", exactly, where a large finite number would
cost digits.
"""

import matplotlib.pyplot as plt
import networkx

import submin as sm

profit = {
    "web shop": 9.0, "app": 6.0, "newsletter": 2.0, "reports": 3.0, "game": 5.0,
    "payment": -4.0, "accounts": -3.0, "data store": -5.0, "3-D engine": -8.0, "mail server": -1.5,
}  # fmt: skip
needs = networkx.DiGraph()
needs.add_nodes_from(profit)
needs.add_edges_from(
    [
        ("web shop", "payment"), ("web shop", "accounts"), ("app", "accounts"),
        ("app", "data store"), ("payment", "data store"), ("newsletter", "mail server"),
        ("newsletter", "accounts"), ("reports", "data store"), ("game", "3-D engine"),
        ("game", "accounts"),
    ],
    weight=float("inf"),
)  # fmt: skip

# %%
# The costs are minus the profits.  The minimiser is the best set that has all it needs.

problem = sm.Problem([-profit[name] for name in needs], [sm.Cut.from_networkx(needs)])
result = sm.minimize(problem)
chosen = sm.nodes_of(needs, result.minimizer)
print("do:", *sorted(chosen), sep="\n  ")
print(f"profit {-result.value}; {result.certificate}")

# %%
# Earners are above, what they need below.  The game does not earn its engine.

place = {
    "game": (0, 2), "newsletter": (1, 2), "web shop": (2, 2), "app": (3, 2), "reports": (4, 2),
    "3-D engine": (0, 1), "mail server": (1, 1), "accounts": (1.8, 1), "payment": (2.6, 1),
    "data store": (3.6, 0),
}  # fmt: skip
figure, axes = plt.subplots(figsize=(9, 4.5), layout="constrained")
networkx.draw_networkx(
    needs, place, ax=axes, node_size=2600, font_size=8, edge_color="#888888",
    labels={name: f"{name}\n{profit[name]:+g}" for name in needs},
    node_color=["#a6dba0" if name in chosen else "#e0e0e0" for name in needs],
)  # fmt: skip
axes.margins(0.12, 0.2)
axes.set_title("projects to do (green), and what each needs")
axes.set_axis_off()
plt.show()

"""
The densest subgraph
====================

Which group of people has the most ties for each of its members?  Half of the degrees in S, less
half of the weight that leaves S, is the weight inside of it.  ``sm.minimize_ratio`` finds the group
of the largest weight per member, by a few minimum cuts, and proves that no group has more.
"""

import matplotlib.pyplot as plt
import networkx
import numpy as np

import submin as sm

# %%
# The characters of Les Misérables; an edge counts the chapters in which two of them appear
# together.

graph = networkx.les_miserables_graph()
degrees = np.array([degree for _, degree in graph.degree(weight="weight")], dtype=float)
halves = graph.copy()
for *_, data in halves.edges(data=True):
    data["weight"] *= 0.5
inside = sm.Problem(-0.5 * degrees, [sm.Cut.from_networkx(halves)])
densest = sm.minimize_ratio(inside)
group = sm.nodes_of(graph, densest.minimizer)
print(f"{-densest.value:.4g} per member, after {densest.steps} cuts:", *sorted(group))

# %%
# The proof: at this ratio, no set is better than the empty one.

print(sm.verify(densest.shifted, densest.result))


# %%
# The group is the inner ring, and its own ties are red.

others = [name for name in graph if name not in group]
place = networkx.shell_layout(graph, [sorted(group), others])
ties = list(graph.subgraph(group).edges)
figure, axes = plt.subplots(figsize=(7, 6.5), layout="constrained")
networkx.draw_networkx_edges(graph, place, ax=axes, edge_color="#cccccc", width=0.5)
networkx.draw_networkx_edges(graph, place, ties, ax=axes, edge_color="#D55E00", width=0.8)
colours = np.where(densest.minimizer, "#D55E00", "#9ecae1")
networkx.draw_networkx_nodes(graph, place, ax=axes, node_color=colours, node_size=60)
networkx.draw_networkx_labels(
    graph, {name: place[name] + (0.0, 0.06) for name in group},
    {name: name for name in group}, ax=axes, font_size=9,
    bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1},
)  # fmt: skip
axes.set_title("the densest group of characters")
axes.set_axis_off()
plt.show()

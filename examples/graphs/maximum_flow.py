"""
A maximum flow and its two cuts
===============================

``sm.max_flow`` returns a flow that conserves at every node, and the smallest and the largest
minimum cut.  Pipes in both cuts are bottlenecks.
"""

import matplotlib.pyplot as plt
import networkx
import numpy as np

import submin as sm

# %%
# A network of pipes on a grid, with random capacities, and water from left to right.  The mains at
# both ends are wide.

grid = networkx.grid_2d_graph(9, 6)
nodes = {node: number for number, node in enumerate(grid)}
tails = np.array([nodes[tail] for tail, _ in grid.edges])
heads = np.array([nodes[head] for _, head in grid.edges])
capacities = np.random.default_rng(4).integers(1, 10, size=tails.size).astype(float)
capacities[[tail[0] == head[0] and tail[0] in (0, 8) for tail, head in grid.edges]] = 50.0
network = sm.Network(
    tails, heads, capacities, nodes[0, 2], nodes[8, 3], reverse_capacities=capacities
)
flow = sm.max_flow(network)
print(f"{flow.value} from {network.source} to {network.sink}")
print(flow.verify())

# %%
# A pipe is full where its flow is its capacity.  Those that leave the source's side are all full.

side = flow.source_side
cut = side[tails] != side[heads]
print("capacity of the cut:", capacities[cut].sum())

place = {node: node for node in grid}
figure, axes = plt.subplots(figsize=(9, 5.5), layout="constrained")
colours = np.where(cut, "#D55E00", np.where(np.abs(flow.arcs) == capacities, "#0072B2", "#9ecae1"))
networkx.draw_networkx_edges(
    grid, place, ax=axes, width=0.6 + 0.6 * np.abs(flow.arcs), edge_color=colours
)
networkx.draw_networkx_nodes(
    grid, place, ax=axes, node_size=110, node_color=np.where(side, "#fdae6b", "white"),
    edgecolors="black",
)  # fmt: skip
networkx.draw_networkx_labels(
    grid, place, {(0, 2): "source", (8, 3): "sink"}, font_size=9, ax=axes,
    verticalalignment="bottom", bbox={"facecolor": "white", "alpha": 0.8, "pad": 1},
)  # fmt: skip
axes.set_title("flow (width), full pipes (dark blue), the smallest minimum cut (red)")
axes.set_axis_off()
plt.show()

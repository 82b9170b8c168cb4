"""
A hypergraph
============

A hyperedge joins any number of elements, and costs its weight when S has some of them but not all.
Here the elements are eighteen women, and the hyperedges are the social events that they went to
(Davis, Gardner & Gardner 1941).  Two women are on different sides: who goes with whom?
"""

import matplotlib.pyplot as plt
import networkx
import numpy as np
from matplotlib.colors import ListedColormap

import submin as sm

# %%
# NetworkX has the data as a graph of women and events.

graph = networkx.davis_southern_women_graph()
women, events = graph.graph["top"], graph.graph["bottom"]
number = {woman: k for k, woman in enumerate(women)}
groups = [[number[woman] for woman in graph[event]] for event in events]
meetings = sm.Hyperedge(*sm.list_groups(groups), weights=1.0)

# %%
# Infinite costs fix two of them.  The cut then counts the events that both sides went to.  Large
# events say little, and weigh less: 1 over the number of guests.

unary = np.zeros(len(women))
unary[number["Evelyn Jefferson"]], unary[number["Nora Fayette"]] = -np.inf, np.inf
weights = [1.0 / len(group) for group in groups]
problem = sm.Problem(unary, [sm.Hyperedge(*sm.list_groups(groups), weights)])
smallest = sm.minimize(problem)
largest = sm.minimize(problem, sm.MaxFlow(largest=True))
print(smallest.certificate)
print(f"events that both sides went to: {meetings.evaluate(smallest.minimizer):.0f}")
print(
    "with Evelyn in every minimum cut:", *sorted(sm.nodes_of(women, smallest.minimizer)), sep="\n  "
)
print("never with her:", *sorted(sm.nodes_of(women, ~largest.minimizer)), sep="\n  ")

# %%
# Women by side, events by the share of guests on Evelyn's side.

order = np.argsort(~smallest.minimizer, kind="stable")
share = [smallest.minimizer[group].mean() for group in groups]
by_share = np.argsort(share)[::-1]
attended = np.zeros((len(women), len(events)))
for event, group in enumerate(groups):
    attended[group, event] = np.where(smallest.minimizer[group], 1, 2)
colours = ListedColormap(["white", "#66a61e", "#d95f02"])
figure, axes = plt.subplots(figsize=(7, 5.5), layout="constrained")
axes.imshow(attended[np.ix_(order, by_share)], cmap=colours, aspect="auto")
axes.set_yticks(range(len(women)), np.array(women)[order])
axes.set_xticks(range(len(events)), np.array(events)[by_share])
axes.set_title("who went to which event, by the side of the cut")
plt.show()

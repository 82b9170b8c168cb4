"""
More than two labels, by expansions
===================================

The energy of a labelling l is the cost of each pixel's label, and a weight for each pair of
neighbours whose labels differ::

    E(l) = sum_p costs[l_p, p] + sum over neighbours p, q of  weight [l_p != l_q]

An expansion lets every pixel keep its label or take alpha.  S is the set of those that take it, and
the best move is one binary problem, solved exactly.  Moves end where none helps, at an energy of at
most twice the least one (Boykov, Veksler, Zabih 2001, doi:10.1109/34.969114).  Each move is proved
to be the best one, the labelling is not: ``sm.minimize_labels`` is faster, and bounds the labelling
too.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np

import submin as sm

# %%
# The costs of a move on a pair of neighbours are split into costs of the pixels and of arcs.


def expand(labels: np.ndarray, alpha: int, costs: np.ndarray, weight: float) -> sm.Result:
    """Return the best move to alpha: labels of shape (H, W), costs of shape (labels, H, W)."""
    keep = np.take_along_axis(costs, labels[None], axis=0)[0]
    grid = sm.GridCut(labels.shape, weight)
    leaving, entering = [], []
    for k in range(len(grid.offsets)):
        tail, head = grid.ends(k)
        neither = weight * (labels[tail] != labels[head])
        tail_moves, head_moves = weight * (labels[head] != alpha), weight * (labels[tail] != alpha)
        # neither = first + second, tail_moves = second + leaving, head_moves = first + entering
        first = np.minimum(neither, head_moves)
        keep[tail] += first
        keep[head] += neither - first
        leaving.append(tail_moves - (neither - first))
        entering.append(head_moves - first)
    cut = sm.GridCut(labels.shape, leaving, reverse_weights=entering)
    return sm.minimize(sm.Problem.from_costs(costs[alpha], keep, [cut]))


def label(costs: np.ndarray, weight: float) -> tuple[np.ndarray, sm.Result]:
    """Expand all labels in turn until no move helps; return the labels and the last move."""
    labels = np.argmin(costs, axis=0)
    least, useless = np.inf, 0
    for alpha in itertools.cycle(range(len(costs))):
        move = expand(labels, alpha, costs, weight)
        labels = np.where(move.minimizer, alpha, labels)
        useless = 0 if move.value < least - 1e-9 * abs(least) else useless + 1
        least = min(least, move.value)
        if useless == len(costs):
            break
    return labels, move


# %%
# Four greys of a noisy picture are found again.


def main() -> None:
    """Label a picture, and say how good that is."""
    greys = np.array([0.0, 0.3, 0.6, 1.0])
    rows, columns = np.mgrid[:80, :100]
    truth = (rows // 40) + 2 * ((rows - 40) ** 2 + (columns - 50) ** 2 < 900)
    noisy = greys[truth] + 0.2 * np.random.default_rng(0).normal(size=truth.shape)
    costs = (noisy - greys[:, None, None]) ** 2
    labels, move = label(costs, weight=0.1)
    bounded = sm.minimize_labels(costs, [sm.GridCut(truth.shape, 0.1)])
    print(f"last move: {move.certificate}")
    print(f"minimize_labels: {bounded.value:.4f}, gap {bounded.gap:.1e}")
    _, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    found = {"nearest grey": np.argmin(costs, axis=0), "expansions": labels}
    axes[0].imshow(noisy, cmap="gray")
    axes[0].set_title("noisy")
    for panel, (name, labelling) in zip(axes[1:], found.items(), strict=True):
        panel.imshow(labelling, cmap="viridis", interpolation="nearest")
        panel.set_title(f"{name}: {np.mean(labelling != truth):.1%} wrong")
    for panel in axes:
        panel.set_axis_off()
    plt.show()


if __name__ == "__main__":
    main()

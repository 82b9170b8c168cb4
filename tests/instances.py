"""Loaders of the public instances, in place from the data folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.io

import submin as sm


def superpixel_problem(
    folder: Path, photograph: str, superpixels: str, cut: float, consistency: float,
    largest_label: int | None = None,
) -> sm.Problem:  # fmt: skip
    """unary(S) + cut * cut(S) + consistency * sum over R of |S and R| |R without S|.

    `largest_label` leaves out the superpixels with larger labels.
    """
    weights = scipy.io.loadmat(folder / "coopcut" / f"{photograph}_wts.mat")
    labels = scipy.io.loadmat(folder / "coopcut" / f"{photograph}_{superpixels}.mat")["sup_img"]
    labels = labels.astype(np.int64)
    if largest_label is not None:
        labels = np.where(labels <= largest_label, labels, -1)
    unary = weights["unary"].reshape(labels.shape, order="F")
    grid = sm.GridCut(labels.shape, [cut * weights["W2"], cut * weights["W1"]], 4)
    regions = sm.Cardinality.from_labels(labels, lambda k, m: consistency * k * (m - k))
    return sm.Problem(unary, [grid, regions])


def fused_lasso(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data y, edges (m, 2) and solution of the graph-fused-lasso instance."""
    y = np.loadtxt(folder / "tv" / "gfl_data.csv", delimiter=",").ravel()
    edges = np.loadtxt(folder / "tv" / "gfl_edges.csv", delimiter=",", dtype=int)
    return y, edges, np.loadtxt(folder / "tv" / "gfl_output.csv", delimiter=",").ravel()

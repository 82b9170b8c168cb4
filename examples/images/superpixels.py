"""MAP inference with superpixel potentials, and what they change.

python examples/superpixels.py
"""

from __future__ import annotations

import numpy as np

import submin as sm


def main() -> None:
    """Label a noisy disc with and without potentials on blocks of pixels."""
    rows, columns = np.mgrid[:60, :60]
    disc = (rows - 30) ** 2 + (columns - 30) ** 2 < 400
    evidence = np.where(disc, -1.0, 1.0) + 2.0 * np.random.default_rng(0).normal(size=disc.shape)
    superpixels = (rows // 5) * 12 + columns // 5
    pairwise = sm.GridCut(disc.shape, 0.6, connectivity=8)
    pointers, members = sm.label_groups(superpixels)
    robust = sm.robust_pn(pointers, members, penalties=4.0, tolerances=8.0)
    for name, terms in (("pairs", [pairwise]), ("pairs and superpixels", [pairwise, robust])):
        result = sm.minimize(sm.Problem(evidence, terms))
        wrong = np.count_nonzero(result.minimizer != disc)
        print(f"{name}: {wrong} of {disc.size} pixels wrong, {result.certificate}")


if __name__ == "__main__":
    main()

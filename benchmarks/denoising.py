"""How many passes total-variation denoising takes for each digit of the answer.

    python benchmarks/denoising.py [--weight 0.05] [--noise 0.1]

Of a photograph of scikit-image with noise: passes of ``prox`` to proved distances from its
solution, as parts of ||b||, and in brackets how far x is from that of the last column.
"""

from __future__ import annotations

import argparse

import numpy as np

import submin as sm

DISTANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


def pictures(noise: float) -> dict[str, np.ndarray]:
    """Return photographs of two sizes with noise."""
    import skimage.data

    rng = np.random.default_rng(0)
    clean = {f"{512 // k} x {512 // k}": skimage.data.camera()[::k, ::k] / 255.0 for k in (4, 2)}
    return {name: image + noise * rng.normal(size=image.shape) for name, image in clean.items()}


def denoising(picture: np.ndarray, weight: float, connectivity: int) -> sm.Problem:
    """Return the proximal problem of total variation, weights inverse to distances."""
    offsets = sm.grid_offsets(2, connectivity)
    weights = [weight / np.hypot(*offset) for offset in offsets]
    return sm.Problem(-picture, [sm.GridCut(picture.shape, weights, connectivity=connectivity)])


def main() -> None:
    """Print a row for each picture and neighbourhood, and a column for each distance."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weight", type=float, default=0.05)
    parser.add_argument("--noise", type=float, default=0.1)
    arguments = parser.parse_args()
    print("| picture |", " | ".join(f"{distance:.0e}" for distance in DISTANCES), "|")
    print("|---" * (1 + len(DISTANCES)) + "|")
    for name, picture in pictures(arguments.noise).items():
        length = float(np.linalg.norm(picture))
        for connectivity in (4, 8):
            problem = denoising(picture, arguments.weight, connectivity)
            results = [
                sm.prox(problem, sm.AcceleratedSweeps(), tol=0.5 * (d * length) ** 2)
                for d in DISTANCES
            ]
            cells = [
                f"{result.passes:.0f} ({np.linalg.norm(result.x - results[-1].x) / length:.0e})"
                for result in results
            ]
            print(f"| {name}, {connectivity} neighbours |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()

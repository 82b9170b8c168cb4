"""Total-variation denoising of a photograph, exactly, with a certified gap.

    python examples/denoise.py [noisy.png denoised.png]

The proximal problem of a grid cut with unary -b is  min over x of  ||x - b||^2 / 2 + weight TV(x).
"""

from __future__ import annotations

import sys

import numpy as np

import submin as sm


def denoise(noisy: np.ndarray, weight: float) -> sm.Result:
    """Return the proximal point of 8-neighbour total variation at a grey image."""
    offsets = sm.grid_offsets(2, 8)
    weights = [weight / np.hypot(*offset) for offset in offsets]
    problem = sm.Problem(-noisy, [sm.GridCut(noisy.shape, weights, connectivity=8)])
    return sm.prox(problem, tol=1e-6 * np.sum(noisy**2) / 2, max_passes=2000)


def main() -> None:
    """Denoise a photograph of scikit-image with added noise."""
    import skimage.data
    import skimage.io
    import skimage.metrics

    clean = skimage.data.camera()[::2, ::2] / 255.0
    noisy = clean + 0.1 * np.random.default_rng(0).normal(size=clean.shape)
    result = denoise(noisy, weight=0.05)
    for name, image in (("noisy", noisy), ("denoised", result.x)):
        ratio = skimage.metrics.peak_signal_noise_ratio(clean, image, data_range=1.0)
        print(f"{name}: {ratio:.2f} dB")
    print(result)
    for path, image in zip(sys.argv[1:], (noisy, result.x), strict=False):
        skimage.io.imsave(path, (255 * np.clip(image, 0, 1)).astype(np.uint8))


if __name__ == "__main__":
    main()

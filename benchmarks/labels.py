"""Labellings by ``minimize_labels``, gco-wrapper and PyMaxflow's expansions, in one run.

    python benchmarks/labels.py [--repeats 3] [--only NAME]
    python benchmarks/labels.py --large [--only NAME]

Every line is one problem: the energies, how far from optimal ours is proved to be, seconds (median)
from arrays to labels, and how many times as long the others take.  Energies of the others are
computed anew in float64; gco rounds costs to integers.  Both are left out where they are not
installed, or cannot take the problem (fastmin: four neighbours, one weight).  With --large, ours
alone on a picture of 4 megapixels and volumes of 2 million voxels, with the largest memory of the
process.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import geometric_mean, median

import numpy as np

import submin as sm


@dataclass
class Instance:
    """Costs of shape (labels, ...), a weight for all edges, and what distances it has."""

    name: str
    costs: np.ndarray
    weight: float
    distance: sm.labels.Potts | sm.labels.Linear
    edges: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def terms(self) -> list[sm.Term]:
        """The grid, or the graph."""
        if self.edges is None:
            return [sm.GridCut(self.costs.shape[1:], self.weight)]
        return [sm.Cut(*self.edges, self.weight)]

    @property
    def problem(self) -> sm.LabelProblem:
        """The energy, to value labels of the others."""
        return sm.LabelProblem(self.costs, self.terms, self.distance)

    @property
    def matrix(self) -> np.ndarray:
        """The distances."""
        return self.distance.matrix(len(self.costs))


def greys(labels: int, weight: float) -> Instance:
    """Return the camera man in some greys."""
    from skimage import data

    levels = np.linspace(20.0, 235.0, labels)
    costs = (data.camera().astype(float) - levels[:, None, None]) ** 2 / 6000.0
    return Instance(f"camera 512², {labels} greys, {weight}", costs, weight, sm.labels.Potts())


def colours(labels: int, weight: float) -> Instance:
    """Return the astronaut in some colours that k-means finds."""
    from skimage import data
    from sklearn.cluster import KMeans

    image = data.astronaut().astype(float)
    sample = image.reshape(-1, 3)[::37]
    centres = KMeans(labels, n_init=1, random_state=0, max_iter=20).fit(sample).cluster_centers_
    costs = ((image[None] - centres[:, None, None]) ** 2).sum(axis=-1) / 6000.0
    name = f"astronaut 512², {labels} colours, {weight}"
    return Instance(name, costs, weight, sm.labels.Potts())


def stereo(labels: int) -> Instance:
    """Disparities of a street of random boxes, seen twice with noise; truncated linear."""
    rng = np.random.default_rng(labels)
    height, width = 240, 320
    depth = np.full((height, width), 2)
    for _ in range(25):
        row, column = rng.integers(0, height - 40), rng.integers(0, width - 40)
        size = rng.integers(20, 90, 2)
        depth[row : row + size[0], column : column + size[1]] = rng.integers(2, labels)
    right = rng.random((height, width + labels))
    columns = np.arange(width)[None] + labels - depth
    left = np.take_along_axis(right, columns, axis=1) + 0.1 * rng.normal(size=(height, width))
    costs = np.stack(
        [
            np.minimum(np.abs(left - right[:, labels - k : labels - k + width]), 0.5)
            for k in range(labels)
        ]
    )
    return Instance(f"stereo 240 x 320, {labels} labels", 4 * costs, 0.3, sm.labels.Linear(cap=4))


def volume(labels: int) -> Instance:
    """Noisy balls in a cube."""
    rng = np.random.default_rng(1)
    grid = np.moveaxis(np.indices((48, 48, 48)), 0, -1)
    truth = np.zeros((48, 48, 48))
    for _ in range(12):
        inside = ((grid - rng.integers(5, 43, 3)) ** 2).sum(axis=-1) < rng.integers(30, 150)
        truth[inside] = rng.integers(1, labels)
    noisy = truth + 0.8 * rng.normal(size=truth.shape)
    costs = np.abs(noisy - np.arange(labels)[:, None, None, None])
    return Instance(f"volume 48³, {labels} labels", costs, 0.5, sm.labels.Potts())


def graph(labels: int) -> Instance:
    """Points in the plane, each joined to its six nearest; a few of them say what they are."""
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(2)
    points, centres = rng.random((20_000, 2)), rng.random((labels, 2))
    _, near = cKDTree(points).query(points, 7)
    ends = np.stack([np.repeat(np.arange(len(points)), 6), near[:, 1:].ravel()])
    ends = np.unique(np.sort(ends, axis=0), axis=1).astype(np.int32)
    costs = np.linalg.norm(points - centres[:, None], axis=-1) * 5
    costs += rng.random(costs.shape)
    edges = (ends[0], ends[1])
    return Instance(f"graph of 20,000, {labels} labels", costs, 0.4, sm.labels.Potts(), edges)


def instances() -> Iterator[Instance]:
    """Yield all problems."""
    yield greys(8, 0.333)
    yield greys(8, 0.0833)
    yield colours(8, 1.0)
    yield colours(21, 1.0)
    yield stereo(16)
    yield stereo(60)
    yield volume(6)
    yield graph(10)


def noisy_blocks(shape: tuple[int, ...], labels: int) -> np.ndarray:
    """Return squared distances of noisy blocks from each label, in single precision."""
    rng = np.random.default_rng(0)
    values = sum(np.ix_(*[np.arange(size) // (size // 8) for size in shape])) % labels
    noisy = values + rng.normal(size=shape)
    levels = np.arange(labels).reshape(-1, *(1,) * len(shape))
    return ((noisy - levels) ** 2).astype(np.float32)


def large() -> Iterator[tuple[str, np.ndarray, sm.GridCut]]:
    """Yield large problems of Potts distances."""
    picture, cube = (2048, 2048), (128, 128, 128)
    yield "picture 2048², 16 labels", noisy_blocks(picture, 16), sm.GridCut(picture, 1.5)
    volume = noisy_blocks(cube, 8)
    yield "volume 128³, 8 labels", volume, sm.GridCut(cube, 1.0)
    yield "the same, 26 neighbours", volume, sm.GridCut(cube, 0.2, connectivity=26)


def measure_large(only: str) -> None:
    """Solve each in a process of its own, and print how much memory it took."""
    for name, costs, grid in large():
        if only in name and os.fork() == 0:
            start = time.perf_counter()
            result = sm.minimize_labels(costs, [grid])
            spent = time.perf_counter() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(f"{name:28} {result} {spent:.1f} s, {peak:.1f} GB", flush=True)
            os._exit(0)
        if only in name:
            os.wait()


def ours(instance: Instance) -> sm.LabelResult:
    """Solve, with the proof."""
    return sm.minimize_labels(instance.costs, instance.terms, instance.distance)


def gco(instance: Instance) -> np.ndarray:
    """Expand by gco-wrapper until nothing helps."""
    import gco

    costs = np.ascontiguousarray(np.moveaxis(instance.costs, 0, -1))
    if instance.edges is None and costs.ndim == 3:
        rows, columns, _ = costs.shape
        down = np.full((rows - 1, columns), instance.weight)
        right = np.full((rows, columns - 1), instance.weight)
        return gco.cut_grid_graph(costs, instance.matrix, down, right, n_iter=-1)
    shape = costs.shape[:-1]
    ends = instance.edges or instance.terms[0].edge_list()
    weights = np.full(len(ends[0]), instance.weight)
    flat = costs.reshape(-1, costs.shape[-1])
    edges = np.sort(np.stack(ends, axis=1), axis=1)
    return gco.cut_general_graph(edges, weights, flat, instance.matrix, n_iter=-1).reshape(shape)


def fastmin(instance: Instance) -> np.ndarray:
    """Expand by PyMaxflow."""
    from maxflow.fastmin import aexpansion_grid

    costs = np.ascontiguousarray(np.moveaxis(instance.costs, 0, -1))
    return aexpansion_grid(costs, instance.weight * instance.matrix)


def seconds(call: Callable[[], object], repeats: int) -> tuple[float, object]:
    """Return the median time of a call, and what it returns."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        answer = call()
        times.append(time.perf_counter() - start)
    return median(times), answer


def compare(instance: Instance, repeats: int) -> dict[str, float]:
    """Print a line, and return how many times as long the others take."""
    spent, result = seconds(lambda: ours(instance), repeats)
    part = result.gap / abs(result.value)
    line = f"{instance.name:32} {result.value:12.2f}  gap {part:6.2%} {spent:7.2f} s"
    ratios = {}
    peers = {"gco": gco} if instance.edges is not None else {"gco": gco, "fastmin": fastmin}
    for name, peer in peers.items():
        try:
            taken, labels = seconds(lambda peer=peer: peer(instance), max(1, repeats // 3))
        except ImportError:
            continue
        value = instance.problem.evaluate(np.asarray(labels).reshape(instance.costs.shape[1:]))
        ratios[name] = taken / spent
        line += f"   {name} {value:12.2f} {taken / spent:6.1f}x"
        line += "" if result.value <= value else " BELOW OURS"
    print(line, flush=True)
    return ratios


def main() -> None:
    """Compare on all problems."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--large", action="store_true")
    chosen = parser.parse_args()
    if chosen.large:
        measure_large(chosen.only)
        return
    print(platform.processor() or platform.machine())
    all_ratios = [
        compare(instance, chosen.repeats)
        for instance in instances()
        if chosen.only in instance.name
    ]
    for name in ("gco", "fastmin"):
        ratios = [own[name] for own in all_ratios if name in own]
        if ratios:
            print(
                f"{name}: {geometric_mean(ratios):.1f} times as long (geometric mean), "
                f"least {min(ratios):.1f}"
            )


if __name__ == "__main__":
    main()

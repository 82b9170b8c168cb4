"""The groups of instances that max-flow codes are compared on."""

from __future__ import annotations

import bz2
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import submin as sm
from instances import data_folder, image_problem, photograph_problem
from mazes import PROBLEMS
from submin.files import read_dimacs


@dataclass
class Instance:
    """A problem of one cut term, and its published minimum where there is one."""

    problem: sm.Problem
    minimum: float | None = None

    @property
    def symmetric_grid(self) -> bool:
        """Whether the term is a grid whose edges cost the same in both directions."""
        term = self.problem.terms[0]
        return isinstance(term, sm.GridCut) and all(a is b for _, a, b in term.segments)

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return tails, heads, forward and backward weights of all edges."""
        term = self.problem.terms[0]
        forward, backward = np.empty(term.size), np.empty(term.size)
        for slots, out, back in term.segments:
            forward[slots], backward[slots] = out, back
        return *term.edge_list(), forward, backward

    def builder(self) -> Callable[[], sm.Problem]:
        """Return a function that builds the problem anew from the arrays of the user."""
        term, unary, constant = self.problem.terms[0], self.problem.unary, self.problem.constant
        if self.symmetric_grid:
            weights = [
                part.reshape(term.overlaps[k]) for k, (_, part, _) in enumerate(term.segments)
            ]
            make = partial(sm.GridCut, term.shape, weights, term.connectivity)
        else:
            make = partial(sm.Cut, *self.edges())
        return lambda: sm.Problem(unary, [make()], constant)


Group = Iterator[tuple[str, Callable[[], Instance]]]


def photographs(connectivities: tuple[int, ...]) -> Group:
    """Photographs of scikit-image and of the GrabCut folder, smoothness 5 and 50."""
    import skimage.data

    files = sorted((data_folder() / "grabcut" / "images").glob("*.jpg"))
    for connectivity in connectivities:
        for scale in (1, 2):
            for smoothness in (5.0, 50.0):
                end = f"x{scale} {connectivity}-nb {smoothness:g}"
                for path in files if scale == 1 else ():
                    yield f"{path.stem} {end}", partial(_file, path, smoothness, connectivity)
                for name in ("camera", "astronaut", "coffee"):
                    if hasattr(skimage.data, name):
                        yield (
                            f"{name} {end}",
                            partial(_sample, name, smoothness, connectivity, scale),
                        )


def _sample(*arguments: Any) -> Instance:
    return Instance(photograph_problem(*arguments))


def _file(path: Path, smoothness: float, connectivity: int) -> Instance:
    from PIL import Image

    image = np.asarray(Image.open(path).convert("RGB"))
    return Instance(image_problem(image, smoothness, connectivity))


def volumes(connectivities: tuple[int, ...]) -> Group:
    """Return the MR volume of the data folder, and synthetic ones of blobs and noise."""
    for connectivity in connectivities:
        if (data_folder() / "volume").is_dir():
            yield f"MR 120x150x100 {connectivity}-nb", partial(_mr_volume, connectivity)
        for side in (64, 128):
            yield f"blobs {side}^3 {connectivity}-nb", partial(_blobs, side, connectivity)


def _mr_volume(connectivity: int) -> Instance:
    """Build the energy that the data folder states; further offsets cost / distance."""
    import nibabel

    folder = data_folder() / "volume"
    image, initial = (
        np.ascontiguousarray(
            nibabel.load(folder / f"simplecrf_2013_12_1_{name}.nii.gz").get_fdata()
        )
        for name in ("img", "init")
    )
    chance = 0.5 + 0.8 * ((initial > 0) - 0.5)
    unary = np.log(1.0 - chance) - np.log(chance)
    return Instance(sm.Problem(unary, [contrast_cut(image, connectivity, 10.0, 15.0)]))


def contrast_cut(image: np.ndarray, connectivity: int, weight: float, width: float) -> sm.GridCut:
    """Return the cut of weights weight exp(-difference^2 / (2 width^2)) / distance."""
    frame = sm.GridCut(image.shape, 0.0, connectivity)
    weights = []
    for k, offset in enumerate(frame.offsets):
        tails, heads = frame.ends(k)
        difference = image[tails] - image[heads]
        decay = np.exp(-(difference**2) / (2.0 * width**2))
        weights.append(weight * decay / float(np.linalg.norm(offset)))
    return sm.GridCut(image.shape, weights, connectivity)


def _blobs(side: int, connectivity: int) -> Instance:
    return Instance(blob_problem(side, connectivity))


def blob_problem(side: int, connectivity: int) -> sm.Problem:
    """Return a volume of forty balls under noise, with contrast weights."""
    rng = np.random.default_rng(0)
    axes = np.ogrid[:side, :side, :side]
    inside = np.zeros((side, side, side), dtype=bool)
    for _ in range(40):
        centre, radius = rng.random(3) * side, side * (0.04 + 0.1 * rng.random())
        inside |= sum((a - c) ** 2 for a, c in zip(axes, centre, strict=True)) < radius**2
    image = inside + rng.normal(scale=0.5, size=inside.shape)
    cut = contrast_cut(image, connectivity, 4.0 / connectivity, 0.5)
    return sm.Problem(0.5 - image, [cut])


def graphs(_: tuple[int, ...]) -> Group:
    """Random graphs, directed and not; photographs' grids as explicit edges; superpixels."""
    for n, degree in ((10_000, 4), (100_000, 4), (100_000, 10)):
        for directed in (False, True):
            name = f"random {n} degree {degree} {'directed' if directed else 'undirected'}"
            yield name, partial(_random_graph, n, degree, directed)
    for name in ("camera", "astronaut"):
        yield f"{name} 8-nb as edges", partial(_explicit_grid, name)
    yield "superpixels of coffee", _superpixels


def _random_graph(n: int, degree: int, directed: bool) -> Instance:
    rng = np.random.default_rng(n + degree)
    tails = rng.integers(0, n, n * degree // 2)
    heads = (tails + rng.integers(1, n, tails.size)) % n
    forward, backward = rng.random(tails.size), rng.random(tails.size) if directed else None
    unary = rng.normal(size=n) * degree / 3.0
    return Instance(sm.Problem(unary, [sm.Cut(tails, heads, forward, backward)]))


def _explicit_grid(name: str) -> Instance:
    grid = Instance(photograph_problem(name, 5.0, 8))
    return Instance(sm.Problem(grid.problem.unary, [sm.Cut(*grid.edges())]))


def _superpixels() -> Instance:
    """Regions of a photograph: edges cost the contrast weights along their common border."""
    import skimage.data
    from skimage.segmentation import slic

    pixels = Instance(photograph_problem("coffee", 5.0, 8))
    tails, heads, weights, _ = pixels.edges()
    labels = slic(skimage.data.coffee(), n_segments=5000, start_label=0).ravel()
    ends = np.sort(np.column_stack([labels[tails], labels[heads]]), axis=1)
    border = ends[:, 0] != ends[:, 1]
    pairs, of_edge = np.unique(ends[border], axis=0, return_inverse=True)
    cut = sm.Cut(*pairs.T, np.bincount(of_edge, weights[border]))
    return Instance(sm.Problem(np.bincount(labels, pixels.problem.unary.ravel()), [cut]))


def mazes(_: tuple[int, ...]) -> Group:
    """Return thin structures in grids: snakes, mazes, spirals, combs; and random weights."""
    for side in (200, 500):
        for name in PROBLEMS:
            yield f"{name} {side}", partial(_maze, name, side)


def _maze(name: str, side: int) -> Instance:
    return Instance(PROBLEMS[name](side))


def published(_: tuple[int, ...]) -> Group:
    """Flow problems of igraph and networkx, with their published values."""
    path = data_folder() / "maxflow" / "igraph_ak-4102.max"
    if path.is_file():
        yield "igraph ak-4102", lambda: Instance(read_dimacs(path), 8207.0)
    for name, flow in (("gl1", 156545.0), ("gw1", 1202018.0), ("wlm3", 11875108.0)):
        yield f"networkx {name}", partial(_networkx, name, flow)


def _networkx(name: str, flow: float) -> Instance:
    import networkx.algorithms.flow as package

    path = Path(package.__file__).parent / "tests" / f"{name}.gpickle.bz2"
    with bz2.open(path) as stream:
        graph = pickle.load(stream)
    arcs = np.array(list(graph.edges(data="capacity")), dtype=float)
    return Instance(flow_problem(arcs, 1, graph.number_of_nodes()), flow)


def flow_problem(arcs: np.ndarray, source: int, sink: int) -> sm.Problem:
    """Return the minimum cut of arcs (tail, head, capacity) between nodes counted from 1."""
    tails, heads = (arcs[:, k].astype(np.int64) - 1 for k in (0, 1))
    unary = np.zeros(1 + int(max(tails.max(), heads.max())))
    unary[source - 1], unary[sink - 1] = -np.inf, np.inf
    return sm.Problem(unary, [sm.Cut(tails, heads, arcs[:, 2], 0.0)])


GROUPS: dict[str, Callable[[tuple[int, ...]], Group]] = {
    "photographs": photographs,
    "volume": volumes,
    "graphs": graphs,
    "mazes": mazes,
    "instances": published,
}
CONNECTIVITIES = {
    "photographs": (4, 8),
    "volume": (6, 26),
    "graphs": (),
    "mazes": (),
    "instances": (),
}

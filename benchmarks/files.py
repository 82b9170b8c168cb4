"""Megabytes a second that files of other programs are read and written at.

    python benchmarks/files.py [--megabytes 20] [--repeats 3]

Random networks, graphs, hypergraphs, binary models and saved problems.  Times are medians.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import submin as sm

BYTES_A_PART = 17
"""Of an arc, a hyperedge's incidence and so on: about, to choose the sizes."""


@dataclass(frozen=True)
class Format:
    """One format: what is written, and how."""

    name: str
    ending: str
    data: Any
    write: Callable[[Path, Any], None]
    read: Callable[[Path], Any]


def formats(parts: int) -> list[Format]:
    """Return the formats, with about so many arcs, edges or incidences."""
    rng = np.random.default_rng(0)
    nodes = max(4, parts // 6)
    tails, heads = rng.integers(0, nodes, (2, parts))
    tails, heads = tails[tails != heads], heads[tails != heads]
    whole = rng.integers(1, 1000, tails.size).astype(float)
    network = sm.Network(tails, heads, whole, 0, nodes - 1)
    keys = np.unique(np.minimum(tails, heads) * nodes + np.maximum(tails, heads))
    graph = sm.files.Graph(sm.Cut(keys // nodes, keys % nodes, 1.0), nodes)
    pointers = np.arange(0, parts, 4)
    members = (np.arange(pointers[-1]) * 7919 + rng.integers(0, 7919)) % nodes
    hyper = sm.files.Graph(sm.Hyperedge(pointers, members, rng.random(pointers.size - 1)), nodes)
    problem = sm.Problem(
        rng.normal(size=nodes), [sm.Cut(keys // nodes, keys % nodes, rng.random(keys.size))]
    )
    files = sm.files
    return [
        Format("DIMACS", "max", network, files.write_dimacs, files.read_network),
        Format("METIS", "graph", graph, files.write_graph, files.read_graph),
        Format("hMETIS", "hgr", hyper, files.write_hypergraph, files.read_hypergraph),
        Format("UAI", "uai", problem, files.write_uai, files.read_uai),
        Format("submin", "npz", problem, lambda path, own: own.save(path), sm.Problem.load),
    ]


def speeds(own: Format, path: Path, repeats: int) -> tuple[float, float, float]:
    """Return megabytes, and megabytes a second that are read and written."""
    written = median(lambda: own.write(path, own.data), repeats)
    size = path.stat().st_size / 1e6
    return size, size / median(lambda: own.read(path), repeats), size / written


def median(work: Callable[[], Any], repeats: int) -> float:
    """Return the median of seconds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=20.0)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"{'format':8} {'MB':>6} {'read MB/s':>10} {'written MB/s':>13}")
    with tempfile.TemporaryDirectory() as folder:
        for own in formats(int(options.megabytes * 1e6) // BYTES_A_PART):
            path = Path(folder, f"file.{own.ending}")
            size, read, written = speeds(own, path, options.repeats)
            print(f"{own.name:8} {size:6.1f} {read:10.1f} {written:13.1f}")
            path.unlink()


if __name__ == "__main__":
    main()

"""``describe``: what it says, and that the memory it counts is what a solve takes."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import submin as sm
from submin.solve.description import peak_memory

SCRIPT = Path(__file__).parent / "peak_memory.py"


# Of the GNU C library: memory goes back to the system when it is freed, whatever came before.
AT_ONCE = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


def measured_and_counted(
    solver: str, connectivity: int, shape: tuple[int, ...], dtype: str = "float64"
) -> tuple[int, int]:
    """Bytes at the peak of a solve in a process of its own, and the bytes that are counted."""
    if not sys.platform.startswith("linux"):
        pytest.skip("resident memory is read from Linux's /proc")
    command = [sys.executable, SCRIPT, solver, dtype, connectivity, *shape]
    runs = [
        subprocess.run(
            [*map(str, command)], capture_output=True, text=True, check=True,
            env={**os.environ, **AT_ONCE},
        )
        for _ in range(2)
    ]  # fmt: skip
    # The system may join small pages into large ones meanwhile, which only adds to the peak.
    measured, counted = min(tuple(map(int, run.stdout.split())) for run in runs)
    return measured, counted


@pytest.mark.parametrize(
    ("connectivity", "shape", "most"), [(8, (512, 1024), 100), (26, (72, 72, 72), 250)]
)
def test_a_cut_takes_few_bytes_an_element(connectivity, shape, most):
    """At the peak, beyond the arrays of the user."""
    measured, _ = measured_and_counted("MaxFlow", connectivity, shape)
    assert measured <= most * math.prod(shape)


@pytest.mark.parametrize(
    ("solver", "connectivity", "shape"),
    [
        ("MaxFlow", 4, (1024, 1024)),
        ("MaxFlow", 8, (1024, 1024)),
        ("MaxFlow", 26, (80, 80, 80)),
        ("MaxFlow", 0, (300, 400)),
        ("AcceleratedSweeps", 8, (512, 512)),
    ],
)
def test_counted_memory_is_measured_memory(solver, connectivity, shape):
    """Within a factor of 1.3, in resident memory beyond the problem's own arrays."""
    measured, counted = measured_and_counted(solver, connectivity, shape)
    assert counted / 1.3 <= measured <= counted * 1.3


@pytest.mark.parametrize("solver", ["MaxFlow", "AcceleratedSweeps"])
def test_weights_of_single_precision_are_not_converted_on_the_way(solver):
    """That would take 32 bytes a pixel more, or 8 for one offset after the other."""
    measured, counted = measured_and_counted(solver, 8, (768, 1024), "float32")
    assert measured <= measured_and_counted(solver, 8, (768, 1024))[0] + 4 * 768 * 1024
    assert counted / 1.3 <= measured <= counted * 1.3


def test_memory_is_described():
    problem = sm.Problem([[1.0, -3.0, 2.0]], [sm.GridCut((1, 3), [[[1.0, 2.0]], 1.0])])
    layout = sm.Layout(problem)
    # a dual of 2 flows, s of 3 elements, s and least costs of the certificate, and the set; on the
    # way lists, label, parent and bits in place of the certificate
    expected = 2 * 8 + 3 * 8 + 3 * 2 * 8 + 3
    assert peak_memory(layout, sm.MaxFlow()) == expected
    assert f"about {expected} bytes" in sm.describe(problem)


def test_another_solver_is_described():
    problem = sm.Problem([[1.0, -3.0, 2.0]], [sm.GridCut((1, 3), 1.0)])
    assert "solver: MaxFlow(" in sm.describe(problem)
    assert "solver: RCDM(seed=3), because it was asked for" in sm.describe(problem, sm.RCDM(seed=3))
    assert sm.describe(problem, "rcdm", blocks="functions").count("2 blocks") == 1
    with pytest.raises(ValueError, match="the solvers are"):
        sm.describe(problem, "chains")


def test_solvers_that_do_not_count():
    with pytest.raises(TypeError, match="memory"):
        peak_memory(sm.Layout(sm.Problem([1.0])), sm.AP())

"""A new family and a new solver touch two files each: their own, and a registry."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import submin

PACKAGE = Path(submin.__file__).parent

FAMILY = '''
"""Pairs of elements that cost 1 where exactly one is in S: a family of 30 lines."""

from __future__ import annotations

import numpy as np

from submin.terms.table import Table


class Pairs(Table):
    """w [exactly one of two elements is in S], for each of several pairs."""

    kind = "pairs"

    def __init__(self, pairs, weight=1.0):
        super().__init__(pairs, [0.0, weight, weight, 0.0])

    @classmethod
    def from_arrays(cls, arrays):
        """Rebuild a term."""
        return cls(arrays["members"], float(np.max(arrays["values"])))

    @classmethod
    def examples(cls):
        """Return small terms of the family."""
        return [cls([[0, 1], [1, 2], [0, 3]], 0.5), cls([[2, 1]])]
'''

SOLVER = '''
"""Sweeps in the reverse order of the blocks."""

from __future__ import annotations

from dataclasses import dataclass

from submin.solvers.sweeps import CyclicSweeps


@dataclass(frozen=True)
class BackwardSweeps(CyclicSweeps):
    """Project the last block first."""

    def step(self, layout, state):
        """Do one pass."""
        for i in reversed(range(layout.r)):
            layout.sweep(i, state.y, state.s)
        return layout.r
'''

USES = {
    "terms": """
import numpy as np, submin as sm
from submin.terms import REGISTRY
from submin.testing import brute_force, check_term
family = REGISTRY["pairs"]
assert sm.Pairs is family
for term in family.examples():
    check_term(term)
    problem = sm.Problem(np.linspace(-1.0, 0.8, term.elements), [term])
    assert np.isclose(sm.minimize(problem).value, brute_force(problem).minimum)
    problem.save("pairs.npz")
    assert type(sm.Problem.load("pairs.npz").terms[0]) is family
""",
    "solvers": """
import numpy as np, submin as sm
from submin.testing import check_solver
assert check_solver(sm.BackwardSweeps())
assert "BackwardSweeps" in sm.minimize(sm.Problem([1.0, -2.0]), "backward_sweeps").solver
""",
}
LINES = {
    "terms": ("    Function,\n)", "    Function,\n    Pairs,\n)", "pairs", "Pairs"),
    "solvers": (
        '    "rcdm": RCDM,\n',
        '    "rcdm": RCDM,\n    "backward_sweeps": BackwardSweeps,\n',
        "backward_sweeps",
        "BackwardSweeps",
    ),
}


def files_of(package: Path) -> dict[str, bytes]:
    paths = [path for path in package.rglob("*") if path.is_file()]
    kept = [path for path in paths if "__pycache__" not in path.parts]
    return {str(path.relative_to(package)): path.read_bytes() for path in kept}


def assert_two_files(folder: Path, room: str, source: str) -> None:
    """Add one to a copy of the package; it works everywhere, and two files have changed."""
    package = folder / "submin"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    before = files_of(package)
    old, new, module, name = LINES[room]
    (package / room / f"{module}.py").write_text(source.lstrip())
    registry = package / room / "__init__.py"
    text = registry.read_text()
    assert text.count(old) == 1
    head, future, rest = text.replace(old, new).partition("from __future__ import annotations\n")
    registry.write_text(f"{head}{future}\nfrom submin.{room}.{module} import {name}\n{rest}")
    command = [sys.executable, "-W", "error", "-c", USES[room]]
    run = subprocess.run(
        command, cwd=folder, env={"PYTHONPATH": str(folder), "PATH": ""}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    after = files_of(package)
    changed = {path for path in after if after[path] != before.get(path)}
    assert changed == {f"{room}/{module}.py", f"{room}/__init__.py"}


def test_a_family_touches_two_files(tmp_path):
    assert_two_files(tmp_path, "terms", FAMILY)


def test_a_solver_touches_two_files(tmp_path):
    assert_two_files(tmp_path, "solvers", SOLVER)

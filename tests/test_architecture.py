"""Imports point one way, importing stays light, and the tests assert what they compare."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import submin as sm

PACKAGE = Path(sm.__file__).parent
TESTS = Path(__file__).parent

# From the bottom up: a module may import from its own row and the rows before it.
LAYERS = [
    ("_typing", "_native"),
    ("_sums", "_checks", "_files", "_json", "_lazy", "_memory", "_words"),
    ("kernels",),
    ("_orders",),
    ("terms",),
    ("pins",),
    ("problem",),
    ("layout", "exact_gap", "uniqueness"),
    ("certificate", "level_sets", "minor"),
    ("proximal_certificate",),
    ("result", "screening"),
    ("solvers",),
    ("driver",),
    ("proximal_driver",),
    ("progress",),
    ("networks",),
    ("description", "api", "storage", "testing", "dimacs"),
    ("__init__",),
    ("vision", "reproduce"),
    ("cli",),
    ("__main__",),
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
CORE = [name for names in LAYERS[:-3] for name in names if name != "testing"]
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))


def layer(path: Path) -> str:
    """The top-level module or subpackage that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def is_type_checking(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports_at_the_top(tree: ast.Module) -> Iterator[str]:
    """The dotted names that a module imports when it is imported itself."""
    pending = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not (
            isinstance(node, ast.stmt) and is_type_checking(node)
        ):
            pending.extend(ast.iter_child_nodes(node))


def imported_layers(path: Path) -> set[str]:
    found = set()
    for name in imports_at_the_top(ast.parse(path.read_text())):
        first, *rest = name.split(".")
        if first == "submin":
            found.add(rest[0] if rest and rest[0] in RANK else "__init__")
    return found


def test_every_module_has_a_layer():
    assert {layer(path) for path in MODULES} <= set(RANK)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path):
    own = layer(path)
    above = {name for name in imported_layers(path) if RANK[name] > RANK[own]}
    assert not above, f"{own} imports {sorted(above)}, which are above it"


def test_the_certificate_shares_no_code_with_solvers():
    """Nothing that it imports, however indirectly, is a solver, the driver or a level set."""
    pending, reached = ["certificate", "proximal_certificate"], set()
    while pending:
        name = pending.pop()
        reached.add(name)
        for path in MODULES:
            if layer(path) == name:
                pending.extend(imported_layers(path) - reached)
    assert not reached & {"solvers", "driver", "level_sets", "layout", "api", "result"}


@pytest.mark.parametrize("path", [p for p in MODULES if layer(p) in CORE], ids=lambda p: p.stem)
def test_the_core_depends_on_numpy_alone(path):
    allowed = set(sys.stdlib_module_names) | {"numpy", "submin"}
    names = {name.split(".")[0] for name in imports_at_the_top(ast.parse(path.read_text()))}
    assert names <= allowed


HEAVY = [
    "scipy", "sklearn", "skimage", "matplotlib", "typer", "rich", "PIL", "click",
    "submin.vision", "submin.cli",
]  # fmt: skip


def loaded_after(code: str) -> set[str]:
    """The modules that a fresh interpreter holds after some code."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import submin",
        "import submin as sm; sm.minimize(sm.Problem([1, -2], [sm.GridCut(2, 1)]))",
        "import submin as sm; sm.prox(sm.Problem([1, -2], [sm.GridCut(2, 1)]), tol=1e-6)",
    ],
)
def test_importing_and_solving_load_nothing_heavy(code):
    modules = loaded_after(code)
    assert "submin" in modules
    assert not {name for name in HEAVY if name in modules}


def test_public_names_exist_and_are_documented():
    assert len(set(sm.__all__)) == len(sm.__all__)
    for name in sm.__all__:
        if name in ("__version__", "segment"):
            continue
        assert getattr(sm, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'minimise'"):
        _ = sm.minimise


def bare_comparisons(tree: ast.Module) -> Iterator[int]:
    """Lines on which a comparison is computed and its outcome dropped."""
    names = {"allclose", "array_equal", "isclose", "approx", "array_equiv"}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Expr):
            continue
        value = node.value
        called = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
        if isinstance(value, ast.Compare) or (called and value.func.attr in names):
            yield node.lineno


@pytest.mark.parametrize(
    "path", sorted(TESTS.rglob("*.py")), ids=lambda path: str(path.relative_to(TESTS))
)
def test_comparisons_are_asserted(path):
    assert not list(bare_comparisons(ast.parse(path.read_text())))


def test_a_bare_comparison_would_be_found():
    assert list(bare_comparisons(ast.parse("np.allclose(a, b)\nassert np.allclose(a, b)\na == b")))

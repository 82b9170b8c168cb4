"""Imports point one way, importing stays light, and the tests assert what they compare."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import submin as sm

PACKAGE = Path(sm.__file__).parent
TESTS = Path(__file__).parent

# From the bottom up: a module may import from its own row and the rows before it, at its top, in
# functions and for type checkers.  A module falls under the longest of these names that it begins
# with.
LAYERS = [
    ("_native", "_typing"),
    ("_checks", "_files", "_json", "_lazy", "_sums"),
    ("kernels",),
    ("_memory", "_orders"),
    ("terms",),
    ("model",),
    ("solve.layout", "solve.exact_gap", "solve.uniqueness"),
    ("solve.certificate", "solve.proximal_certificate", "solve.level_sets"),
    ("solve.result",),
    ("solve.verification",),
    ("solve.screening",),
    ("solvers",),
    ("solve.driver", "solve.proximal_driver", "solve.progress"),
    ("networks", "solve.api", "solve.description", "solve.session"),
    ("levels", "labels"),
    ("files", "testing"),
    ("__init__",),
    ("drop_in", "learn", "vision", "reproduce"),
    ("volumes", "napari"),
    ("page",),
    ("cli",),
    ("__main__",),
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
CORE = [name for names in LAYERS[:-6] for name in names] + ["files", "__init__"]
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))
MOST_FILES = 20
"""Files of a folder that a reader still takes in."""


def dotted(path: Path) -> str:
    """The name of a module within the package, and of a folder for its ``__init__``."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "__init__"


NAMES = {dotted(path): path for path in MODULES}


def layer(name: str) -> str:
    """The row's name that a module falls under; a folder alone falls under its first one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        if (prefix := ".".join(parts[:length])) in RANK:
            return prefix
    return min((own for own in RANK if own.startswith(f"{name}.")), key=RANK.__getitem__)


def at_the_top(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes that run when a module is imported itself."""
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        typing = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if not typing and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            pending.extend(ast.iter_child_nodes(node))


def imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The dotted names of imports."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_of(name: str) -> str | None:
    """The module of the package that a dotted name is in, or None."""
    parts = name.split(".")
    if parts[0] != "submin":
        return None
    for length in range(len(parts), 1, -1):
        inner = ".".join(parts[1:length])
        if inner in NAMES or inner == "_native":
            return inner
    return "__init__"


def imports_of(path: Path) -> set[str]:
    found = {module_of(name) for name in imported(ast.walk(ast.parse(path.read_text())))}
    return {name for name in found if name is not None}


GRAPH = {name: imports_of(path) for name, path in NAMES.items()}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_imports_point_one_way(name):
    own = RANK[layer(name)]
    above = {other for other in GRAPH[name] if RANK[layer(other)] > own}
    if name == "__init__":  # it loads the applications when they are asked for
        above = {other for other in above if layer(other) != "vision"}
    assert not above, f"{name} imports {sorted(above)}, which are above it"


def circles(graph: dict[str, set[str]]) -> list[str]:
    """The modules that import themselves through others."""
    found = []
    for name in graph:
        pending, reached = list(graph[name]), set()
        while pending:
            other = pending.pop()
            if other not in reached:
                reached.add(other)
                pending.extend(graph.get(other, ()))
        if name in reached:
            found.append(name)
    return found


def test_no_imports_go_in_a_circle():
    """Whatever the public names load when they are asked for comes after the package itself."""
    assert circles({**GRAPH, "__init__": set()}) == []


def test_a_circle_would_be_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
    source = (
        "def f():\n    from submin.model import minor\nif TYPE_CHECKING:\n    import submin.cli"
    )
    assert {module_of(name) for name in imported(ast.walk(ast.parse(source)))} == {
        "model.minor",
        "cli",
    }


def test_folders_are_rooms_and_no_halls():
    folders = {path.parent for path in MODULES}
    assert {
        str(f): len(list(f.glob("*.py"))) for f in folders if len(list(f.glob("*.py"))) > MOST_FILES
    } == {}


def test_the_certificate_shares_no_code_with_solvers():
    """Nothing that it imports, however indirectly, is a solver, the driver or a level set."""
    pending, reached = ["solve.verification"], set()
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending.extend(GRAPH.get(name, ()))
    assert {"solve.certificate", "solve.proximal_certificate", "solve.exact_gap"} <= reached
    assert not {name for name in reached if name.startswith("solvers")}
    assert not reached & {"solve.driver", "solve.level_sets", "solve.layout", "solve.api"}


@pytest.mark.parametrize("name", [name for name in NAMES if layer(name) in CORE])
def test_the_core_depends_on_numpy_alone(name):
    allowed = set(sys.stdlib_module_names) | {"numpy", "submin"}
    tree = ast.parse(NAMES[name].read_text())
    assert {own.split(".")[0] for own in imported(at_the_top(tree))} <= allowed


def names_the_compiled_module(source: str) -> bool:
    """Whether code imports it, or has its name in a string that could import it."""
    tree = ast.parse(source)
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return any("_native" in name.split(".") for name in imported(ast.walk(tree))) or any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.split(".")[-1] == "_native"
        and id(node) not in texts
        for node in ast.walk(tree)
    )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_compiled_module_has_one_door(path):
    door = path.relative_to(PACKAGE).as_posix() == "kernels/native.py"
    assert names_the_compiled_module(path.read_text()) == door


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    from submin._native import GridFlow",
        "if TYPE_CHECKING:\n    from submin import _native",
        "import submin._native as kernels",
        "importlib.import_module('submin._native')",
    ],
)
def test_another_door_would_be_found(source):
    assert names_the_compiled_module(source)


HEAVY = [
    "scipy", "sklearn", "skimage", "matplotlib", "typer", "rich", "PIL", "click",
    "starlette", "uvicorn", "submin.vision", "submin.volumes", "submin.page",
    "submin.napari", "nibabel", "tifffile", "napari", "submin.cli",
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


def test_names_of_the_first_version_warn():
    with pytest.warns(DeprecationWarning, match=r"FISTA is in submin\.solvers\.comparison now"):
        assert sm.FISTA is sm.solvers.comparison.FISTA
    with pytest.warns(DeprecationWarning, match=r"IAP is in submin\.solvers\.comparison now"):
        assert sm.solvers.IAP is sm.solvers.comparison.IAP
    with pytest.warns(DeprecationWarning, match="Screened saves nothing"):
        assert sm.Screened(sm.RCDM()) == sm.RCDM()


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

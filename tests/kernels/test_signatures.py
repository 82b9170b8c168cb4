"""Every kernel is everywhere: a twin, a line of the stub, a compiled function of one signature."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import submin
from submin import kernels
from submin.kernels import reference

from ..native_calls import contract

compiled = pytest.importorskip("submin._native")
native = pytest.importorskip("submin.kernels.native")

FOLDER = Path(kernels.__file__).parent
STUB = ast.parse((Path(submin.__file__).parent / "_native.pyi").read_text())
NAMES = sorted(name for name in dir(reference) if not name.startswith("_"))
CLASSES = [name for name in NAMES if inspect.isclass(getattr(reference, name))]
FUNCTIONS = [name for name in NAMES if name not in CLASSES]
METHODS = [
    (name, method)
    for name in CLASSES
    for method in ("__init__", *(m for m in dir(getattr(reference, name)) if m[0] != "_"))
]


def public(module) -> list[str]:
    return sorted(name for name in dir(module) if not name.startswith("_"))


def twin_parameters(function) -> list[tuple[str, object]]:
    """The names of the parameters in order, with defaults."""
    return [(p.name, p.default) for p in inspect.signature(function).parameters.values()]


def compiled_parameters(function) -> list[tuple[str, object]]:
    """The same, from the first line of the docstring that the binding writes."""
    line = function.__doc__.splitlines()[0]
    while line != (shorter := re.sub(r"\[[^\[\]]*\]", "", line)):
        line = shorter
    (definition,) = ast.parse(f"def {line}: ...").body
    given = definition.args
    without = len(given.args) - len(given.defaults)
    defaults = [inspect.Parameter.empty] * without + [ast.literal_eval(d) for d in given.defaults]
    return list(zip((argument.arg for argument in given.args), defaults, strict=True))


def test_both_sets_and_the_stub_have_the_same_names():
    assert public(compiled) == NAMES
    assert sorted(node.names[0].asname for node in STUB.body) == NAMES
    assert set(NAMES) <= set(public(native))
    assert all(getattr(native, name) is getattr(compiled, name) for name in NAMES)


def test_the_stub_takes_every_signature_from_the_twin():
    for node in STUB.body:
        assert isinstance(node, ast.ImportFrom)
        ((name, renamed),) = ((alias.name, alias.asname) for alias in node.names)
        assert name == renamed
        assert node.module == getattr(reference, name).__module__


def test_every_family_is_gathered():
    """A file with a list of names is a family, and no two families have a name in common."""
    listed = [
        name
        for path in FOLDER.glob("*.py")
        if path.stem != "__init__"
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for name in ast.literal_eval(node.value)
    ]
    assert sorted(listed) == NAMES


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_functions_have_the_signatures_of_their_twins(name):
    assert compiled_parameters(getattr(compiled, name)) == twin_parameters(getattr(reference, name))


@pytest.mark.parametrize("name", CLASSES)
def test_compiled_classes_have_the_methods_of_their_twins(name):
    assert public(getattr(compiled, name)) == public(getattr(reference, name))


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_compiled_methods_have_the_signatures_of_their_twins(name, method):
    one, two = (getattr(getattr(module, name), method) for module in (compiled, reference))
    assert compiled_parameters(one) == twin_parameters(two)


# What a contract says of numbers that lead outside of another array.

LEADING = ("IndexArray", "PointerArray", "OffsetArray")
WRITTEN = {"out", "colours", "forest", "edge", "order", "plateau"}
COMPARED = {("cardinality_greedy", "rank"), ("grid_greedy", "rank")}


def leading_arguments(name: str) -> set[str]:
    """The arguments whose numbers lead into other arrays."""
    function = getattr(reference, name)
    function = function.__init__ if inspect.isclass(function) else function
    return {
        argument
        for argument, kind in function.__annotations__.items()
        if kind in LEADING and argument not in WRITTEN and (name, argument) not in COMPARED
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_contract_says_what_is_refused_or_trusted(name):
    refused, trusted = contract(name)
    assert not (refused and trusted)
    assert leading_arguments(name) - {"offsets"} <= refused | trusted
    assert refused | trusted <= {argument for argument, _ in arguments_of(name)}


def arguments_of(name: str) -> list[tuple[str, object]]:
    return twin_parameters(getattr(reference, name))


def test_a_missing_place_would_be_found():
    assert compiled_parameters(compiled.edges_sweep) != twin_parameters(reference.edges_project)
    assert contract("evaluate_sets") == (set(), {"address", "data"})
    assert leading_arguments("edges_project") == {"tails", "heads", "edges"}

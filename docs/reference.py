"""The page of all public names, made from the docstrings: ``reference.md``.

python docs/reference.py              writes docs/reference.md, which is read as a file
python docs/reference.py --site PATH  writes the same page for Sphinx, with a page for each name
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import submin as sm


class Room(NamedTuple):
    """A part of the page: what `modules` define of ``sm.__all__``, and all that `others` list."""

    title: str
    introduction: str
    modules: tuple[str, ...]
    others: tuple[str, ...] = ()


ROOMS = (
    Room(
        "The model",
        "The words are those of [the model and its notation](model.md).",
        ("model",),
    ),
    Room(
        "Terms",
        "A family of groups takes them as a pair `pointers, members`. See also "
        "[writing your own term](own_term.md).",
        ("terms",),
    ),
    Room(
        "Solving",
        "From a problem to its answer. [Choosing a solver](solvers.md) and "
        "[blocks, screening and settings](blocks.md) say when a setting helps.",
        ("solve",),
    ),
    Room(
        "Solvers",
        'Each has a name too, such as `"max_flow"`; `"auto"` chooses. Those in '
        "`submin.solvers.comparison` are kept to be compared. See [choosing a solver](solvers.md).",
        ("solvers",),
        ("solvers.comparison",),
    ),
    Room(
        "Certificates",
        "What is proved about an answer, and how to check it: [certificates](certificates.md).",
        ("solve.certificate", "solve.proximal_certificate", "solve.verification"),
    ),
    Room(
        "All level sets",
        "Paths of minimisers, ratios, and convex costs in place of squares; "
        "`submin.levels` has the costs.",
        ("levels",),
        ("levels",),
    ),
    Room(
        "More than two labels",
        "See [more than two labels](labels.md).",
        ("labels",),
        ("labels",),
    ),
    Room(
        "Networks",
        "See [recipes](recipes.md#networks).",
        ("networks",),
    ),
    Room(
        "Images",
        "See [segmentation and the command line](command_line.md), [volumes](volumes.md) and "
        "[recipes](recipes.md#images-and-volumes).",
        ("vision", "volumes"),
        ("vision", "volumes"),
    ),
    Room(
        "Files",
        "See [files of other programs](files.md). `Problem`, `Result` and `Path` have `save` and "
        "`load`.",
        ("files",),
        ("files",),
    ),
    Room(
        "With other packages",
        "An estimator of scikit-learn, and stand-ins for PyMaxflow and numpymaxflow.",
        ("learn", "drop_in"),
        ("learn", "drop_in.maxflow", "drop_in.numpymaxflow"),
    ),
    Room(
        "Tests of terms and solvers",
        "See [writing your own term](own_term.md).",
        ("testing",),
        ("testing",),
    ),
)

NOT_CONSTRUCTORS = {"examples", "from_arrays", "load", "of", "of_values"}
"""Class methods that are no other way to make an object from the user's data."""


def room_of(name: str) -> Room:
    """Return the room of a name of ``sm.__all__``: that of the longest prefix of its module."""
    module = getattr(sm, name).__module__.removeprefix("submin.")
    prefixes = {prefix: room for room in ROOMS for prefix in room.modules}
    fits = [prefix for prefix in prefixes if f"{module}.".startswith(f"{prefix}.")]
    if not fits:
        raise LookupError(f"docs/reference.py has no room for {name}, which is in {module}")
    return prefixes[max(fits, key=len)]


def names(room: Room) -> list[str]:
    """Return the paths of a room's names: those at the top first, each name once."""
    top = [name for name in sm.__all__ if name != "__version__" and room_of(name) is room]
    rest = [
        f"submin.{module}.{name}"
        for module in room.others
        for name in import_module(f"submin.{module}").__all__
        if name not in sm.__all__ and not isinstance(named(f"submin.{module}.{name}"), dict)
    ]
    return [f"submin.{name}" for name in top] + rest


def named(path: str) -> Any:
    """Return what a path below submin stands for."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def called(path: str, function: Any) -> str:
    """Return a function with its arguments, without their types."""
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in signature.parameters.items()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    shown = signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    return f"`{path}{shown}`"


def constructors(path: str, thing: type) -> Iterator[str]:
    """Find the other ways to make an object of a class."""
    for name, member in inspect.getmembers(thing, inspect.ismethod):
        if not name.startswith("_") and name not in NOT_CONSTRUCTORS:
            yield called(f"{path}.{name}", member)


def line(path: str) -> str:
    """Return the entry of a name: how to call it, and the first sentence of its docstring."""
    thing = named(path)
    summary = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split()).replace("``", "`")
    shown = path.replace("submin.", "sm.", 1) if path.count(".") == 1 else path
    if not inspect.isclass(thing):
        return f"* {called(shown, thing)}: {summary}"
    if made_by_functions(thing):
        parts = ", ".join(f"`{name}`" for name in attributes(thing))
        return f"* `{shown}`: {summary}" + (f" It has {parts}." if parts else "")
    others = [f"  * or {other}" for other in constructors(shown, thing)]
    return "\n".join([f"* {called(shown, thing)}: {summary}", *others])


def made_by_functions(thing: type) -> bool:
    """Say whether users get its objects and do not make them: no parameters are documented."""
    if issubclass(thing, tuple | list | Enum | Exception):
        return True
    made = any(
        f"{title}\n---" in (inspect.getdoc(thing) or "") for title in ("Parameters", "Examples")
    )
    return bool(attributes(thing)) and not made


def attributes(thing: type) -> list[str]:
    """Return the documented attributes of a class, and its public properties."""
    _, _, section = (inspect.getdoc(thing) or "").partition("Attributes\n----------\n")
    listed = re.findall(r"^(\w+(?:, \w+)*) : ", section.partition("\n\n")[0], re.MULTILINE)
    found = [name for names in listed for name in names.split(", ")]
    properties = [name for name, member in vars(thing).items() if isinstance(member, property)]
    return [*found, *(name for name in properties if found and not name.startswith("_"))]


HEAD = """\
# All public names

`import submin as sm`, then `help(sm.minimize)` prints a docstring: shapes, units, errors, cost in
time and memory, the paper, an example. Names that start with `submin.` are in modules of their own.
"""
ORIGIN = """
This page is made from the docstrings by `python docs/reference.py`.
"""
VERSION = """
## The version

* `sm.__version__`: the version of the library, a string.
"""
TABLE = """
```{{eval-rst}}
.. autosummary::
   :nosignatures:
{option}
{names}
```
"""
ROOMS_TREE = """
```{{toctree}}
:hidden:

{names}
```
"""


def page() -> str:
    """Return the page as a file."""
    parts = [HEAD, ORIGIN]
    for room in ROOMS:
        entries = "\n".join(line(path) for path in names(room))
        parts.append(f"\n## {room.title}\n\n{room.introduction}\n\n{entries}\n")
    return "".join([*parts, VERSION])


def site_pages() -> dict[str, str]:
    """Return the pages of the site by their files: all names, and a page for each room.

    The tables of the rooms make a page of each name.
    """
    parts, pages = [HEAD], {}
    for room in ROOMS:
        listed = "\n".join(f"   {path}" for path in names(room))
        table = TABLE.format(option="", names=listed)
        parts.append(f"\n## {room.title}\n\n{room.introduction}\n{table}")
        introduction = room.introduction.replace("](", "](../")
        table = TABLE.format(option="   :toctree: .\n", names=listed)
        pages[f"reference/{slug(room)}.md"] = f"# {room.title}\n\n{introduction}\n{table}"
    rooms = "\n".join(f"reference/{slug(room)}" for room in ROOMS)
    return {"reference.md": "".join([*parts, VERSION, ROOMS_TREE.format(names=rooms)]), **pages}


def slug(room: Room) -> str:
    """Return a room's name in addresses."""
    return room.title.lower().replace(" ", "_")


def write(path: Path, text: str) -> None:
    """Write a page, and make its folder."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--site"]:
        for name, text in site_pages().items():
            write(Path(sys.argv[2]) / name, text)
    else:
        write(Path(__file__).with_suffix(".md"), page())

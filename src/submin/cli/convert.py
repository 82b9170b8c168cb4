"""``submin convert``: one format of files into another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from submin.cli import console

if TYPE_CHECKING:
    from submin._typing import FloatArray
    from submin.files import Graph
    from submin.model.problem import Problem

Form = Annotated[
    str | None,
    typer.Option(
        "--format", help="Format of the file that is read; by default, its content tells."
    ),
]
Unary = Annotated[
    Path | None,
    typer.Option("--unary", help="A cost for each node of a graph: numbers in text, or .npy."),
]


def convert(
    source: Annotated[Path, typer.Argument(help="A file of any format that is read.")],
    target: Annotated[
        Path, typer.Argument(help="The file to write: .npz, .max, .uai, .hgr or .graph.")
    ],
    form: Form = None,
    to: Annotated[
        str | None, typer.Option("--to", help="Format that is written, whatever the ending is.")
    ] = None,
    unary: Unary = None,
) -> None:
    """Convert a problem, graph or hypergraph from one format into another.

    What a format does not hold is refused, but for the constant of a problem: comments in DIMACS
    files name it, and UAI files are without.
    """
    with console.command():
        console.require_writable(target)
        content = read_any(source, form, unary)
        from submin.files import write

        with console.user_input():
            write(target, content, to)


def read_any(path: Path, form: str | None, unary: Path | None) -> Problem | Graph:
    """Read a file of any format, and give the nodes of a graph their costs, if there are some."""
    from submin.files import Graph, read

    with console.reading(path):
        content = read(path, form)
    if unary is None:
        return content
    if not isinstance(content, Graph):
        raise console.RefusalError(f"{path} has costs already: leave out --unary")
    with console.reading(unary):
        return content.problem(_costs(unary))


def _costs(path: Path) -> FloatArray:
    import numpy as np

    with path.open("rb") as file:
        if file.read(6) == b"\x93NUMPY":
            costs: FloatArray = np.load(path, allow_pickle=False)
            return costs
    from submin.files.rows import read_rows

    return read_rows(path).values

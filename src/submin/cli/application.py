"""The application: its commands and its global options."""

from __future__ import annotations

from typing import Annotated

import typer

from submin.cli.convert import convert
from submin.cli.denoise import denoise
from submin.cli.label import label
from submin.cli.paint import paint
from submin.cli.reproduce import reproduce
from submin.cli.segment import segment
from submin.cli.solve import solve
from submin.cli.verify import verify

application = typer.Typer(
    name="submin",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from submin import __version__

        typer.echo(f"submin {__version__}")
        raise typer.Exit


@application.callback()
def submin(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Minimise sums of simple submodular functions: exactly, with proof, fast.

    Exit codes: 0 done, 1 claim refuted (verify), 2 input refused, 70 fault of submin, 130 Ctrl-C.
    """


for _command in (segment, label, paint, denoise, solve, convert, verify, reproduce):
    application.command()(_command)

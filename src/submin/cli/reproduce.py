"""``submin reproduce``: the paper's experiments, run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from submin.cli import console
from submin.cli.options import Quiet
from submin.cli.segment import require_packages


def reproduce(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of index.html, figures, numbers.json.")
    ] = Path("reproduction"),
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the public instances (coopcut, grabcut); photographs of scikit-image "
            "without it."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small pictures: about a minute.")] = False,
    quiet: Quiet = False,
) -> None:
    """Run the experiments of Ene and Nguyen 2015 again, and write a report.

    Duality gaps and segmentations of Section 4, the theorems against measurement, and the same
    instances to certified optimality; in full under 15 minutes on two cores.
    """
    with console.command():
        console.require_writable_folder(output)
        check(data)
        numbers = reproduced(output, data, quick, quiet)
        if not quiet:
            rows = [
                (claim["where"], f"{claim['verdict']}: {claim['claim']}")
                for claim in numbers["claims"]
            ]
            rows += [("seconds", f"{numbers['seconds']:.0f}"), ("page", str(output / "index.html"))]
            console.print_rows("submin reproduce", rows)


def reproduced(output: Path, data: Path | None, quick: bool, quiet: bool) -> dict[str, Any]:
    """Run everything with live progress."""
    from submin.reproduce import reproduce as run
    from submin.solve.progress import displaying

    with displaying(not quiet) as display, console.solving() as begun:

        def show(line: str) -> None:
            begun()
            if display is not None:
                display.show(line)

        return run(output, data, quick, progress=show)


def check(data: Path | None) -> None:
    """Refuse to begin without the packages and files that will be needed in the end."""
    require_packages()
    if data is None:
        return
    if not data.is_dir():
        raise console.RefusalError(f"--data {data} is not a folder")
    from submin.reproduce.instances import require_files

    with console.user_input():
        require_files(data)

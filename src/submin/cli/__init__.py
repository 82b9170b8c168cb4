"""The command ``submin``; nothing heavier than typer is imported until a command needs it."""

from __future__ import annotations

import sys
import traceback
from importlib import import_module

NEEDED = ("typer", "rich")
FAULT, INTERRUPTED = 70, 130
"""Exit codes: a fault of the library (not 1, which says that a claim is refuted); Ctrl-C."""


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    try:
        _run()
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    except Exception:
        traceback.print_exc()
        raise SystemExit(FAULT) from None


def _run() -> None:
    try:
        for package in NEEDED:
            import_module(package)
    except ModuleNotFoundError as error:
        sys.stderr.write(
            f"submin: the command line needs {error.name}; "
            "install it with: pip install 'submin[cli]'\n"
        )
        raise SystemExit(2) from None
    from submin.cli.application import application

    for stream in (sys.stdout, sys.stderr):
        _write_any_name(stream)
    application()


def _write_any_name(stream: object) -> None:
    """Let a stream of any encoding show any file name, with escapes where it must."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")

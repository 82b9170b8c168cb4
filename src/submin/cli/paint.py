"""``submin paint``: cut an object out of a photograph with a brush, on a page in the browser."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from submin.cli import console
from submin.cli.options import Quiet
from submin.cli.segment import require_packages

if TYPE_CHECKING:
    from collections.abc import Callable

    from submin.page.photograph import Photograph

NEEDED = ("starlette", "uvicorn", "websockets")
SWITCH = 5e-4
"""Seconds after which a thread that learns colours lets one that answers a stroke go on."""


def paint(
    photo: Annotated[
        Path | None, typer.Argument(help="Opened on the page, where others can be opened too.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 0,
    host: Annotated[
        str, typer.Option(help="Listen there; other machines reach the page if it is not loopback.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    pixels: Annotated[
        int, typer.Option(min=10_000, help="Larger photographs are scaled down to so many pixels.")
    ] = 2_000_000,
    quiet: Quiet = False,
) -> None:
    """Cut an object out of a photograph with a brush, on a page in the browser.

    Paint some of the object and some of the background; the mask follows every stroke, exactly,
    with its proof.  Ctrl-C ends the server.
    """
    with console.command():
        require_packages()
        _require_server()
        opener = None if photo is None else _opener(photo, pixels)
        _serve(opener, host, port, pixels, browser, quiet)


def _require_server() -> None:
    from importlib import import_module

    for package in NEEDED:
        try:
            import_module(package)
        except ImportError as error:
            raise console.RefusalError(
                f'the page needs {package} ({error}); install it with: pip install "submin[page]"'
            ) from error


def _opener(photo: Path, pixels: int) -> Callable[[], Photograph]:
    """Read the photograph once, so that what is wrong with it is said at once."""
    from submin import vision
    from submin.page.photograph import Photograph

    with console.reading(photo):
        photograph = Photograph.of(photo.name, vision.read_photograph(photo), pixels)
    return lambda: photograph


def _serve(
    opener: Callable[[], Photograph] | None,
    host: str,
    port: int,
    pixels: int,
    browser: bool,
    quiet: bool,
) -> None:
    from submin.page import server

    guard = server.Guard(host=host)
    try:
        listener = server.listening(host, port)
    except OSError as error:
        reason = error.strerror or str(error)
        raise console.RefusalError(
            f"can not listen at {host}:{port}: {reason}; --port 0 takes any port that is free"
        ) from error
    with listener:
        address = server.address(listener, guard)
        with suppress(KeyboardInterrupt):
            typer.echo(address)
            if not quiet:
                console.say("the page is at this address, which is secret; Ctrl-C ends it")
                if not guard.loopback:
                    console.say(f"{host} is reached by other machines, and nothing is encrypted")
            _warm()
            sys.setswitchinterval(SWITCH)
            if browser:
                _open(address)
            server.server(server.application(guard, opener, pixels)).run(sockets=[listener])
    if not quiet:
        console.say("the page has ended")


def _warm() -> None:
    """Import what the first stroke needs while the browser starts."""
    from threading import Thread

    from submin.vision.optional import require

    modules = ("skimage.color", "sklearn.mixture", "threadpoolctl", "PIL.Image")
    Thread(target=lambda: [require(name) for name in modules], daemon=True).start()


def _open(address: str) -> None:
    import webbrowser

    opened: Any = webbrowser.open(address)
    if not opened:
        console.say("no browser could be opened: copy the address into one")

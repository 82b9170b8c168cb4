"""The server of all pages: one address with a secret, nothing of the disk, nothing of the network.

A page asks for three files, and then talks over one WebSocket, which has a desk of its own: with
its end, all work for the page ends.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from submin.page.desk import Desk
from submin.page.photograph import MOST_BYTES, WORK_PIXELS, Photograph
from submin.vision import SAMPLES

KINDS = {
    "index.html": "text/html; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "picture.js": "text/javascript; charset=utf-8",
    "wire.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""All files that a page may ask for, with their types."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
MOST_PAGES = 16
REFUSED, TOO_MANY = 4403, 4429
"""Codes that close a WebSocket."""
HEAD_BYTES = 1 << 20

Gallery = Mapping[str, Callable[[], Photograph]]


@dataclass
class Guard:
    """Who may talk to the server.

    Attributes
    ----------
    secret : str
        The first part of every address.
    host : str
        Where the server listens; a host that is not loopback may be called by any number.
    """

    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    host: str = "127.0.0.1"

    def fault(self, connection: HTTPConnection) -> str:
        """Say why a request is refused; "" if it is not.

        A page of another site can make a browser send requests here, even under its own name for
        this machine, so both names that the browser states are checked.
        """
        given = str(connection.path_params.get("secret", ""))
        if not hmac.compare_digest(given.encode(), self.secret.encode()):
            return "the address is not that which submin printed"
        host = connection.headers.get("host", "")
        if not self._own(host):
            return "the host is not that of this server"
        origin = connection.headers.get("origin")
        if origin is None:
            return "a WebSocket needs an origin" if connection.scope["type"] == "websocket" else ""
        return "" if urlsplit(origin).netloc == host else "the page is of another site"

    def _own(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name == "localhost":
            return True
        try:
            address = ip_address(name)
        except ValueError:
            return not self.loopback and name in (self.host.lower(), socket.gethostname().lower())
        return address.is_loopback or not self.loopback

    @property
    def loopback(self) -> bool:
        """Whether only this machine reaches the server."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Say whether a host is this machine alone."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def application(
    guard: Guard, photograph: Callable[[], Photograph] | None = None, pixels: int = WORK_PIXELS
) -> Starlette:
    """Return the application.

    Parameters
    ----------
    guard : Guard
    photograph : callable, optional
        Returns the photograph that every page opens first.
    pixels : int, optional
        Beyond these a photograph is scaled down.
    """
    gallery: dict[str, Callable[[], Photograph]] = {}
    if photograph is not None:
        gallery["photograph"] = photograph
    for name, sample in SAMPLES.items():
        gallery[name] = _opener(name, sample, pixels)
    desks: set[Desk] = set()

    async def page(request: Request) -> Response:
        if fault := guard.fault(request):
            return Response(f"Refused: {fault}.\n", 403, HEADERS, "text/plain")
        name = request.path_params.get("name", "index.html")
        if name not in KINDS:
            return Response("There is no such file.\n", 404, HEADERS, "text/plain")
        data = resources.files("submin.page").joinpath("static", name).read_bytes()
        return Response(data, headers=HEADERS, media_type=KINDS[name])

    async def live(socket: WebSocket) -> None:
        if guard.fault(socket):
            await socket.close(REFUSED)
            return
        await socket.accept()
        if len(desks) >= MOST_PAGES:
            await socket.close(TOO_MANY)
            return
        desk = Desk(_sender(socket), gallery, pixels)
        desks.add(desk)
        try:
            await desk.open()
            await _listen(socket, desk)
        finally:
            desks.discard(desk)
            await desk.close()

    routes = [
        WebSocketRoute("/{secret}/live", live),
        Route("/{secret}/", page),
        Route("/{secret}/{name}", page),
    ]
    return Starlette(routes=routes)


def _opener(name: str, sample: Any, pixels: int) -> Callable[[], Photograph]:
    return lambda: Photograph.of(name, sample.image(), pixels)


def _sender(socket: WebSocket) -> Callable[[bytes], Awaitable[None]]:
    """Return what sends one message after another; to a page that is gone, nothing."""
    turn = asyncio.Lock()

    async def send(message: bytes) -> None:
        async with turn:
            try:
                await socket.send_bytes(message)
            except (WebSocketDisconnect, RuntimeError):
                return

    return send


async def _listen(socket: WebSocket, desk: Desk) -> None:
    """Hand on what the page sends until it is closed."""
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        data = message.get("bytes")
        if data is None or len(data) > MOST_BYTES + HEAD_BYTES:
            await desk.send({"kind": "error", "text": "the message is no message of the page"})
            continue
        await desk.receive(data)


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes any that is free.

    Raises
    ------
    OSError
        If the port is taken, or the host is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except BaseException:
        listener.close()
        raise
    return listener


def address(listener: socket.socket, guard: Guard) -> str:
    """Return the address of the page."""
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/{guard.secret}/"


def server(app: Starlette) -> uvicorn.Server:
    """Return the server; ``run(sockets=[listener])`` serves until Ctrl-C."""
    settings = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, lifespan="off",
        ws="websockets-sansio", ws_max_size=MOST_BYTES + HEAD_BYTES, ws_per_message_deflate=False,
        timeout_graceful_shutdown=2,
    )  # fmt: skip
    return uvicorn.Server(settings)

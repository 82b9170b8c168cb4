"""Who is let in, what is served, and what a command refuses."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

pytest.importorskip("httpx2")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from submin.page import server
from submin.page.desk import packed, unpacked
from submin.page.photograph import Photograph
from tests.page.conftest import scene

HOST = "127.0.0.1:8000"


@pytest.fixture
def guard():
    return server.Guard()


@pytest.fixture
def client(guard):
    app = server.application(guard, lambda: Photograph.of("scene", scene()))
    with TestClient(app, base_url=f"http://{HOST}") as client:
        yield client


def received(live):
    message = live.receive_bytes()
    size = int.from_bytes(message[:4], "little")
    return json.loads(message[4 : 4 + size]), message[4 + size :]


def until(live, kind):
    while True:
        head, data = received(live)
        if head["kind"] == kind:
            return head, data


def test_the_page_needs_its_secret(client, guard):
    page = client.get(f"/{guard.secret}/")
    assert page.status_code == 200
    assert "submin paint" in page.text
    for path in ("/", "/x/", f"/{guard.secret[:-1]}/", f"/{guard.secret}x/", "/x/page.js"):
        assert client.get(path).status_code in (403, 404), path
    assert len(guard.secret) >= 32


def test_every_file_of_the_page_is_served_with_its_type(client, guard):
    for name, kind in server.KINDS.items():
        answer = client.get(f"/{guard.secret}/{name}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind.split(";")[0])
        for header in server.HEADERS:
            assert header in answer.headers


@pytest.mark.parametrize(
    "name", ["server.py", "..%2fserver.py", "%2e%2e/desk.py", "static/page.js", ""]
)
def test_no_other_file_is_served(client, guard, name):
    answer = client.get(f"/{guard.secret}/{name}") if name else client.get(f"/{guard.secret}/x")
    assert answer.status_code in (403, 404)


def test_the_page_names_no_address_outside():
    folder = Path(server.__file__).parent / "static"
    assert {path.name for path in folder.iterdir()} == set(server.KINDS)
    for path in folder.iterdir():
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text, path
        assert "https://" not in text, path
        assert "//cdn" not in text, path


@pytest.mark.parametrize(
    ("host", "let_in"),
    [("127.0.0.1:1", True), ("localhost", True), ("[::1]:8000", True), ("evil.example", False),
     ("127.0.0.1.evil.example", False), ("192.168.0.7", False), ("", False), ("[", False)],
)  # fmt: skip
def test_the_host_must_be_this_machine(client, guard, host, let_in):
    answer = client.get(f"/{guard.secret}/", headers={"host": host})
    assert (answer.status_code == 200) == let_in


@pytest.mark.parametrize(
    ("origin", "let_in"),
    [(f"http://{HOST}", True), ("http://evil.example", False), ("null", False),
     ("http://127.0.0.1:8001", False), (None, False), ("", False)],
)  # fmt: skip
def test_a_web_socket_needs_the_origin_of_the_page(client, guard, origin, let_in):
    headers = {"host": HOST} | ({} if origin is None else {"origin": origin})
    if let_in:
        with client.websocket_connect(f"/{guard.secret}/live", headers=headers) as live:
            assert received(live)[0]["kind"] == "hello"
        return
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(f"/{guard.secret}/live", headers=headers),
    ):
        pass


def test_a_web_socket_needs_the_secret(client):
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect("/guess/live", headers={"host": HOST, "origin": f"http://{HOST}"}),
    ):
        pass


def test_a_page_opens_the_photograph_and_survives_a_broken_one(client, guard):
    path, headers = f"/{guard.secret}/live", {"host": HOST, "origin": f"http://{HOST}"}
    with client.websocket_connect(path, headers=headers) as live:
        assert received(live)[0]["gallery"][0] == "photograph"
        live.send_bytes(packed({"do": "open", "name": "x.png"}, b"no picture"))
        assert "x.png" in until(live, "error")[0]["text"]
        live.send_text("text")
        assert until(live, "error")[0]["text"]
        live.send_bytes(packed({"do": "open", "sample": "photograph"}))
        head, data = until(live, "photo")
        assert len(data) == 4 * head["width"] * head["height"]


def test_too_many_pages_are_turned_away(guard, monkeypatch):
    monkeypatch.setattr(server, "MOST_PAGES", 1)
    headers = {"host": HOST, "origin": f"http://{HOST}"}
    with TestClient(server.application(guard), base_url=f"http://{HOST}") as client:
        path = f"/{guard.secret}/live"
        with client.websocket_connect(path, headers=headers) as first:
            received(first)
            with client.websocket_connect(path, headers=headers) as second:
                with pytest.raises(WebSocketDisconnect) as closed:
                    second.receive_bytes()
                assert closed.value.code == server.TOO_MANY


def test_other_machines_are_let_in_only_if_asked():
    open_guard = server.Guard(host="0.0.0.0")
    app = server.application(open_guard)
    with TestClient(app, base_url="http://192.168.0.7:80") as client:
        assert client.get(f"/{open_guard.secret}/").status_code == 200
        name = {"host": "evil.example"}
        assert client.get(f"/{open_guard.secret}/", headers=name).status_code == 403


def test_the_address_has_port_and_secret(guard):
    with server.listening("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        assert server.address(listener, guard) == f"http://127.0.0.1:{port}/{guard.secret}/"


def test_a_head_is_json():
    with pytest.raises(ValueError, match="JSON"):
        unpacked(b"\x02\0\0\0[]"[:5])


# The command.


@pytest.fixture
def invoke():
    testing = pytest.importorskip("typer.testing")
    from submin.cli.application import application

    return lambda *words: testing.CliRunner().invoke(
        application, ["paint", "--no-browser", *map(str, words)], catch_exceptions=False
    )


def test_a_photograph_that_is_none_is_refused_at_once(invoke, tmp_path):
    (tmp_path / "x.png").write_bytes(b"no picture")
    answer = invoke(tmp_path / "x.png")
    assert answer.exit_code == 2
    assert "x.png" in answer.stderr
    answer = invoke(tmp_path / "none.png")
    assert answer.exit_code == 2


def test_a_port_that_is_taken_is_refused(invoke):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        answer = invoke("--port", taken.getsockname()[1])
    assert answer.exit_code == 2
    assert "--port 0" in answer.stderr


def test_a_missing_package_is_named(invoke, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    answer = invoke()
    assert answer.exit_code == 2
    assert "submin[page]" in answer.stderr

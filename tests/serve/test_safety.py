"""Who may speak to the server, and what its pages may do."""

import socket
from collections.abc import Iterator

import httpx2
import pytest

from flipset.boundary.limits import MOST_REQUEST_BYTES as MOST_BYTES
from flipset.serve import Served
from tests.patience import PATIENCE
from tests.serve.running import TOKEN, Running, applications, explainer, running


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running(Served(explainer(), applications())) as where:
        yield where


def test_without_the_token_nothing_is_told(server: Running) -> None:
    for path in ("/api/about", "/api/openapi.json", "/api/rows", "/api/progress", "/nope", "/pages", "/page"):
        said = httpx2.get(server.address + path)
        assert said.status_code == 401, path
    for wrong in (b"wrong", TOKEN.encode() + b"x", "ü".encode()):
        said = httpx2.get(f"{server.address}/api/about", headers={b"authorization": b"Bearer " + wrong})
        assert said.status_code == 401
    for path in ("/", "/page/js/main.js", "/api/explain"):
        assert httpx2.post(server.address + path, json={"row": 0}).status_code == 401


def test_the_files_of_the_page_are_for_everybody_and_say_nothing_about_the_model(server: Running) -> None:
    for path in ("/", "/page/js/main.js", "/page/style.css"):
        with server.client() as client:
            said = httpx2.get(server.address + path)
            assert (said.status_code, said.text) == (200, client.get(path).text)
            assert "approve" not in said.headers.values()


def test_c11_there_is_no_cookie_to_send_to_other_ports_and_none_is_taken(server: Running) -> None:
    with httpx2.Client(base_url=server.address) as browser:
        for path in ("/", f"/?token={TOKEN}", "/page/js/main.js"):
            assert "set-cookie" not in browser.get(path).headers
        for name in ("flipset", f"flipset_{server.port}", "token"):
            assert browser.get("/api/about", headers={"cookie": f"{name}={TOKEN}"}).status_code == 401
        assert browser.get(f"/api/about?token={TOKEN}").status_code == 401  # an address is kept in histories and logs


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.evil.example", ""])
def test_other_names_for_this_machine_are_refused(server: Running, host: str) -> None:
    with server.client() as client:
        assert client.get("/api/about", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "http://[::1"},
        {"origin": ""},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_sites_are_refused(server: Running, headers: dict[str, str]) -> None:
    with server.client() as client:
        assert client.post("/api/explain", json={"row": 0}, headers=headers).status_code == 403
        mine = {"origin": server.address, "sec-fetch-site": "same-origin"}
        assert client.post("/api/explain", json={"row": 0}, headers=mine).status_code == 200


def test_a_body_has_a_limit_whether_it_says_its_length_or_not(server: Running) -> None:
    with server.client() as client:
        assert client.post("/api/explain", content=b" " * (MOST_BYTES + 1)).status_code == 413
        parts = (b" " * 100_000 for _ in range(MOST_BYTES // 100_000 + 2))
        assert client.post("/api/explain", content=parts).status_code == 413


@pytest.mark.parametrize("length", ["9" * 5_000, "-1", "4_000_001", "٣", "1e3", "99999999999"])
def test_odd_lengths_are_refused(server: Running, length: str) -> None:
    head = f"POST /api/explain HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
        line.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode())
        assert line.recv(12) in (b"HTTP/1.1 400", b"HTTP/1.1 413")


def test_every_answer_has_the_headers(server: Running) -> None:
    with server.client() as client:
        for path in ("/", "/api/about", "/page/style.css", "/nope", "/api/rows?sort=nope"):
            headers = client.get(path).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "script-src 'self'" in policy
            assert "unsafe" not in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/page/../app.py", "/page/%2e%2e/app.py", "/page/..%2fapp.py", "/page//etc/passwd"])
def test_nothing_but_the_page_is_read_from_disk(server: Running, path: str) -> None:
    with server.client() as client:
        assert client.send(client.build_request("GET", server.address + path)).status_code == 404

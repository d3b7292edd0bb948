"""Who may speak to the server, and what its pages may do."""

from collections.abc import Iterator

import httpx2
import pytest

from flipset.serve import Served
from flipset.serve.safety import MOST_BYTES
from tests.serve.running import TOKEN, Running, applications, explainer, running


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running(Served(explainer(), applications())) as where:
        yield where


def test_without_the_token_nothing_is_told(server: Running) -> None:
    for path in ("/", "/api/about", "/api/openapi.json", "/page/js/main.js", "/nope"):
        said = httpx2.get(server.address + path)
        assert said.status_code == 401, path
    for wrong in (b"wrong", TOKEN.encode() + b"x", "ü".encode()):
        said = httpx2.get(f"{server.address}/api/about", headers={b"authorization": b"Bearer " + wrong})
        assert said.status_code == 401
    assert httpx2.get(f"{server.address}/?token=wrong").status_code == 401


def test_the_printed_address_lets_a_browser_in(server: Running) -> None:
    with httpx2.Client(base_url=server.address) as browser:
        entered = browser.get(f"/?token={TOKEN}&x=1")
        assert (entered.status_code, entered.headers["location"]) == (303, "/?x=1")
        cookie = entered.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert browser.get("/").status_code == 200
        assert browser.get("/api/about").status_code == 200


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

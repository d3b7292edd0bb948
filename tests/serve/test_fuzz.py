"""Changed requests to every route: each is answered, or refused in words; none is an error of the server."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from flipset.serve import Served
from tests.serve.fuzzing import CONTENT_TYPES, PATHS, QUERIES, bodies, draw_body, draw_query
from tests.serve.running import EXPLAINER, FRAME, Running, running


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running(Served(EXPLAINER, FRAME, eager=False)) as where:
        yield where


@pytest.mark.parametrize("times", [400, pytest.param(10_000, marks=pytest.mark.campaign)])
def test_c9_no_changed_request_is_a_server_error(server: Running, times: int) -> None:
    rng, valid, seen = Random(times), bodies(), Counter[int]()
    with server.client() as client:
        for i in range(times):
            if rng.random() < 0.75:
                path = rng.choice(PATHS)
                body = draw_body(path, rng, valid)
                headers = {"content-type": rng.choice(CONTENT_TYPES) if rng.random() < 0.2 else "application/json"}
                said = client.post(f"/api/{path}", content=body, headers=headers)
            else:
                path, body = rng.choice(sorted(QUERIES)), b""
                query = [*draw_query(path, rng), *([("once", "true")] if path == "progress" else [])]
                said = client.get(f"/api/{path}", params=dict(query))
            assert said.status_code in (200, 400, 413, 422), (i, path, body[:2_000], said.status_code, said.text[:500])
            if said.status_code == 400:
                assert said.json()["error"]
            seen[said.status_code] += 1
        print(dict(seen))
    assert seen.keys() >= {200, 400, 422}


def test_a_valid_body_of_each_route_is_answered(server: Running) -> None:
    with server.client() as client:
        for path, valid in bodies().items():
            for body in valid:
                assert client.post(f"/api/{path}", json=body).status_code == 200, path

"""The interface as it is documented, asked all that the document allows and much that it does not."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flipset.serve import Served
from tests.serve.running import TOKEN, Running, applications, explainer, running

schemathesis = pytest.importorskip("schemathesis")
PATIENT = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
HEADERS = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running(Served(explainer(), applications())) as where:
        yield where


def test_no_request_is_a_server_error(server: Running) -> None:
    schema = schemathesis.openapi.from_url(f"{server.address}/api/openapi.json", headers=HEADERS)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert {operation.path for operation in operations} >= {
        "/api/explain",
        "/api/table",
        "/api/verify",
        "/api/space",
        "/api/frontier",
        "/api/report",
        "/api/rows",
        "/api/summary",
        "/api/about",
    }
    asked: set[int] = set()
    for operation in operations:
        if operation.path == "/api/progress":
            continue  # a stream of events, read by another test

        @settings(
            max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
        )
        @given(
            case=st.one_of(
                operation.as_strategy(), operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)
            )
        )
        def ask(case: Any) -> None:
            said = case.call(headers=HEADERS)
            assert said.status_code < 500, (case.as_curl_command(), said.text)
            asked.add(said.status_code)

        ask()
    assert asked >= {200, 400, 422}

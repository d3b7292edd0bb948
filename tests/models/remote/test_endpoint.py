"""Endpoints: the same answers as the model itself, whatever goes wrong on the way, and never more than was allowed."""

import asyncio
import json
import logging
import os
import pickle
import re
import ssl
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import quote, quote_plus

import numpy as np
import pandas as pd
import pytest
import trustme

from flipset import Explainer, Explanation, Feature, FlipsetError, InputError, Journal, OracleError, Space, Unavailable
from flipset.models.remote import settings
from flipset.models.remote.call_times import CallTimes
from flipset.models.remote.endpoint import Endpoint, EnvironmentHeaders
from flipset.models.remote.wire import Wire, open_inference
from tests.endpoints import Handler, Rows, Server, often, serving
from tests.patience import PATIENCE

NAMES = tuple("abcdef")
SPACE = Space([Feature(name, "integer", direction=-1 if name == "f" else +1, lower=0, upper=9) for name in NAMES])
ROWS = np.random.default_rng(1).integers(0, 7, (40, 6)).astype(float)
WEIGHTS = np.array([3.0, 2.0, 2.0, 1.0, 1.0, -2.0])
FAULTS = ("drop", "503", "429", "truncated", "count", "nan", "type", "garbled")
LATER = (*FAULTS, "form")  # another form of answer than before: only then can it be seen
QUICK: dict[str, Any] = {"backoff": 0.001, "timeout": PATIENCE}


def score(rows: Rows) -> list[float]:
    """Return a probability that is monotone and far from additive."""
    table = np.asarray(rows, dtype=float)
    raw = table @ WEIGHTS + np.minimum(table[:, 0], table[:, 1]) - 42
    return [float(value) for value in 1 / (1 + np.exp(-raw / 4))]


def local(rows: Any) -> Any:
    return np.array(score(np.asarray(rows).tolist()))


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(score) as running:
        yield running


def told(e: Any) -> Any:
    """What must be the same wherever the model is: all but how it was asked."""
    return e.decision, e.score, e.status, e.flipsets, [(c.cost, c.row) for c in e.counterfactuals]


@pytest.mark.parametrize("kind", ["infer", "invocations"])
def test_both_protocols_give_what_the_model_gives(server: Server, kind: str) -> None:
    with Endpoint(getattr(server, kind)) as endpoint:
        found = Explainer(endpoint, SPACE, threshold=0.5).explain_table(ROWS)
        alone = Explainer(endpoint, SPACE, threshold=0.5).explain(ROWS[0])
    expected = Explainer(local, SPACE).explain_table(ROWS)
    assert list(map(told, found)) == list(map(told, expected))
    assert told(alone) == told(expected[0])
    assert alone.verify(local)


@pytest.mark.parametrize("batch", [1, 8, 64])
def test_questions_are_those_of_the_same_search_on_the_model_itself(server: Server, batch: int) -> None:
    # Batches from 16 on are searched in arrays where the model is here, but not where rows share a budget.
    with Endpoint(server.infer) as endpoint:
        found = Explainer(endpoint, SPACE).explain_table(ROWS, batch=batch)
    expected = Explainer(local, SPACE).explain_table(ROWS, batch=batch, max_table_queries=1_000_000)
    assert list(found) == list(expected)
    # A row that several questions of one request are about is sent once.
    assert found.queries == expected.queries >= server.received == sum(server.answered.values())


@pytest.mark.parametrize("seed", range(4))
def test_with_many_faults_the_answers_are_the_same_and_no_budget_is_exceeded(seed: int) -> None:
    expected = Explainer(local, SPACE).explain_table(ROWS, batch=8)
    faults = often(seed, 0.2, LATER)
    with serving(score, lambda number: faults(number) if number else None) as server:
        kind = (server.infer, server.invocations)[seed % 2]
        with Endpoint(kind, in_flight=4, rows_per_call=24, attempts=12, **QUICK) as endpoint:
            most = expected.queries
            found = Explainer(endpoint, SPACE).explain_table(ROWS, batch=8, max_table_queries=most)
            bill = endpoint.bill
    assert list(found) == list(expected)
    assert sum(server.faults[fault] for fault in LATER) > 5
    assert bill.rows == sum(server.answered.values()) <= found.queries == most
    assert bill.calls == server.requests
    assert bill.sent == server.received
    assert bill.failed == sum(server.faults[fault] for fault in LATER)


@pytest.mark.parametrize("most", [1, 7, 100, 333])
def test_a_budget_for_the_table_is_never_exceeded(most: int) -> None:
    with serving(score, often(0, 0.1, ["503"])) as server, Endpoint(server.infer, **QUICK) as endpoint:
        found = Explainer(endpoint, SPACE).explain_table(ROWS, max_table_queries=most)
        assert sum(server.answered.values()) <= most
    assert found.queries <= most
    for result in found:
        assert not isinstance(result, Explanation) or result.status in ("stopped", "optimal", "none")
        assert isinstance(result, Explanation) or "for the table ran out" in str(result)
    here = Explainer(local, SPACE).explain_table(ROWS, max_table_queries=most)
    assert here.queries <= most


@pytest.mark.parametrize("most", [0, 1, 50, 200])
def test_no_row_is_sent_beyond_what_may_be_sent_in_all(most: int) -> None:
    with (
        serving(score, often(3, 0.3, ["503", "nan"])) as server,
        Endpoint(server.infer, max_sent=most, **QUICK) as endpoint,
    ):
        found = Explainer(endpoint, SPACE).explain_table(ROWS)
    assert server.received == endpoint.bill.sent <= most
    for result in found:
        assert isinstance(result, Explanation) or "ran out" in str(result)


def test_what_is_known_when_the_rows_that_may_be_sent_run_out_is_returned() -> None:
    with serving(score) as server, Endpoint(server.infer, max_sent=5) as endpoint:
        e = Explainer(endpoint, SPACE).explain(ROWS[0], batch=4)
    assert e.status == "stopped"
    assert e.lower is not None
    assert server.received <= 5


@pytest.mark.parametrize(
    ("fault", "words", "requests"),
    [
        ("401", "401 Unauthorized", 1),
        ("404", "404 Not Found", 1),
        ("501", "501 Not Implemented", 1),
        ("away", "307 Temporary Redirect", 1),
        ("huge", "more than 5,000 bytes", 1),
        ("wait", "asks to wait 3,600 seconds, and patience is 60", 1),
        ("503", "503 Service Unavailable", 3),
        ("drop", "cannot be reached", 3),
        ("slow", "did not answer within 0.3 seconds", 3),
        ("count", "0 scores to 1 row", 3),
        ("nan", "expected finite numbers, got nan", 3),
        ("type", "expected finite numbers, got None", 3),
        ("garbled", "cannot be read: JSONDecodeError", 3),
    ],
)
def test_a_fault_that_lasts_is_one_clear_error(fault: str, words: str, requests: int) -> None:
    # What is never answered is waited for a moment; anything else is, however busy the machine.
    timeout = 0.3 if fault == "slow" else PATIENCE
    with (
        serving(score, lambda number: fault) as server,
        Endpoint(server.infer, attempts=3, max_bytes=5_000, **QUICK | {"timeout": timeout}) as endpoint,
    ):
        with pytest.raises(Unavailable, match=words):
            Explainer(endpoint, SPACE).explain(ROWS[0])
        assert endpoint.bill.calls == requests
        found = Explainer(endpoint, SPACE).explain_table(ROWS[:3])
    assert {type(result) for result in found} == {Unavailable}
    assert words in str(found[0])


def test_what_is_finished_is_kept_when_the_endpoint_goes_away() -> None:
    expected = Explainer(local, SPACE).explain_table(ROWS, batch=4)
    with (
        serving(score, lambda number: None if number < 120 else "503") as server,
        Endpoint(server.infer, in_flight=2, rows_per_call=8, attempts=2, **QUICK) as endpoint,
    ):
        kept: dict[int, Any] = {}
        found = Explainer(endpoint, SPACE).explain_table(ROWS, batch=4, width=4, each=kept.__setitem__)
    finished = [i for i, result in enumerate(found) if isinstance(result, Explanation)]
    assert 0 < len(finished) < len(ROWS)
    assert sorted(kept) == finished
    assert all(found[i] == expected[i] for i in finished)
    assert {str(found[i]) for i in range(len(ROWS)) if i not in finished} == {str(found[len(ROWS) - 1])}


def refuse_some(server: Server, status: str, is_refused: Callable[[Any], bool]) -> None:
    """Let the server refuse requests in which some row is refused."""
    answer = server.RequestHandlerClass._answer  # type: ignore[attr-defined]

    class Picky(server.RequestHandlerClass):  # type: ignore[misc,name-defined]
        def _answer(self, rows: Rows, fault: str | None) -> None:
            answer(self, rows, status if any(map(is_refused, rows)) else None)

    server.RequestHandlerClass = Picky


@pytest.mark.parametrize("status", ["422", "500"])
def test_a_row_that_the_endpoint_fails_on_is_found_and_the_others_are_explained(status: str) -> None:
    bad = ROWS.copy()
    bad[5, 0] = 77.0  # beyond its bounds, where it stays unless it is flipped
    with serving(score) as server:
        refuse_some(server, status, lambda row: 77.0 in row)
        with Endpoint(server.infer, attempts=2, **QUICK) as endpoint:
            found = Explainer(endpoint, SPACE).explain_table(bad, batch=8)
    assert isinstance(found[5], OracleError)
    assert status in str(found[5])
    rest = np.delete(np.arange(len(bad)), 5)
    expected = Explainer(local, SPACE).explain_table(bad[rest], batch=8)
    assert [told(found[i]) for i in rest] == list(map(told, expected))


def test_a_request_that_is_never_answered_is_sent_again() -> None:
    expected = Explainer(local, SPACE).explain(ROWS[0], batch=8)
    with (
        serving(score, lambda number: "slow" if number == 1 else None) as server,
        Endpoint(server.infer, attempts=50, **QUICK | {"timeout": 1.0}) as endpoint,
    ):
        assert told(Explainer(endpoint, SPACE).explain(ROWS[0], batch=8)) == told(expected)
        assert endpoint.bill.failed >= 1


def test_no_more_requests_are_under_way_than_allowed_and_that_many_are() -> None:
    together = threading.Event()

    def wait_for_others(rows: Rows) -> list[float]:
        if running.at_once == 3:
            together.set()
        assert together.wait(PATIENCE)  # it comes to this only if three requests are under way
        return score(rows)

    with (
        serving(wait_for_others) as running,
        Endpoint(running.infer, in_flight=3, rows_per_call=4, timeout=PATIENCE) as endpoint,
    ):
        Explainer(endpoint, SPACE).explain_table(ROWS[:20], batch=8)
    assert running.most_at_once == 3
    assert max(running.sizes) <= 4


def test_a_slow_row_does_not_hold_up_the_others() -> None:
    release = threading.Event()
    done: list[int] = []

    def wait_for_others(rows: Rows) -> list[float]:
        if any(row[0] == 77.0 for row in rows):
            assert release.wait(PATIENCE)
        return score(rows)

    table = ROWS[:10].copy()
    table[0, 0] = 77.0
    with (
        serving(wait_for_others) as server,
        Endpoint(server.infer, in_flight=4, rows_per_call=1, timeout=PATIENCE) as endpoint,
    ):

        def each(i: int, result: Any) -> None:
            done.append(i)
            if len(done) == 9:
                release.set()  # it comes to this only if nobody waits for row 0

        found = Explainer(endpoint, SPACE).explain_table(table, batch=8, each=each)
    assert done[-1] == 0
    assert all(isinstance(result, Explanation) for result in found)


class NoTimePasses:
    """The modules that the requests take the time and their pauses from: the clock stands still, pauses are noted."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        return 100.0

    def perf_counter(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)


def test_the_rate_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = NoTimePasses()
    monkeypatch.setattr("flipset.models.remote.requests.time", clock)
    monkeypatch.setattr("flipset.models.remote.requests.asyncio", clock)
    with serving(score) as server, Endpoint(server.infer, rate=200.0, rows_per_call=1) as endpoint:
        endpoint(ROWS[:21])
        assert len(endpoint.call_times.calls) == 21
        assert server.requests == 21
    # The first goes out at once, and each of the others an interval after the one before it.
    assert sorted(clock.pauses) == pytest.approx([i / 200 for i in range(1, 21)])


def test_questions_together_follow_from_the_time_of_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    # As where a call takes 20 milliseconds, however many rows it has.
    monkeypatch.setattr(CallTimes, "note", lambda times, rows, seconds: times.calls.append((rows, 0.02)))
    with serving(score) as server, Endpoint(server.infer) as endpoint:
        slow = Explainer(endpoint, SPACE).explain(ROWS[0])
        assert server.requests < 12
        table = Explainer(endpoint, SPACE).explain_table(ROWS)
    assert slow.rounds < Explainer(local, SPACE).explain(ROWS[0], batch=1).rounds * 0.7
    assert table[0].rounds <= slow.rounds + 4


def test_no_row_is_asked_again_that_was_asked_to_measure() -> None:
    with serving(score) as server, Endpoint(server.infer) as endpoint:
        found = Explainer(endpoint, SPACE).explain_table(ROWS)
        assert found.queries >= server.received
        asked_as_they_are = [server.answered[tuple(row)] for row in ROWS]
    assert asked_as_they_are == [1] * len(ROWS)


def test_headers_come_from_the_environment_and_go_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "Bearer s3cr3t-and-long"
    monkeypatch.setenv("SCORING_AUTH", secret)
    headers = EnvironmentHeaders({"Authorization": "SCORING_AUTH"})
    path = tmp_path / "answers.db"
    with serving(score, lambda number: "503" if number == 1 else "403" if number == 3 else None) as server:
        with Endpoint(f"{server.infer}?key=hidden", headers=headers, **QUICK) as endpoint:
            journal = Journal(path, model=endpoint.identity())
            explainer = Explainer(endpoint, SPACE, journal=journal)
            with pytest.raises(Unavailable) as caught:
                explainer.explain(ROWS[0], batch=1)
            journal.close()
        assert {header["Authorization"] for header in server.sent_headers} == {secret}
    written = [str(caught.value), repr(endpoint), str(endpoint), caplog.text, path.read_bytes().decode("latin-1")]
    written += [str(record.__dict__) for record in caplog.records if record.name == "stamina"]
    written += [pickle.dumps(endpoint).decode("latin-1")]
    assert "***" in written[0]
    for text in written:
        assert "s3cr3t" not in text
    for text in written[:5]:
        assert "hidden" not in text
    monkeypatch.delenv("SCORING_AUTH")
    with pytest.raises(InputError, match="SCORING_AUTH is not set"):
        Explainer(Endpoint(server.infer, headers=headers), SPACE).explain(ROWS[0])


def test_c12_logs_of_the_http_library_hold_no_secret_that_an_endpoint_repeats(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "tok-S3cr3t/0123456789"
    monkeypatch.setitem(Handler.responses, 403, (f"No {secret}", ""))
    with serving(score, lambda _: "403") as server:
        headers = {"Authorization": f"Bearer {secret}"}
        with (
            Endpoint(f"{server.infer}?key=k3y-of-mine", headers=lambda: headers) as endpoint,
            pytest.raises(Unavailable),
        ):
            endpoint([[1.0, 2.0]])
    logged = [record.getMessage() + str(record.args) for record in caplog.records if record.name.startswith("http")]
    assert any("403 No ***" in text for text in logged)
    assert any("'No ***'" in text for text in logged)  # of the connection, at the level of DEBUG
    assert not [text for text in logged if "S3cr3t" in text or "k3y-of" in text]


def test_identity_is_name_and_version_and_a_journal_refuses_another(server: Server, tmp_path: Any) -> None:
    path = tmp_path / "answers.db"

    def identified(**how: Any) -> str:
        with Endpoint(server.infer, **how) as endpoint:
            identity = endpoint.identity()
            Explainer(endpoint, SPACE, journal=Journal(path, model=identity)).explain(ROWS[0])
            return identity

    assert identified() == f"{server.infer} version 1"
    asked = server.received
    identified()
    assert server.received == asked
    server.versions = ["2"]
    with pytest.raises(InputError, match=r"another model: .* version 1, not .* version 2"):
        identified()
    server.versions = []
    with Endpoint(server.infer) as silent, Endpoint(server.invocations, version="7") as told_so:
        assert silent.identity() == server.infer
        assert told_so.identity() == f"{server.invocations} version 7"


def test_a_version_that_changes_on_the_way_ends_it() -> None:
    with serving(score) as server, Endpoint(server.infer) as endpoint:
        explainer = Explainer(endpoint, SPACE)
        explainer.explain(ROWS[0])
        server.version = "2"
        with pytest.raises(Unavailable, match="is now version 2, and was version 1 when it began"):
            explainer.explain(ROWS[1])


def test_a_journal_asks_nothing_twice_whatever_is_under_way(server: Server, tmp_path: Any) -> None:
    again = np.concatenate([ROWS, ROWS + np.array([0, 0, 0, 0, 0, 1.0])])  # many of their questions are the same
    with Endpoint(server.infer, in_flight=8, rows_per_call=4) as endpoint:
        explainer = Explainer(endpoint, SPACE, journal=Journal(tmp_path / "answers.db", model="x"))
        found = explainer.explain_table(again, batch=8)
        assert set(server.answered.values()) == {1}
        assert len(server.answered) < found.queries
        assert list(explainer.explain_table(again, batch=8)) == list(found)
        assert set(server.answered.values()) == {1}


def test_whoever_awaits_gets_the_same_and_many_at_a_time(server: Server) -> None:
    with Endpoint(server.infer) as endpoint:
        explainer = Explainer(endpoint, SPACE)

        async def all_at_once() -> list[Explanation]:
            assert list(await endpoint.ask(ROWS[:2])) == score(ROWS[:2].tolist())
            return await asyncio.gather(*(explainer.aexplain(row, batch=8) for row in ROWS[:8]))

        found = asyncio.run(all_at_once())
        assert found == [explainer.explain(row, batch=8) for row in ROWS[:8]]
    here = Explainer(local, SPACE)
    assert asyncio.run(here.aexplain(ROWS[0])) == here.explain(ROWS[0])


def test_a_protocol_of_ones_own(server: Server) -> None:
    def write(columns: Any, rows: Any) -> Any:
        assert tuple(column.name for column in columns) == NAMES
        return {"dataframe_split": {"data": rows}}

    wire = Wire(write, lambda answer: answer["predictions"])
    with Endpoint(f"{server.address}/anything", wire=wire) as endpoint:
        assert told(Explainer(endpoint, SPACE).explain(ROWS[0])) == told(Explainer(local, SPACE).explain(ROWS[0]))


def test_columns_of_a_classifier_and_labels() -> None:
    with serving(lambda rows: [[1 - p, p] for p in score(rows)]) as server:
        for url in (server.infer, server.invocations):
            with Endpoint(url) as endpoint:
                assert told(Explainer(endpoint, SPACE).explain(ROWS[0])) == told(
                    Explainer(local, SPACE).explain(ROWS[0])
                )
                # The directions are those of the other class, which the free check finds out.
                other = Explainer(endpoint, SPACE, positive=0).explain(ROWS[0], strict=False)
                assert other.status == "unproved"
                assert other.decision != Explainer(local, SPACE).explain(ROWS[0]).decision
    with (
        serving(lambda rows: ["yes" if p >= 0.5 else "no" for p in score(rows)]) as server,
        Endpoint(server.invocations) as endpoint,
    ):
        e = Explainer(endpoint, SPACE, positive="yes").explain(ROWS[0])
    assert e.flipsets == Explainer(local, SPACE).explain(ROWS[0]).flipsets


def test_frames_with_text_and_missing_cells_are_sent_column_by_column() -> None:
    frame = pd.DataFrame({"a": [1.0, None, 3.0, 2.0], "n": [1, 2, 3, 4], "kind": ["x", "y", "x", None]})
    space = Space.from_frame(frame, increasing=["a", "n"], categorical=["kind"])

    def mixed(rows: Rows) -> list[float]:
        return [float((a or 0) + n + (kind == "y") >= 6) for a, n, kind in rows]

    def here(table: Any) -> list[float]:
        cells = table.astype(object).where(table.notna(), None)
        return mixed(cells.values.tolist())

    expected = Explainer(here, space).explain_table(frame)
    with serving(mixed) as server:
        for url in (server.infer, server.invocations):
            with Endpoint(url) as endpoint:
                assert list(map(told, Explainer(endpoint, space).explain_table(frame))) == list(map(told, expected))


def test_an_endpoint_can_be_sent_to_another_process_but_needs_no_workers(server: Server) -> None:
    with Endpoint(server.infer, in_flight=2) as endpoint, pickle.loads(pickle.dumps(endpoint)) as sent:
        assert Explainer(sent, SPACE).explain(ROWS[0], batch=8) == Explainer(local, SPACE).explain(ROWS[0], batch=8)
        asked = server.requests
        with pytest.raises(InputError, match="an endpoint needs no workers"):
            Explainer(endpoint, SPACE).explain_table(ROWS, workers=2)
        with pytest.raises(InputError, match="cannot be kept by several processes"):
            Explainer(local, SPACE).explain_table(ROWS, workers=2, max_table_queries=5)
        assert server.requests == asked
    assert Explainer(server.infer, SPACE).explain(ROWS[0], batch=8) == Explainer(local, SPACE).explain(ROWS[0], batch=8)


def test_rows_that_are_refused_are_never_sent(server: Server) -> None:
    bad = [["text", *row[1:]] for row in ROWS.tolist()]
    with Endpoint(server.infer) as endpoint:
        explainer = Explainer(endpoint, SPACE)
        found = explainer.explain_table([*bad, ROWS[0].tolist()], max_table_queries=3)
        assert all(isinstance(result, InputError) for result in found[: len(bad)])
        assert server.received == found.queries <= 3
        with pytest.raises(InputError):
            explainer.explain(bad[0])
        assert server.received == found.queries


def test_a_run_that_ends_early_leaves_others_alone() -> None:
    done: list[str] = []

    def explain_all(explainer: Explainer) -> None:
        done.extend(explainer.explain(row, batch=4).status for row in ROWS[:12])

    def fail(i: int, result: Any) -> None:
        raise ZeroDivisionError

    with serving(score) as server, Endpoint(server.infer) as endpoint:
        explainer = Explainer(endpoint, SPACE)
        other = threading.Thread(target=explain_all, args=(explainer,))
        other.start()
        while other.is_alive():
            with pytest.raises(ZeroDivisionError):
                explainer.explain_table(ROWS, batch=4, width=4, each=fail)
        other.join()
    assert set(done) <= {"optimal", "none"}
    assert len(done) == 12


def test_what_is_sent_does_not_depend_on_which_rows_share_a_request() -> None:
    frame = pd.DataFrame({"income": [1.0, 2.0, 3.0], "region": ["x", None, None]})
    with serving(lambda rows: [float(row[0] >= 4) for row in rows]) as server:
        space = Space.from_frame(frame, increasing=["income"])
        seen: list[Any] = []
        write = open_inference().write

        def noted(columns: Any, rows: Any) -> Any:
            body = write(columns, rows)
            seen.append(body)
            return body

        wire = Wire(noted, open_inference().read)
        with Endpoint(server.infer, wire=wire, rows_per_call=1) as endpoint:
            Explainer(endpoint, space, reference=frame).explain_table(frame)
        forms = {tuple(f"{one['name']}: {one['datatype']}" for one in body["inputs"]) for body in seen}
    assert forms == {("income: FP64", "region: BYTES")}


def test_whole_numbers_that_a_double_cannot_hold_are_refused_and_dates_are_sent(server: Server) -> None:
    big = np.array([[2**53 + 1, 0, 0, 0, 0, 0]])
    with Endpoint(server.infer) as endpoint, pytest.raises(OracleError, match="not a double without loss"):
        endpoint(big)
    day = pd.DataFrame({"a": [1.0], "day": pd.to_datetime(["2026-01-31"])})
    with serving(lambda rows: [float(row[1] == "2026-01-31T00:00:00") for row in rows]) as dated:
        for url in (dated.infer, dated.invocations):
            with Endpoint(url) as endpoint:
                assert endpoint(day) == [1.0]


def test_a_journal_has_answers_of_one_version_only(server: Server, tmp_path: Path) -> None:
    server.versions = ["1", "2"]
    path = tmp_path / "answers.db"
    for version, expected in (("1", None), ("2", "has answers of version 1, and .* now answers as version 2")):
        server.version = version
        with Endpoint(server.infer) as endpoint:
            explainer = Explainer(endpoint, SPACE, journal=Journal(path, model=endpoint.identity()))
            if expected is None:
                explainer.explain(ROWS[0])
            else:
                with pytest.raises(Unavailable, match=expected):
                    explainer.explain(ROWS[1])


@pytest.mark.parametrize("where", ["answer", "refusal", "name"])
def test_secrets_that_an_endpoint_repeats_are_blotted_out(where: str) -> None:
    secret = "Bearer tok-S3cr3tValue"
    own = Wire(lambda columns, rows: {"dataframe_split": {"data": rows}}, lambda answer: [secret] * 2)
    with serving(score, lambda number: "404" if where == "refusal" else None) as server:
        url = server.invocations if where == "answer" else server.infer
        wire = {"answer": own, "name": open_inference("Bearer"), "refusal": open_inference()}[where]
        with (
            Endpoint(url, headers=lambda: {"Authorization": secret}, attempts=1, wire=wire) as endpoint,
            pytest.raises(FlipsetError) as caught,
        ):
            endpoint(ROWS[:1])
    assert "S3cr3t" not in str(caught.value)


FORMS: dict[str, Callable[[str], str]] = {
    "percent": lambda text: quote(text, safe=""),
    "plus": quote_plus,
    "base64": lambda text: b64encode(f"me:{text}".encode()).decode(),
    "JSON": lambda text: json.dumps(text).replace("/", "\\/"),
    "cut": lambda text: text[:6],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("where", ["query", "header"])
def test_c12_secrets_that_an_endpoint_repeats_in_another_form_are_hidden(form: str, where: str) -> None:
    secret = 'S3cr"3t/Va+lue=='

    def refuse(answer: Any) -> Any:
        raise ValueError(f"wrong key: {FORMS[form](secret)}")

    wire = Wire(lambda columns, rows: {"dataframe_split": {"data": rows}}, refuse)
    how: dict[str, Any] = {"headers": lambda: {"X-Key": secret}} if where == "header" else {}
    with (
        serving(score) as server,
        Endpoint(
            server.invocations + ("" if where == "header" else f"?key={quote(secret, safe='')}"),
            attempts=1,
            wire=wire,
            **how,
        ) as endpoint,
        pytest.raises(FlipsetError, match=r"wrong key: \"?\*\*\*") as caught,
    ):
        endpoint(ROWS[:1])
    assert "S3cr" not in str(caught.value)
    assert FORMS[form](secret) not in str(caught.value)


def test_c12_versions_and_labels_that_repeat_a_secret_are_masked() -> None:
    secret = "tok-S3cr3tValue"

    def headers() -> dict[str, str]:
        return {"Authorization": f"Bearer {secret}"}

    def labels(rows: Rows) -> list[str]:
        return [quote_plus(secret)] * len(rows)

    with serving(score) as server:
        server.versions = [secret]
        with Endpoint(server.infer, headers=headers) as endpoint:
            assert endpoint.identity() == f"{server.infer} version ***"
    with serving(labels) as server, Endpoint(server.invocations, headers=headers) as endpoint:
        assert endpoint(ROWS[:2]) == ["***", "***"]


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that is the proxy of the environment."""
    with serving(score) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.address.replace("://", "://me:pr0xy-secret@"))
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        yield proxy


def test_c12_rows_go_through_a_proxy_only_where_one_is_asked_for(server: Server, proxied: Server) -> None:
    with Endpoint(server.infer) as endpoint:
        endpoint(ROWS[:1])
    assert (server.requests, proxied.requests) == (1, 0)
    with Endpoint(server.infer, trust_env=True, attempts=1) as endpoint:
        endpoint(ROWS[:1])
    assert (server.requests, proxied.requests) == (1, 1)
    with Endpoint(server.infer, proxy=proxied.address, attempts=1) as endpoint:
        endpoint(ROWS[:1])
    assert (server.requests, proxied.requests) == (1, 2)


def test_c12_the_password_of_a_proxy_is_in_no_error(
    server: Server, proxied: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxied.fault = lambda number: "503"
    with Endpoint(server.infer, trust_env=True, **{**QUICK, "attempts": 1}) as endpoint:
        with pytest.raises(Unavailable) as caught:
            endpoint(ROWS[:1])
        assert "pr0xy" not in str(caught.value)
    monkeypatch.setenv("HTTP_PROXY", "gopher://me:pr0xy-secret@there:70")
    monkeypatch.setenv("http_proxy", "gopher://me:pr0xy-secret@there:70")
    with Endpoint(server.infer, trust_env=True) as endpoint:
        with pytest.raises(InputError, match="the proxy that the environment names cannot be used") as refused:
            endpoint(ROWS[:1])
        assert "pr0xy" not in str(refused.value)


@pytest.mark.parametrize(("value", "words"), [("tok\x00en-long", "cannot be sent"), ("tök-long", "cannot be sent")])
def test_headers_that_cannot_be_sent_are_refused_without_showing_them(server: Server, value: str, words: str) -> None:
    with Endpoint(server.infer, headers=lambda: {"X-Key": value}) as endpoint:
        with pytest.raises(InputError, match=words) as caught:
            endpoint(ROWS[:1])
        assert value not in str(caught.value)
        assert "X-Key" in str(caught.value)


def test_a_newline_behind_a_secret_is_left_out(server: Server) -> None:
    with Endpoint(server.infer, headers=lambda: {"X-Key": "mounted-secret\n"}) as endpoint:
        endpoint(ROWS[:1])
    assert server.sent_headers[-1]["X-Key"] == "mounted-secret"


def test_an_endpoint_that_was_used_works_after_a_fork(server: Server) -> None:
    with Endpoint(server.infer, timeout=PATIENCE) as endpoint:
        endpoint(ROWS[:1])
        child = os.fork()
        if not child:
            os._exit(0 if endpoint(ROWS[:1]) == score(ROWS[:1].tolist()) else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert endpoint(ROWS[:1]) == score(ROWS[:1].tolist())


def test_certificates_are_verified(tmp_path: Path) -> None:
    authority = trustme.CA()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    authority.cert_pem.write_to_path(str(tmp_path / "ours.pem"))
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "others.pem"))
    with serving(score, tls=tls) as server:
        with Endpoint(server.infer, ca=tmp_path / "ours.pem") as endpoint:
            assert endpoint(ROWS[:1]) == score(ROWS[:1].tolist())
        for ca in (None, tmp_path / "others.pem"):
            with Endpoint(server.infer, ca=ca) as endpoint, pytest.raises(Unavailable, match="is not who it says"):
                endpoint(ROWS[:1])
        assert server.requests == 1
    (tmp_path / "none.pem").write_text("no certificate")
    broken = Endpoint(server.infer, ca=tmp_path / "none.pem")
    with pytest.raises(InputError, match="holds no certificates"):
        broken(ROWS[:1])


def test_identity_is_asked_for_again_after_a_fault_that_may_pass(server: Server) -> None:
    server.get_faults = 2
    with Endpoint(server.infer, **QUICK) as endpoint:
        assert endpoint.identity() == f"{server.infer} version 1"


def test_an_interrupt_drops_what_is_under_way() -> None:
    def interrupt(i: int, result: Any) -> None:
        raise KeyboardInterrupt

    with (
        serving(score, lambda number: "slow" if number > 60 else None) as server,
        Endpoint(server.infer, in_flight=4, rows_per_call=2, timeout=PATIENCE) as endpoint,
    ):
        found = Explainer(endpoint, SPACE).explain_table(ROWS, batch=2, width=2, each=interrupt)
    assert sum(isinstance(result, Explanation) for result in found) == 1
    assert "interrupted before" in str(found[len(ROWS) - 1])


def test_what_goes_wrong_with_headers_is_no_fault_of_the_rows_and_says_no_more_than_it_should(server: Server) -> None:
    def lost() -> dict[str, str]:
        raise KeyError("s3cr3t")

    with Endpoint(server.infer, headers=lost) as endpoint:
        with pytest.raises(Unavailable, match=r"headers for .* cannot be had: KeyError$") as caught:
            Explainer(endpoint, SPACE).explain(ROWS[0])
        assert "s3cr3t" not in str(caught.value)
        assert endpoint.bill.calls == server.requests == 0


def test_one_request_that_is_refused_ends_the_others_of_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "MOST_GRACE", 0.05)  # the others are never answered
    with (
        serving(score, lambda number: "403" if number == 0 else "slow") as server,
        Endpoint(server.infer, in_flight=4, rows_per_call=1, timeout=PATIENCE) as endpoint,
    ):
        with pytest.raises(Unavailable, match="403"):
            endpoint(ROWS)
        assert server.requests <= 5  # those under way, and one that took the place of the first


def test_closing_tells_whoever_waits_and_the_next_question_opens_it_again() -> None:
    slow = True
    with (
        serving(score, lambda number: "slow" if slow else None) as server,
        Endpoint(server.infer, timeout=PATIENCE) as endpoint,
    ):
        ended: list[BaseException] = []

        def wait() -> None:
            try:
                endpoint(ROWS[:1])
            except FlipsetError as error:
                ended.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        while not server.requests:
            waiting.join(0.01)
        endpoint.close()
        waiting.join(PATIENCE)
        assert [type(error).__name__ for error in ended] == ["Interrupted"]
        slow = False
        assert endpoint(ROWS[:1]) == score(ROWS[:1].tolist())


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"url": "loans/infer"}, "not an address"),
        ({"url": "ftp://there/infer"}, "not an address"),
        ({"url": "http://me:secret@there/infer"}, "use headers"),
        ({"url": "http://there/score"}, "expected .*infer.* or .*invocations"),
        ({"in_flight": 0}, "in_flight must be a whole number from 1"),
        ({"rate": 0}, "rate and timeout must be more than 0"),
        ({"timeout": float("inf")}, "timeout must be a number"),
        ({"ca": "nowhere.pem"}, "no file nowhere.pem"),
        ({"max_sent": 1.5}, "max_sent must be a whole number"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(how: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        Endpoint(how.pop("url", "http://there/infer"), **how)
    assert "secret" not in str(caught.value)


def test_prices_are_added_up() -> None:
    with (
        serving(score, lambda number: "503" if number == 0 else None) as server,
        Endpoint(server.infer, price_per_call=0.5, price_per_row=0.25, **QUICK) as endpoint,
    ):
        endpoint(ROWS[:4])
        assert endpoint.bill.price == 2 * (0.5 + 4 * 0.25)
        assert str(endpoint.bill) == "4 rows answered in 2 requests, of which 1 failed, for 3.00 at most"


def test_the_code_of_the_how_to_runs(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCORING_AUTH", "Bearer x")
    text = (Path(__file__).parents[3] / "docs" / "howto" / "endpoints.md").read_text(encoding="utf-8")
    block = re.findall(r"```python\n(from .*?)```", text, flags=re.DOTALL)[0]
    names: dict[str, Any] = {"space": SPACE, "table": ROWS[:5]}
    exec(compile(block.replace("https://scores.example", server.address), "endpoints.md", "exec"), names)
    with names["endpoint"]:
        assert [told(e) for e in names["found"]] == [told(e) for e in Explainer(local, SPACE).explain_table(ROWS[:5])]


def test_c3_answers_to_other_requests_of_a_call_that_failed_are_not_asked_for_again() -> None:
    refused = ROWS[17].tolist()

    def halving(endpoint: Endpoint, rows: Any) -> None:
        try:
            endpoint(rows)
        except OracleError:
            for half in np.array_split(rows, 2) if len(rows) > 1 else ():
                halving(endpoint, half)

    with serving(score) as server, Endpoint(server.infer, in_flight=2, rows_per_call=4) as endpoint:
        refuse_some(server, "422", lambda row: row == refused)
        halving(endpoint, ROWS)
    others = {tuple(row) for row in ROWS.tolist()} - {tuple(refused)}
    assert set(server.answered) == others
    assert max(server.answered.values()) == 1


def test_c3_a_fault_of_the_network_is_not_halved() -> None:
    with serving(score, lambda number: "drop" if number > 3 else None) as server:
        with Endpoint(server.infer, attempts=1, in_flight=1, **QUICK) as endpoint:
            found = Explainer(endpoint, SPACE).explain_table(ROWS)
        assert {type(result) for result in found} <= {Explanation, Unavailable}
        assert server.requests <= 6  # the one that failed, and one to find out whether other rows are answered


@pytest.mark.parametrize("most", [0, 1, 5, 20, 50, 200])
@pytest.mark.parametrize("rows_per_call", [8, 256])
def test_c12_queries_are_the_rows_that_were_sent_when_they_run_out(most: int, rows_per_call: int) -> None:
    # The column `id` makes all rows different: queries of two rows that are the same are sent as one.
    space = Space([*SPACE.features, Feature("id", fixed=True)])
    rows = np.column_stack([ROWS, np.arange(len(ROWS))])
    with serving(lambda some: score([row[:6] for row in some])) as server:
        with Endpoint(server.infer, max_sent=most, rows_per_call=rows_per_call) as endpoint:
            found = Explainer(endpoint, space).explain_table(rows)
        # A request may fail on a busy machine: its rows were sent, and are not among those that were answered.
        assert found.queries == endpoint.bill.rows <= endpoint.bill.sent == server.received <= most
        assert sum(e.queries for e in found if isinstance(e, Explanation)) <= most
        with Endpoint(server.infer, max_sent=most, rows_per_call=rows_per_call) as endpoint:
            (one,) = Explainer(endpoint, space).explain_table(rows[:1])
        assert endpoint.bill.rows == (one.queries if isinstance(one, Explanation) else 0)
        assert endpoint.bill.rows <= endpoint.bill.sent <= most


def test_c3_answers_under_way_at_a_fault_are_in_the_journal(tmp_path: Path) -> None:
    refused = Event()

    def slow(rows: Rows) -> list[float]:
        refused.wait(PATIENCE)
        return score(rows)

    def fault(number: int) -> str | None:
        if number != 2:
            return None
        refused.set()
        return "403"

    with serving(slow, fault) as server, Endpoint(server.infer, rows_per_call=10, in_flight=4, **QUICK) as endpoint:
        journal = Journal(tmp_path / "answers.db", model="m")
        explainer = Explainer(endpoint, SPACE, journal=journal)
        with pytest.raises(Unavailable, match="403"):
            explainer.scores(ROWS)
        assert len(journal) == len(server.answered) == 30
        assert explainer.scores(ROWS) == score(ROWS.tolist())
        assert set(server.answered.values()) == {1}


@pytest.mark.parametrize("number", [3, 9, 15])
@pytest.mark.parametrize("kind", ["403", "drop"])
def test_c3_no_row_that_was_answered_before_a_fault_is_asked_again_after_it(
    kind: str, number: int, tmp_path: Path
) -> None:
    is_broken = True
    with serving(score, lambda at: kind if is_broken and at >= number else None, latency=0.02) as server:
        for _ in range(2):
            with Endpoint(server.infer, attempts=1, in_flight=4, **QUICK) as endpoint:
                journal = Journal(tmp_path / "answers.db", model="m")
                found = Explainer(endpoint, SPACE, journal=journal).explain_table(ROWS, batch=4)
                journal.close()
            assert (Unavailable in set(map(type, found))) == is_broken
            is_broken = False
        assert set(server.answered.values()) == {1}


def test_c3_the_answer_to_a_row_that_was_tried_alone_is_used() -> None:
    with serving(score, lambda number: "500" if number == 0 else None) as server:
        with Endpoint(server.infer, attempts=1, **QUICK) as endpoint:
            with pytest.raises(OracleError, match="500"):
                endpoint(ROWS)
            assert endpoint(ROWS) == score(ROWS.tolist())
        assert set(server.answered.values()) == {1}

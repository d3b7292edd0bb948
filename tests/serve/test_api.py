"""The JSON interface: what it answers is what the library answers, and what cannot be answered is said in words."""

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Semaphore
from typing import Any

import httpx2
import numpy as np
import pytest

from flipset import Explainer, Explanation, Space
from flipset.serve import Served
from flipset.serve.cases import about_feature
from flipset.serve.jobs import Busy
from tests.patience import PATIENCE
from tests.ruled import BROKEN, CONSTRAINTS, ROW, ruled_explainer, ruled_space, table
from tests.serve.running import (
    COLUMNS,
    EXPLAINER,
    FRAME,
    TOKEN,
    Running,
    applications,
    approve,
    cells_of,
    explainer,
    running,
    serving_applications,
    touchy,
)


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving_applications() as where:
        yield where


@pytest.fixture
def client(server: Running) -> Iterator[httpx2.Client]:
    with server.client() as client:
        yield client


def finish(client: httpx2.Client) -> dict[str, Any]:
    """Wait for the table, as the page does: events until it is done."""
    with client.stream("GET", "/api/progress") as events:
        told = [json.loads(line.removeprefix("data: ")) for line in events.iter_lines() if line]
    assert told[-1]["explained"] == told[-1]["rows"] == len(FRAME)
    last: dict[str, Any] = told[-1]
    return last


LIMITS: list[dict[str, Any]] = [
    {},
    {"fixed": ["income"]},
    {"within": ["income", "debt"]},
    {"max_rise": {"income": "20 %"}, "max_fall": {"debt": 5}},
    {"bounds": {"income": [None, 60], "debt": [10, None]}},
    {"max_changes": 1},
    {"objective": "cost"},
    {"reasons": 1},
    {"reasons": "all"},
    {"reasons": False},
]


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: next(iter(limits), "none"))
def test_an_explanation_is_the_librarys(client: httpx2.Client, limits: dict[str, Any]) -> None:
    for row in range(0, 40, 4):
        said = client.post("/api/explain", json={"row": row, **limits})
        assert said.status_code == 200, said.text
        expected = EXPLAINER.explain(cells_of(row), **limits)
        assert said.json()["explanation"] == json.loads(expected.to_json())


def test_reasons_are_a_number_or_all_of_them(client: httpx2.Client) -> None:
    said = [client.post("/api/explain", json={"row": 4, "reasons": wanted}).json() for wanted in (1, "all")]
    assert len(said[0]["explanation"]["reasons"]) == 1
    assert len(said[1]["explanation"]["reasons"]) == len(said[1]["explanation"]["proof"]["zeros_hold"])
    assert [len(one["text"]["reasons_note"]) > 0 for one in said] == [
        len(said[0]["explanation"]["proof"]["zeros_hold"]) > 1, False,
    ]  # fmt: skip
    for wanted in (0, "many", -1):
        assert client.post("/api/explain", json={"row": 4, "reasons": wanted}).status_code == 422


def test_cells_take_the_place_of_a_rows_own_and_can_stand_alone(client: httpx2.Client) -> None:
    own = cells_of(7)
    changed = own | {"income": 12, "debt": 59}
    expected = json.loads(EXPLAINER.explain(changed).to_json())
    for case in ({"row": 7, "values": {"income": 12, "debt": 59}}, {"values": changed}):
        assert client.post("/api/explain", json=case).json()["explanation"] == expected
    assert client.get("/api/row", params={"row": 7}).json() == {"values": own, "name": "row 7"}


def test_a_row_is_named_by_its_identifier() -> None:
    ids = [{"client": f"{i:05}"} for i in range(len(FRAME))]
    with running(Served(EXPLAINER, FRAME, ids=ids)) as where, where.client() as client:
        assert client.get("/api/row", params={"row": 7}).json()["name"] == "client 00007"


def test_several_rows_at_once(client: httpx2.Client) -> None:
    own = cells_of(2)
    said = client.post("/api/table", json={"rows": [0, own, 5], "fixed": ["late"]}).json()["results"]
    for row, one in zip((0, 2, 5), said, strict=True):
        found = EXPLAINER.explain(FRAME[COLUMNS].iloc[row], fixed=["late"])
        assert one["explanation"]["flipsets"] == [list(names) for names in found.flipsets]


def test_a_frontier_is_the_librarys(client: httpx2.Client) -> None:
    row = next(i for i in range(len(FRAME)) if EXPLAINER.explain(FRAME[COLUMNS].iloc[i]).size == 2)
    (a, b), *_ = EXPLAINER.explain(FRAME[COLUMNS].iloc[row]).flipsets
    said = client.post("/api/frontier", json={"row": row, "features": [a, b]}).json()
    expected = EXPLAINER.frontier(FRAME[COLUMNS].iloc[row], [a, b])
    assert [tuple(point) for point in said["points"]] == list(expected.points)


def test_a_proof_is_replayed_question_by_question(client: httpx2.Client) -> None:
    for row in range(0, 60, 6):
        e = client.post("/api/explain", json={"row": row}).json()["explanation"]
        said = client.post("/api/verify", json={"explanation": e}).json()
        assert (said["ok"], said["checked"]) == (True, True)
        assert len(said["steps"]) == len(e["proof"]["zeros_hold"]) + len(e["proof"]["ones"])
        assert all(step["flips"] == step["expected"] for step in said["steps"])
        lie = e | {"score": 1 - e["score"]}
        assert client.post("/api/verify", json={"explanation": lie}).json()["ok"] is False


def test_c1_what_was_changed_for_an_explanation_is_said_again(client: httpx2.Client) -> None:
    changed = {"fixed": ["late"], "bounds": {"income": [None, 60]}}
    e = client.post("/api/explain", json={"row": 4, **changed}).json()["explanation"]
    said = client.post("/api/verify", json={"explanation": e, **changed}).json()
    assert (said["ok"], said["decided"], said["problems"]) == (True, True, [])
    assert "queries" in said["not_checked"]
    said = client.post("/api/verify", json={"explanation": e}).json()
    assert said["ok"] is False
    assert "must be verified with the same" in " ".join(said["problems"])


def test_c2_a_file_that_takes_too_long_is_not_decided(client: httpx2.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flipset.serve.cases.PAGE_CHECK_STEPS", 0)
    e = client.post("/api/explain", json={"row": 4}).json()["explanation"]
    said = client.post("/api/verify", json={"explanation": e}).json()
    assert (said["ok"], said["decided"], said["steps"]) == (False, False, [])
    huge = e | {"proof": e["proof"] | {"d": 4_000_000_000}}
    answer = client.post("/api/verify", json={"explanation": huge})
    assert (answer.status_code, "proof.d must be" in answer.json()["error"]) == (400, True)


def test_a_report_can_be_filed(client: httpx2.Client) -> None:
    said = client.post("/api/report", json={"row": 3})
    assert said.headers["content-disposition"] == 'attachment; filename="flipset.html"'
    assert "row 3 of applications.csv" in said.text
    assert "<script" not in said.text


def test_the_space_with_some_of_it_changed(client: httpx2.Client) -> None:
    said = client.post("/api/space", json={"fixed": ["debt"], "bounds": {"income": [20, 50]}}).json()
    changed = EXPLAINER.space.with_changes(["debt"], {"income": (20, 50)})
    assert said == {"space": json.loads(changed.to_json()), "toml": changed.to_toml()}


REFUSED: list[tuple[str, dict[str, Any], int, str]] = [
    ("explain", {"row": 10_000}, 400, "there is no row 10000; the table has rows 0 to 239"),
    ("explain", {"row": 0, "values": {"nope": 1}}, 400, "there is no column 'nope'"),
    ("explain", {"values": {"income": 1}}, 400, "values have no 'savings'"),
    ("explain", {"row": 0, "values": {"income": "much"}}, 400, "feature 'income': the row has 'much'"),
    ("explain", {"row": 0, "fixed": ["nope"]}, 400, "'nope'"),
    ("explain", {"row": 0, "bounds": {"income": [90, 20]}}, 400, "income"),
    ("explain", {"row": 0, "wrong": 1}, 422, "Extra inputs"),
    ("explain", {"row": -1}, 422, "greater than or equal to 0"),
    ("frontier", {"row": 0, "features": ["age", "debt"]}, 400, "'age' cannot move"),
    ("verify", {"explanation": {}}, 400, "an explanation must be an object"),
    ("table", {"rows": [10_000]}, 400, "there is no row 10000"),
    ("explain", {"row": 0, "values": {"income": 10**400}}, 400, "expected a finite number"),
    ("explain", {"row": 0, "bounds": {"income": [None, 1e308]}}, 400, "904 steps of 1 between its bounds"),
    ("verify", {"explanation": {"format": "flipset-explanation/1"}}, 400, "the explanation has no"),
]


@pytest.mark.parametrize(("path", "body", "status", "words"), REFUSED)
def test_what_cannot_be_answered_is_said(
    client: httpx2.Client, path: str, body: dict[str, Any], status: int, words: str
) -> None:
    said = client.post(f"/api/{path}", json=body)
    assert said.status_code == status
    assert words in said.text.replace("\\\\", "")


@pytest.mark.parametrize("path", ["explain", "table", "frontier", "space", "report", "verify"])
@pytest.mark.parametrize("value", ["NaN", "1e999", "-Infinity", r'"\ud800"'])
def test_bodies_that_json_cannot_repeat_are_refused(client: httpx2.Client, path: str, value: str) -> None:
    for body in (f'{{"row": 0, "values": {{"income": {value}}}}}', value, f'{{"row": {value}}}', f"{{{value}: 1}}"):
        said = client.post(f"/api/{path}", content=body, headers={"content-type": "application/json"})
        assert said.status_code in (400, 422), (body, said.text)


def test_a_model_that_contradicts_itself_is_shown_with_two_rows() -> None:
    def odd(rows: Any) -> Any:
        return (rows["income"].to_numpy() > 80) & (rows["savings"].to_numpy() < 45)

    with running(Served(explainer(odd), FRAME)) as where, where.client() as client:
        said = [client.post("/api/explain", json={"row": row}) for row in range(20)]
    refused = [one.json() for one in said if one.status_code == 400]
    assert refused
    assert all(one["kind"] == "NotMonotone" and len(one["rows"]) == 2 for one in refused)


# --- the table --------------------------------------------------------------------------------------------------------


def rows(client: httpx2.Client, **query: Any) -> list[int]:
    found: list[int] = []
    while True:
        said = client.get("/api/rows", params={**query, "start": len(found), "count": 70}).raise_for_status().json()
        found += [row["row"] for row in said["rows"]]
        if len(found) == said["total"]:
            return found


def test_rows_are_found_and_sorted(client: httpx2.Client) -> None:
    finish(client)
    explained = [EXPLAINER.explain(row) for _, row in FRAME[COLUMNS].iterrows()]
    assert rows(client) == list(range(len(FRAME)))
    assert rows(client, decision="no") == [i for i, e in enumerate(explained) if not e.decision]
    assert rows(client, size="1") == [i for i, e in enumerate(explained) if e.size == 1]
    assert rows(client, size="none") == [i for i, e in enumerate(explained) if e.status == "none"]
    assert rows(client, search="FILE 17") == [i for i, note in enumerate(FRAME["note"]) if "file 17" in note]
    assert rows(client, by="region", group="south") == np.flatnonzero(FRAME["region"] == "south").tolist()
    wanted = [i for i, e in enumerate(explained) if any("debt" in names for names in e.flipsets)]
    assert rows(client, feature="debt") == wanted
    wanted = [i for i, e in enumerate(explained) if any("late" in names for names in e.reasons)]
    assert rows(client, feature="late", part="reason") == wanted
    ascending = FRAME["debt"].sort_values(kind="stable").index.tolist()
    assert rows(client, sort="debt") == ascending
    scores = [explained[i].score for i in rows(client, sort="@score", descending=True)]
    assert scores == sorted(scores, reverse=True)
    for query, words in (
        ({"sort": "nope"}, "no column 'nope'"),
        ({"size": "many"}, "size 'many'"),
        ({"feature": "x"}, "no feature 'x'"),
    ):
        said = client.get("/api/rows", params=query)
        assert (said.status_code, words in said.text) == (400, True)


def test_what_rows_say_together_is_the_librarys_summary(client: httpx2.Client) -> None:
    finish(client)
    summary = EXPLAINER.explain_table(FRAME[COLUMNS]).summary()
    said = client.get("/api/summary", params={"by": "region"}).json()
    for side, own in (("declined", summary.declined), ("approved", summary.approved)):
        shown = said["all"][side]
        assert (shown["outcome"], shown["rows"], shown["statuses"]) == (side, own.rows, own.statuses)
        assert shown["decision"] == (side == "approved")
        assert {one["size"]: one["rows"] for one in shown["sizes"]} == dict(own.sizes)
        assert (shown["one_change"], shown["mean_size"]) == (own.one_change, own.mean_size)
        for one in shown["features"]:
            assert one["some"] == own.in_some.get(one["name"], 0)
            assert one["all"] == own.in_all.get(one["name"], 0)
            assert one["reason"] == own.in_reasons.get(one["name"], 0)
    by_region = EXPLAINER.explain_table(FRAME[COLUMNS]).summary_by(FRAME["region"])
    assert said["reference"] == by_region.reference
    for group in said["groups"]:
        for side in ("declined", "approved"):
            figures = by_region.figures(group["group"], side)  # type: ignore[arg-type]
            said_figures = group["figures"][side]
            for name, figure in figures.items():
                if name != "mean_cost":  # the page finds no values, so it knows no costs
                    assert said_figures[name] == figure.cells()
    other = client.get("/api/summary", params={"by": "region", "reference": "south"}).json()
    assert other["reference"] == "south"
    refused = client.get("/api/summary", params={"by": "region", "reference": "east"})
    assert (refused.status_code, "'east' is not among the groups" in refused.text) == (400, True)
    assert [group["group"] for group in said["groups"]] == ["north", "south"]
    assert sum(group["rows"] for group in said["groups"]) == len(FRAME)


def test_odd_tables_are_shown_all_the_same() -> None:
    frame = applications(40)
    frame.loc[3, "age"] = np.nan
    frame.loc[4, "region"] = None
    frame["mixed"] = [1, "x", None, 2.5] * 10
    frame["lists"] = [[1, 2]] * 40
    frame["score"] = range(40)
    frame["id"] = [f"id {i}" for i in range(40)]
    frame[0] = 7
    frame.index = [0] * 40
    with running(Served(explainer(n=40), frame)) as where, where.client() as client:
        assert "0" in client.get("/api/about").raise_for_status().json()["columns"]
        everything = set(range(40))
        for column in frame.columns:
            for descending in (False, True):
                assert set(rows(client, sort=str(column), descending=descending)) == everything
        assert rows(client, sort="score", descending=True) == list(range(39, -1, -1))  # the column, not the model's
        assert rows(client, search="id 17") == [17]
        assert rows(client, by="region", group="missing") == [4]
        groups = client.get("/api/summary", params={"by": "region"}).json()["groups"]
        assert {group["group"] for group in groups} == {"north", "south", "missing"}
    with running(Served(explainer(n=400), applications(400).assign(id=range(400)))) as where, where.client() as client:
        said = client.get("/api/summary", params={"by": "id"})
        assert (said.status_code, "has 400 values" in said.text) == (400, True)


def test_one_row_that_cannot_be_scored_keeps_no_other_from_it() -> None:
    with running(Served(explainer(touchy), FRAME)) as where, where.client() as client:
        finish(client)
        failed = int((FRAME["age"] == FRAME["age"][5]).sum())
        assert len(rows(client, decision="yes")) + len(rows(client, decision="no")) == len(FRAME) - failed


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_a_model_that_wants_to_end_the_program_ends_the_background_at_most(error: type[BaseException]) -> None:
    asked = 0

    def fatal(frame: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked > 4:
            raise error
        return approve(frame)

    with running(Served(explainer(fatal), FRAME)) as where, where.client() as client:
        with client.stream("GET", "/api/progress") as events:
            last = [json.loads(line.removeprefix("data: ")) for line in events.iter_lines() if line][-1]
        assert last["failure"] or last["explained"] == last["rows"]  # it does not go on for ever


def test_infinite_scores_survive_the_way_there_and_back() -> None:
    def endless(frame: Any) -> Any:
        return np.where(approve(frame) >= 0.5, np.inf, -np.inf)

    with running(Served(explainer(endless), FRAME)) as where, where.client() as client:
        e = client.post("/api/explain", json={"row": 0}).json()["explanation"]
        assert e["score"] in ("inf", "-inf")
        assert client.post("/api/verify", json={"explanation": e}).json()["ok"] is True


def test_a_one_hot_group_is_one_that_moves(server: Running) -> None:
    frame = applications(40).assign(rents=[1, 0] * 20, owns=[0, 1] * 20)
    columns = ["income", "debt", "rents", "owns"]
    space = Space.from_frame(
        frame[columns], increasing=["income"], decreasing=["debt"], groups={"home": ["rents", "owns"]}
    )
    model = Explainer(lambda table: table["income"] - table["debt"] + 30 * table["owns"] >= 60, space)
    with running(Served(model, frame)) as where, where.client() as client:
        about = {one["name"]: one for one in client.get("/api/about").json()["features"]}
        assert (about["rents"]["one_hot"], about["rents"]["movable"]) == (True, True)
        assert client.post("/api/explain", json={"row": 0, "fixed": ["home"]}).status_code == 200


@pytest.fixture
def ruled() -> Iterator[httpx2.Client]:
    """A server of a space with constraints and computed columns; row 8 keeps the rules."""
    with running(Served(ruled_explainer(), table())) as where, where.client() as client:
        yield client


def test_what_follows_from_an_option_is_said(ruled: httpx2.Client) -> None:
    said = ruled.post("/api/explain", json={"row": 8}).json()
    assert said["explanation"] == json.loads(ruled_explainer().explain(ROW).to_json())
    first = said["explanation"]["counterfactuals"][0]
    assert [one["feature"] for one in first["consequences"]] == ["dti"]
    assert said["text"]["options"][0]["consequences"] == ["(then debt-to-income ratio: 0.75 → 0)"]
    assert said["text"]["broken"] == ""


def test_computed_columns_follow_the_cells_of_a_what_if(ruled: httpx2.Client) -> None:
    asked = {"row": 8, "values": {"income": 50, "years": 5}}
    found = ruled.post("/api/explain", json=asked).json()["explanation"]
    assert (found["row"]["dti"], found["row"]["age"]) == (0.6, 34)
    expected = ruled_explainer().explain(ROW | {"income": 50, "years": 5, "dti": 0.6, "age": 34})
    assert found == json.loads(expected.to_json())
    assert ruled.post("/api/report", json=asked).status_code == 200
    pair = ruled.post("/api/frontier", json={**asked, "features": ["income", "years"]})
    alone = ruled_explainer().frontier(expected.row, ("income", "years"))
    assert pair.json()["points"] == [list(point) for point in alone.points]
    # A computed column that is given is explained as it is given, or refused.
    refused = ruled.post("/api/explain", json={"row": 8, "values": {"income": 50, "dti": 0.9}})
    assert refused.status_code == 400
    assert "the derived column 'dti' is 0.9 in this row" in refused.json()["error"]
    divided = ruled.post("/api/explain", json={"row": 8, "values": {"income": 0}})
    assert divided.status_code == 400
    assert "a division by 0 in debt / income" in divided.json()["error"]


def test_a_what_if_that_breaks_a_rule_is_explained_with_a_note(ruled: httpx2.Client) -> None:
    said = ruled.post("/api/explain", json={"row": 8, "values": {"late_90": 4}}).json()
    assert said["explanation"] == json.loads(ruled_explainer().explain(BROKEN).to_json())
    assert said["text"]["broken"].endswith("no option makes that worse: late_90 <= late_60.")
    assert ruled.post("/api/verify", json={"explanation": said["explanation"]}).json()["ok"] is True


def test_the_page_is_told_which_columns_are_computed(ruled: httpx2.Client) -> None:
    about = ruled.get("/api/about").json()
    assert about["constraints"] == list(CONSTRAINTS)
    computed = {one["name"]: one["computed"] for one in about["features"] if one["computed"] is not None}
    assert computed == {"dti": "computed: debt / income", "age": "computed: age + (years - years.before)"}


def test_a_function_has_no_formula_to_show() -> None:
    space = Space([*ruled_space(with_rules=False).features], derived={"dti": lambda row: row["debt"] / row["income"]})
    assert about_feature(space["dti"], space)["computed"] == "computed from other columns"


def test_rows_in_sight_are_explained_first() -> None:
    permits = Semaphore(0)

    def slow(frame: Any) -> Any:
        permits.acquire()
        return approve(frame)

    frame = applications(2_000)
    with running(Served(explainer(slow, 2_000), frame)) as where, where.client() as client:
        client.get("/api/rows", params={"start": 1_900, "count": 40})
        permits.release(100_000)
        while not client.get("/api/progress", params={"once": True}).json()["explained"]:
            pass
        seen = client.get("/api/rows", params={"start": 1_900, "count": 40}).json()["rows"]
        assert sum(row["status"] != "waiting" for row in seen) > 0


def test_a_model_that_fails_on_some_rows_leaves_the_others() -> None:
    with running(Served(explainer(touchy), FRAME)) as where, where.client() as client:
        progress = finish(client)
        failed = client.get("/api/rows", params={"size": "error", "count": 1}).json()
    assert progress["failure"] == ""
    assert failed["total"] == int((FRAME["age"] == FRAME["age"][5]).sum())
    assert "not this age" in failed["rows"][0]["error"]


# --- many clients -----------------------------------------------------------------------------------------------------


def ask_much(server: Running, seed: int, times: int) -> int:
    rng = np.random.default_rng(seed)
    with server.client() as client:
        for _ in range(times):
            row, income = int(rng.integers(len(FRAME))), int(rng.integers(10, 100))
            said = client.post("/api/explain", json={"row": row, "values": {"income": income}})
            assert said.status_code == 200, said.text
            expected = EXPLAINER.explain({**FRAME[COLUMNS].iloc[row].to_dict(), "income": income})
            assert said.json()["explanation"]["flipsets"] == [list(names) for names in expected.flipsets]
    return times


@pytest.mark.parametrize("times", [2, pytest.param(60, marks=pytest.mark.campaign)])
def test_sixty_four_clients_at_once(server: Running, times: int) -> None:
    with ThreadPoolExecutor(64) as pool:
        assert sum(pool.map(lambda seed: ask_much(server, seed, times), range(64))) == 64 * times


def test_too_many_are_told_to_come_back(monkeypatch: pytest.MonkeyPatch, client: httpx2.Client) -> None:
    def full(*_: Any) -> None:
        raise Busy

    monkeypatch.setattr("flipset.serve.jobs.Workers._submit", full)
    said = client.post("/api/explain", json={"row": 0})
    assert (said.status_code, said.headers["retry-after"]) == (503, "2")


def test_a_client_that_goes_away_stops_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    entered, noticed, release = Event(), Event(), Event()
    asked: list[int] = []

    class Watched(Event):
        def set(self) -> None:
            super().set()
            noticed.set()

    def slow(frame: Any) -> Any:
        if (frame["age"] == 33.25).any():  # the client's row, and no other
            asked.append(len(frame))
            entered.set()
            assert release.wait(PATIENCE)
        return approve(frame)

    with running(Served(explainer(slow), FRAME)) as where:
        monkeypatch.setattr("flipset.serve.jobs.Event", Watched)
        body = json.dumps({"row": 0, "values": {"age": 33.25}}).encode()
        head = (
            f"POST /api/explain HTTP/1.1\r\nHost: 127.0.0.1:{where.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", where.port)) as line:
            line.sendall(head.encode() + body)
            assert entered.wait(PATIENCE)
        assert noticed.wait(PATIENCE)
        release.set()
        with where.client() as client:  # the next one is served, and the work of the first has ended
            client.post("/api/explain", json={"row": 1}).raise_for_status()
    assert asked == [1]


def test_an_explanation_from_the_page_is_one_for_the_library(client: httpx2.Client) -> None:
    said = client.post("/api/explain", json={"row": 11}).json()["explanation"]
    assert EXPLAINER.verify(Explanation.from_json(json.dumps(said)))

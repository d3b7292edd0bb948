"""The page, by the JSON that it and programs ask for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from flipset.serve import Served
from tests.pins.tables import Table, half_and_half, loans
from tests.pins.transcripts import APART, Case, Seen, Transcript, numbered, plain, transcript
from tests.serve.running import running

LIMITS: tuple[dict[str, Any], ...] = (
    {},
    {"fixed": ["income"]},
    {"bounds": {"income": [None, 60], "debt": [10, None]}},
    {"max_changes": 1},
    {"objective": "cost"},
)


@contextmanager
def page(table: Table) -> Iterator[tuple[Any, Seen]]:
    """Serve a table; nothing is explained but what is asked for."""
    seen = Seen(table.model)
    served = Served(table.explainer(seen), table.rows, "lender", "loans.csv", "sha256:0", eager=False)
    with running(served) as where, where.client() as client:
        yield client, seen


def of_answer(said: Any) -> Transcript:
    """Return an explanation as the page gives it, without its words; of a refusal the code."""
    if said.status_code != 200:
        return transcript({"code": said.status_code, "kind": said.json().get("kind")})
    e = said.json()["explanation"]
    answer = {name: value for name, value in e.items() if name not in APART}
    return transcript(answer, e["reasons"], e["proof"], {"queries": e["queries"], "rounds": e["rounds"]})


def drawn(what: str, i: int) -> Table:
    return (loans if i % 2 else half_and_half)(f"page/{what}", i)


def explained(i: int) -> Transcript:
    """Explain a row, with limits."""
    with page(drawn("explain", i)) as (client, seen):
        done = of_answer(client.post("/api/explain", json={"row": i, **LIMITS[i % len(LIMITS)]}))
        done["asked"] = seen.calls
    return done


def what_if(i: int) -> Transcript:
    """Explain a row with other cells in the place of its own."""
    with page(drawn("what-if", i)) as (client, seen):
        values = {"income": 20 + i, "debt": 40 - i, "job": "part"}
        done = of_answer(client.post("/api/explain", json={"row": i, "values": values}))
        done["asked"] = seen.calls
    return done


def replayed(i: int) -> Transcript:
    """Explain a row, and check the proof again."""
    with page(drawn("replay", i)) as (client, seen):
        said = client.post("/api/explain", json={"row": i})
        done = of_answer(said)
        asked = len(seen.calls)
        if said.status_code == 200:
            held = client.post("/api/verify", json={"explanation": said.json()["explanation"]}).json()
            done["answer"] = [done["answer"], held["ok"], held["decided"], held["checked"], sorted(held["not_checked"])]
            done["proof"] = [done["proof"], held["steps"]]
        done["cost"] = [done["cost"], len(seen.calls) - asked]
        done["asked"] = seen.calls
    return done


def several(i: int) -> Transcript:
    """Explain several rows at once, one of them with cells of its own; and the staircase of two features."""
    table = drawn("several", i)
    own = {name: plain(table.rows[name].iloc[2]) for name in table.space.names}
    with page(table) as (client, seen):
        said = client.post("/api/table", json={"rows": [0, 5, own, 3], **LIMITS[i % len(LIMITS)]}).json()
        parts = [one.get("explanation", {"kind": one.get("kind")}) for one in said.get("results", [said])]
        corner = client.post("/api/frontier", json={"row": 1, "features": ["income", "debt"]})
        points = corner.json().get("points", corner.status_code)
    answer = [{name: value for name, value in one.items() if name not in APART} for one in parts]
    rest = [[one.get(name) for one in parts] for name in APART]
    return transcript([answer, points], rest[0], rest[1], rest[2:], seen.calls)


WAYS: dict[str, Callable[[int], Transcript]] = {
    "explain": explained,
    "what-if": what_if,
    "replay": replayed,
    "several": several,
}


def cases() -> Iterator[tuple[str, Case]]:
    for name, way in WAYS.items():
        yield from numbered(f"page/{name}", 5, partial(way))

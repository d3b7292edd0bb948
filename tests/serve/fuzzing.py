"""Requests that are nearly right: real ones of every route, with parts changed, removed, repeated or made huge."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from tests.serve.running import EXPLAINER, cells_of

if TYPE_CHECKING:
    from random import Random

DEEPEST = 10
"""Levels below which nothing is changed; what was nested deeply before stays as it is."""

HUGE: tuple[Any, ...] = (10**400, -(10**400), 10**4000, 1e308, -1e308, 2**63, -(2**63) - 1, 5e-324)
TEXTS = (
    "",
    "\ud800",
    "\udfff",
    "\x00",
    "é" * 50,
    "a" * 600,
    "NaN",
    "1e999",
    "__proto__",
    "income\n",
    "'; --",
    "%",
    "٣",
)
OTHERS: tuple[Any, ...] = (None, True, False, 0, -1, 1.5, [], {}, [[]], {"": None}, [None] * 3, {"float": "inf"})
RAW = (b"", b"{", b"[" * 20_000, b"\xff\xfe", b"null", b"NaN", b'"\\ud800"', b'{"row": 1e999}', b'{"row": 0, "row": 1}')
CONTENT_TYPES = (
    "application/json",
    "text/plain",
    "application/x-www-form-urlencoded",
    "",
    "application/json; charset=x",
)
PATHS = ("explain", "frontier", "table", "verify", "report", "space", "background")
QUERIES: dict[str, tuple[str, ...]] = {
    "rows": ("decision", "size", "feature", "part", "by", "group", "search", "sort", "descending", "start", "count"),
    "row": ("row",),
    "summary": ("by", "reference"),
    "about": (),
    "progress": ("once",),
}


def bodies() -> dict[str, list[Any]]:
    """A valid body or two for each route that takes one."""
    cells = cells_of(2)
    e = json.loads(EXPLAINER.explain(cells).to_json())
    changes = {"fixed": ["late"], "bounds": {"income": [None, 60], "debt": [10, None]}}
    return {
        "explain": [{"row": 3, **changes, "max_changes": 2, "objective": "cost"}, {"values": cells}],
        "frontier": [{"row": 3, "features": ["income", "debt"], **changes}],
        "table": [{"rows": [0, cells, 5], **changes}],
        "verify": [{"explanation": e}, {"explanation": e, **changes}],
        "report": [{"row": 3, "values": {"income": 20}}],
        "space": [changes],
        "background": [{"everything": False}],
    }


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all parts of a value."""
    found = [path]
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts if len(path) < DEEPEST else ():
        found += places(part, (*path, key))
    return found


def change(value: Any, rng: Random) -> Any:
    """Change one part of a value."""
    path = rng.choice(places(value))
    # A copy: what is put in may be changed next, and a list that got into itself would have endless parts.
    new = deepcopy(rng.choice((rng.choice(HUGE), rng.choice(TEXTS), rng.choice(OTHERS))))
    if not path:
        return new
    inside = value
    for key in path[:-1]:
        inside = inside[key]
    key = path[-1]
    match rng.randrange(5), inside:
        case 0, dict() | list():
            del inside[key]
        case 1, dict():
            inside[rng.choice(TEXTS)] = inside.pop(key)
        case 2, list():
            inside += inside * rng.randrange(1, 40)
        case 3, _:
            for _ in range(rng.choice((1, 5, 2_000))):
                new = [new] if rng.random() < 0.5 else {"a": new}
            inside[key] = new
        case _:
            inside[key] = new
    return value


def draw_body(path: str, rng: Random, valid: dict[str, list[Any]]) -> bytes:
    """Return a body for a route that takes one."""
    if rng.random() < 0.1:
        return rng.choice(RAW)
    value = json.loads(json.dumps(rng.choice(valid[path])))
    for _ in range(rng.choice((1, 1, 2, 4))):
        value = change(value, rng)
    try:
        text = json.dumps(value)
    except (RecursionError, ValueError):  # nested too deeply, or too many digits, to be written
        return b"[" * 3_000
    body = bytearray(text.encode())
    if rng.random() < 0.1 and body:
        body[rng.randrange(len(body))] = rng.randrange(256)
    return bytes(body)


def draw_query(path: str, rng: Random) -> list[tuple[str, str]]:
    """Return the query of a route without a body."""
    values = [*map(str, HUGE[:2]), *TEXTS, "income", "@score", "1", "true", "yes", "none", "-5", "region", "a" * 501]
    encodable = [value.encode("utf-8", "replace").decode() for value in values]
    names = [*QUERIES[path], "nope"]
    return [(rng.choice(names), rng.choice(encodable)) for _ in range(rng.randrange(4))]

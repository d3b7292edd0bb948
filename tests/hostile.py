"""Files as strangers write them: values of the wrong type, huge numbers, deep nesting, missing and repeated parts."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any

HOSTILE: list[Any] = [
    None, True, False, 0, -1, 1, 0.5, -0.0, 1e308, -1e308, 5e-324, 2**63, 10**299, -(10**301), 10**400,
    float("nan"), float("inf"), "", " ", "x", "inf", "nan", "1e100000000", "\ud800", "\udfff\ud800", "\x00", "é" * 3,
    "y" * 100_001, [], [[]], {}, [None], {"": 1}, {"float": "nan"}, {"float": 1}, {"decimal": "1e100000000"},
    {"decimal": "sNaN"}, {"date": "2026-13-01"}, {"datetime": "2026-01-31T00:00:00+00:00"}, {"date": "2026-01-31"},
    {"decimal": "1." + "0" * 1_000}, [1, 1], ["a", "a"], {"name": "x"},
]  # fmt: skip
"""Values that a field may have instead of its own."""

DEEP = "@deep@"
"""Stands for lists within lists, which cannot be made as values: they are put into the text."""


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in a JSON value with each of its keys."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(inside):
        yield value, key
        yield from places(part)


def spoil(value: Any, rng: Random) -> None:
    """Change one place of a JSON value."""
    found = list(places(value))
    if not found:
        return
    at, key = rng.choice(found)
    what = rng.randrange(7)
    if what == 0:
        del at[key]
    elif what == 1:
        other, place = rng.choice(found)
        at[key], other[place] = deepcopy(other[place]), deepcopy(at[key])
    elif what == 2 and isinstance(at, list):
        at.insert(key, deepcopy(at[key]))
    elif what == 3 and isinstance(at, dict):
        at[rng.choice(["", "x", "format", key + " ", "\ud800"])] = deepcopy(at[key])
    elif what == 4:
        at[key] = rng.choice([[at[key]], {"a": at[key]}, str(at[key])])
    elif what == 5:
        at[key] = DEEP
    else:
        at[key] = deepcopy(rng.choice(HOSTILE))


def nudge(value: Any, rng: Random) -> None:
    """Change one place of a JSON value to another of the same type, so that it is often read."""
    found = list(places(value))
    at, key = rng.choice(found)
    old = at[key]
    alike = [container[place] for container, place in found if type(container[place]) is type(old)]
    if isinstance(old, list) and rng.random() < 0.5:
        at[key] = rng.choice([old[::-1], old[1:], old + old[:1]])
    elif isinstance(old, bool) or not isinstance(old, (int, float)) or rng.random() < 0.3:
        at[key] = deepcopy(rng.choice(alike)) if not isinstance(old, bool) else not old
    else:
        at[key] = rng.choice([old + 1, -old, 0, old * 2, old * 1_000_003, 1e300, 10**290, 0.1, 1e-99])


def spoil_text(text: str, rng: Random) -> str:
    """Change a text, without regard to what it means."""
    i, j = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    match rng.randrange(6):
        case 0:
            return text[:i]
        case 1:
            return text[:i] + text[j:]
        case 2:
            return text[:i] + rng.choice('[]{}",:0eE-.\\\n#=\x00\ud800') + text[i:]
        case 3:
            return text[:j] + text[i:]
        case 4:
            number = rng.choice(["9" * 400, "9" * 5_000, "1e999", "NaN", "-Infinity"])
            return text.replace("1", number, rng.randrange(1, 4))
        case _:
            return text.replace('": ', '": 1, "x": 1, "x": ' if rng.random() < 0.5 else '":', 1)


def json_files(data: Any, rng: Random) -> str:
    """Return a text that was made from a JSON value by one to three changes."""
    value = deepcopy(data)
    change = rng.choice([spoil, nudge])
    for _ in range(rng.randrange(1, 4)):
        change(value, rng)
    if change is nudge:
        return json.dumps(value)
    text = json.dumps(value).replace(f'"{DEEP}"', "[" * 3_000 + "]" * 3_000)
    return spoil_text(text, rng) if rng.random() < 0.2 else text


def toml_files(text: str, rng: Random) -> str:
    """Return a TOML text with some of its values changed."""
    lines = text.split("\n")
    for _ in range(rng.randrange(1, 4)):
        i = rng.randrange(len(lines))
        name, equals, _ = lines[i].partition(" = ")
        if equals and rng.random() < 0.8:
            lines[i] = f"{name} = {rng.choice(TOML)}"
        elif rng.random() < 0.5:
            lines.insert(i, rng.choice(lines))
        else:
            lines[i] = rng.choice(["[[feature]]", "[[group]]", "[feature]", "x.y = 1", "a" + ".a" * 200 + " = 1", ""])
    changed = "\n".join(lines)
    return spoil_text(changed, rng) if rng.random() < 0.2 else changed


TOML = [
    "true", "false", "1", "-1", "0", "1.5", "1e400", "inf", "-inf", "nan", "9" * 400, "9" * 5_000, '""', '"x"', "[]",
    "[1]", '[["a"]]', "[1, true, 'x']", "{a = 1}", "2026-01-31", "2026-01-31T12:00:00", "12:00:00", '"\\u0000"',
    "[" * 2_000 + "]" * 2_000, "5e-324", "1e308", '"' + "y" * 100_001 + '"', "[0, 1]", '["a", "b"]', "['a', 'a']",
    "[inf]", '"binary"', '"ordinal"', '"categorical"', '"integer"', '"numeric"', "0x10", "1_000",
]  # fmt: skip
"""Values that a line of a TOML file may have instead of its own."""


def only_own_errors(read: Callable[[], Any], own: type[Exception]) -> str:
    """Run a function; return "read", or "refused" where it raised one of its own errors. Fail for any other."""
    try:
        read()
    except own as error:
        assert len(str(error)) < 5_000, f"an error of {len(str(error)):,} characters"
        return "refused"
    return "read"


def hostile_explanation(units: int, options: int = 1, **fields: Any) -> Any:
    """Return an explanation of many units, as an attacker writes it."""
    names = [f"x{i}" for i in range(units)]
    data = {
        "format": "flipset-explanation/1", "decision": False, "score": 0, "threshold": 0.5, "status": "stopped",
        "size": None, "lower": 1, "upper": None, "flipsets": [], "reasons": [], "counterfactuals": [], "held_fixed": [],
        "contradictions": [], "grids": {}, "row": dict.fromkeys(names, 0), "queries": 1, "rounds": 1,
        "proof": {"format": "flipset-proof/1", "d": units, "ones": [], "zeros_hold": []},
        "moves": [{"name": name, "columns": [name], "ordered": options == 1, "weight": 1,
                   "options": [{name: k} for k in range(1, options + 1)]} for name in names],
    }  # fmt: skip
    return data | fields

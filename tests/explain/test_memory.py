"""What the explanations of a table keep: their own values, and everything else once."""

import gc
import json
import pickle
import sys
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Explanation, Explanations, Space
from flipset.results.from_json import read_explanation
from flipset.space.shared import Shared

NAMES = ("a", "b", "c", "d")
MOST_BYTES = {"explained": 2_600, "read": 2_600, "pickled": 3_200}
"""The most that one more explanation may take, with four columns and four counterfactuals. With moves and sets of their
own, explanations took more than 10,000. Pickle does not know which floats are one object, so it makes more of them."""


def table(n: int) -> Any:
    return pd.DataFrame(np.random.default_rng(0).normal(size=(n, 4)), columns=list(NAMES))


def score(rows: Any) -> Any:
    # Column by column: a matrix product may round a row differently among other rows.
    a, b, c, d = np.asarray(rows).T
    return a + 0.9 * b + 0.8 * c + 0.7 * d


def explainer() -> Explainer:
    return Explainer(score, Space.from_frame(table(400), increasing=NAMES), threshold=0.5)


def reachable(*roots: Any) -> dict[int, Any]:
    """All objects that are reached from these, apart from classes, functions and modules."""
    found: dict[int, Any] = {}
    waiting = list(roots)
    while waiting:
        one = waiting.pop()
        if id(one) not in found and not isinstance(one, (type, FunctionType, ModuleType)):
            found[id(one)] = one
            waiting += gc.get_referents(one)
    return found


def size_of_more(results: Any) -> float:
    """The bytes that an explanation takes besides what the first ones have already."""
    known = reachable(*results[:100])
    more = reachable(*results[100:])
    return sum(sys.getsizeof(one) for i, one in more.items() if i not in known) / len(results[100:])


def explained_and_read() -> dict[str, list[Explanation]]:
    t = explainer().explain_table(table(400))
    explained = [e for e in t if isinstance(e, Explanation)]
    assert len(explained) == 400
    shared = Shared()
    read = [Explanation(**read_explanation(json.loads(e.to_json()), shared)) for e in explained]
    assert read == explained
    return {"explained": explained, "read": read, "pickled": pickle.loads(pickle.dumps(explained))}


@pytest.fixture(scope="module")
def tables() -> dict[str, list[Explanation]]:
    return explained_and_read()


@pytest.mark.parametrize("source", ["explained", "read", "pickled"])
def test_c8_an_explanation_of_a_table_takes_little_memory(tables: dict[str, list[Explanation]], source: str) -> None:
    assert size_of_more(tables[source]) < MOST_BYTES[source]


@pytest.mark.parametrize("source", ["explained", "read", "pickled"])
def test_c8_explanations_of_a_table_have_equal_parts_in_common(
    tables: dict[str, list[Explanation]], source: str
) -> None:
    parts = ("flipsets", "reasons", "held_fixed", "held_because", "own_bounds", "moves", "proof", "grids", "words")
    for part in parts:
        values = [getattr(e, part) for e in tables[source]]
        different = {repr(value) for value in values}
        assert len({id(value) for value in values}) == len(different) < 100, part
    first, second = tables[source][:2]
    assert first.row is not second.row


def test_c8_cells_that_do_not_change_are_the_rows_own(tables: dict[str, list[Explanation]]) -> None:
    for e in tables["explained"] + tables["read"]:
        for one in e.counterfactuals:
            changed = {change.feature for change in one.changes}
            assert all(one.row[name] is e.row[name] for name in NAMES if name not in changed)
            assert all(change.before is e.row[change.feature] for change in one.changes)
            assert all(change.after is one.row[change.feature] for change in one.changes)


def test_c8_explanations_alone_and_in_a_table_are_written_alike(tables: dict[str, list[Explanation]]) -> None:
    alone = explainer()
    for e, (_, row) in zip(tables["explained"][:20], table(400).iterrows(), strict=False):
        one = alone.explain(row)
        assert (one.flipsets, one.counterfactuals, one.moves) == (e.flipsets, e.counterfactuals, e.moves)
        assert Explanation.from_json(e.to_json()).moves == e.moves
        assert alone.verify(e)


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
@pytest.mark.parametrize("long", [False, True])
def test_c8_files_are_written_row_by_row(
    tables: dict[str, list[Explanation]], tmp_path: Path, ending: str, long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if long and ending == ".jsonl":
        return
    t = Explanations(tuple(tables["explained"]), NAMES, 0, 0)
    lines = len(t.to_long_dict()["row"]) if long else len(t)
    for name in ("to_dict", "to_long_dict"):
        monkeypatch.delattr(Explanations, name)  # these make the whole table at once
    t.write(tmp_path / f"t{ending}", long=long)
    text = (tmp_path / f"t{ending}").read_text(encoding="utf-8")
    assert len(text.splitlines()) == lines + (ending == ".csv")

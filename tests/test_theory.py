"""docs/theory.md keeps its word: symbols import, tests exist, and no answer depends on how it was found."""

import ast
import importlib
import re
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, Literal

import numpy as np
import pytest

from flipset import Explainer, Explanation, Feature, Space, find_flipsets, range_share
from flipset.paper import find_optimal
from flipset.protocol import flips_of
from flipset.search import guided_search
from flipset.testing import is_minimal_certificate
from tests.search.table.test_search import bumpy, draw, ordered_space

ROOT = Path(__file__).parent.parent
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "theory.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and "`flipset." in line
]


def test_the_table_is_there() -> None:
    assert len(ROWS) >= 20


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_symbol_and_every_test_exists(row: list[str]) -> None:
    _, symbols, tests = row
    for symbol in re.findall(r"`(flipset\.[\w.]+)`", symbols):
        module, _, name = symbol.rpartition(".")
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError:  # a method: module.Class.method
            module, _, owner = module.rpartition(".")
            found = getattr(importlib.import_module(module), owner)
        assert hasattr(found, name), symbol
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", tests)
    assert named, f"no test for {row[0]}"
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, f"{path}::{name}"


# --- claims that are about several parts together ---------------------------------------------------------------------


HOW: list[dict[str, Any]] = [{}, {"batch": 1}, {"batch": 8}, {"max_seconds": 3600}, {"max_queries": 10**6}]


def answer(e: Any) -> tuple[Any, ...]:
    """All of an explanation that does not say how it was found."""
    assert isinstance(e, Explanation)
    assert e.proof.check(e.proof.d)
    return e.status, e.size, e.flipsets, e.reasons, e.counterfactuals


@pytest.mark.parametrize("labels", [False, True])
def test_the_choice_of_the_search_changes_no_answer(labels: bool) -> None:
    sizes = set()
    for seed in range(10):
        d = 3 + seed % 5
        scores = bumpy(seed, d)
        explainer = Explainer((lambda rows, f=scores: f(rows) >= 0.5) if labels else scores, ordered_space(d))
        rows = np.random.default_rng(seed).integers(0, 10, (4, d))
        frugal = explainer.explain_table(rows, max_table_queries=10**9)  # by the guided search
        for row, together, one in zip(rows, explainer.explain_table(rows), frugal, strict=True):
            expected = answer(together)
            assert answer(one) == expected, seed
            for how in HOW:
                assert answer(explainer.explain(row, **how)) == expected, (seed, how)
            sizes.add(expected[1])
    assert sizes >= {1, 2, 3}


def test_reasons_follow_from_the_function_alone() -> None:
    searches: list[Any] = [guided_search, find_optimal]
    for seed in range(150):
        rng = Random(seed)
        d = rng.randint(1, 8)
        g, margin = draw(rng, d)

        def flips(sets: Any, margin: Any = margin) -> list[float]:
            return [float(margin(flips_of(features))) for features in sets]

        first, few = (find_flipsets(flips, d, reasons=wanted) for wanted in ("all", True))
        assert first.proof.check(d)
        assert few.proof.check(d)
        for search in searches:
            for batch in (1, 8, 64):
                found = find_flipsets(flips, d, search=search, batch=batch, reasons="all")
                assert found.proof == first.proof, (seed, batch)
                found = find_flipsets(flips, d, search=search, batch=batch)
                assert found.certificates == few.certificates, (seed, batch)
        if first.status == "optimal":
            assert all(
                is_minimal_certificate(g, flips_of(reason), d) for reason in (*first.certificates, *few.certificates)
            ), seed


def test_of_points_that_cost_the_same_the_rule_takes_one() -> None:
    """Whole weights and equal ranges make many points of one cost; the rule is the least by cost, then by column."""
    d, top = 3, 5
    space = Space([Feature(f"x{i}", "integer", direction=+1, lower=0, upper=top) for i in range(d)])
    tied = 0
    for seed in range(40):
        rng = Random(seed)
        weights = np.array([rng.randint(1, 3) for _ in range(d)])
        enough = rng.randint(2, int(weights.sum()) * top)
        explainer = Explainer(lambda rows, w=weights, t=enough: rows @ w >= t, space, cost=range_share)
        points = [p for p in product(range(top + 1), repeat=d) if np.dot(p, weights) >= enough]
        for batch in (1, 32):
            for one in explainer.explain([0] * d, batch=batch).counterfactuals:
                moved = [i for i in range(d) if f"x{i}" in one.flipset]
                inside = [p for p in points if all(p[i] == 0 for i in range(d) if i not in moved)]
                tied += [sum(p) for p in inside].count(min(map(sum, inside))) > 1
                assert tuple(one.row.values()) == min(inside, key=lambda p: (sum(p), p)), (seed, batch)
    assert tied > 20


def drawn_rules(rng: Random, names: list[str]) -> list[tuple[str, Any]]:
    """Draw constraints, each with a function that says whether a row keeps it, given the row before."""
    found: list[tuple[str, Any]] = []
    for _ in range(rng.randint(1, 3)):
        a, b, c = (rng.choice(names) for _ in range(3))
        if a == b or c in (a, b):
            continue
        plus = rng.randint(-1, 3)

        def at_most(left: Any, right: Any) -> Any:
            return lambda row, before: left(row) - right(row) <= max(0, left(before) - right(before))

        found += rng.choice([
            [(f"{a} <= {b} + {plus}", at_most(lambda r, a=a: r[a], lambda r, b=b, plus=plus: r[b] + plus))],
            [(f"{a} <= {b} + {c}", at_most(lambda r, a=a: r[a], lambda r, b=b, c=c: r[b] + r[c]))],
            [(
                f"{a} == 0 implies {b} > 1",
                lambda r, o, a=a, b=b: r[a] != 0 or r[b] > 1 or (o[a] == 0 and o[b] <= 1),
            )],
            [(f"if {a} moves then {b} moves", lambda r, o, a=a, b=b: r[a] == o[a] or r[b] != o[b])],
        ])  # fmt: skip
    return found


def test_with_rules_the_answers_are_those_among_allowed_rows() -> None:
    top, sizes = 4, set()
    for seed in range(120):
        rng = Random(seed)
        names = list("abcd"[: rng.randint(3, 4)])
        signs: dict[str, Literal[1, -1]] = {name: rng.choice([1, -1]) for name in names}
        rules = drawn_rules(rng, names)
        before = {name: rng.randint(0, top) for name in names}
        weights = np.array([signs[name] * rng.randint(1, 3) for name in names])
        enough = int(weights @ list(before.values())) + rng.randint(1, 9)
        features = [Feature(name, "integer", direction=signs[name], lower=0, upper=top) for name in names]
        space = Space(features, constraints=[text for text, _ in rules])
        options: dict[tuple[str, ...], list[tuple[int, dict[str, int]]]] = {}
        for values in product(range(top + 1), repeat=len(names)):
            row = dict(zip(names, values, strict=True))
            moved = tuple(name for name in names if row[name] != before[name])
            improves = all((row[name] - before[name]) * signs[name] >= 0 for name in names)
            if improves and weights @ values >= enough and all(keeps(row, before) for _, keeps in rules):
                options.setdefault(moved, []).append((sum(abs(row[name] - before[name]) for name in names), row))
        size = min(map(len, options), default=None)
        smallest = {moved: min(cost for cost, _ in rows) for moved, rows in options.items() if len(moved) == size}
        explainer = Explainer(lambda rows, w=weights, t=enough: rows @ w >= t, space, cost=range_share)
        for batch in (1, 32):
            e = explainer.explain(before, batch=batch)
            assert set(e.flipsets) == set(smallest), (seed, batch)
            found = {tuple(sorted(one.flipset)): one for one in e.counterfactuals}
            for moved, one in found.items():
                assert one.cost == pytest.approx(smallest[moved] / top), (seed, batch)
                assert one.row in [row for _, row in options[moved]], (seed, batch)
        sizes.add(size)
    assert sizes >= {None, 1, 2, 3}

"""What many explanations say together, one decision at a time, counted in parts that can be added up; sets as text."""

from dataclasses import dataclass
from fractions import Fraction
from math import isnan
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import InputError
from flipset.results.summary import Counts, Part, read_sets, write_sets
from flipset.space.words import Decision

names = st.text(min_size=1, max_size=6)


@given(st.lists(st.lists(names, min_size=1, max_size=3).map(tuple), max_size=4))
def test_sets_are_read_as_they_were_written(sets: list[tuple[str, ...]]) -> None:
    assert read_sets(write_sets(sets)) == sets


@dataclass(frozen=True)
class Row:
    """What a summary takes of an explanation."""

    decision: bool
    status: str
    size: float | None
    sets: list[list[str]]
    reasons: list[list[str]]
    cost: float | None


def rows(seed: int, n: int = 60) -> list[Row]:
    rng = Random(seed)
    found = []
    for _ in range(n):
        status = rng.choice(["optimal", "optimal", "optimal", "none", "stopped", "unproved"])
        # A search that was stopped may have found sets, which need not be the smallest.
        has_sets = status == "optimal" or (status == "stopped" and rng.random() < 0.5)
        sets = [rng.sample("abcd", rng.randint(1, 2)) for _ in range(rng.randint(1, 3))] if has_sets else []
        size = rng.choice([1, 2, 2.5]) if status == "optimal" else None
        cost = rng.random() * 10 ** rng.randint(-6, 6) if status == "optimal" and rng.random() < 0.8 else None
        found.append(Row(rng.random() < 0.4, status, size, sets, [rng.sample("abcd", 1)], cost))
    return found


def count(given: list[Row]) -> Counts:
    counts = Counts()
    for row in given:
        counts.add(row.decision, row.status, row.size, row.sets, row.reasons, basis="assumed", cost=row.cost)
    return counts


@pytest.mark.parametrize("favorable", ["above", "below"])
@pytest.mark.parametrize("seed", range(5))
def test_every_figure_is_of_the_rows_with_one_decision(seed: int, favorable: str) -> None:
    given = rows(seed)
    counts = count(given)
    counts.add_error()
    counts.add_error(contradicts=True)
    counts.add_error(not_begun=True)
    summary = counts.summary(Decision(favorable=favorable, outcomes=("bad", "good")))  # type: ignore[arg-type]
    assert (summary.rows, summary.errors, summary.not_begun, summary.explained) == (63, 3, 1, 60)
    assert summary.contradicted == 1 + sum(row.status == "unproved" for row in given)
    assert summary.stopped == sum(row.status == "stopped" for row in given)
    assert dict(summary.bases) == {"assumed": 60}
    for side, outcome in (("declined", "bad"), ("approved", "good")):
        is_above = (favorable == "above") == (side == "approved")
        own = [row for row in given if row.decision == is_above]
        proved = [row for row in own if row.status == "optimal"]
        one = summary.of(side)  # type: ignore[arg-type]
        assert (one.outcome, one.rows) == (outcome, len(own))
        for status, n in one.statuses.items():
            assert n == sum(row.status == status for row in own)
        assert sum(one.statuses.values()) == one.rows
        assert one.no_way_out == one.statuses["none"] / len(own)
        assert one.stopped == one.statuses["stopped"] / len(own)
        assert sum(one.sizes.values()) == len(proved)
        assert one.mean_size == pytest.approx(sum(row.size or 0 for row in proved) / len(proved))
        assert one.one_change == sum(any(len(names) == 1 for names in row.sets) for row in proved)
        for name in "abcd":
            some = sum(any(name in names for names in row.sets) for row in proved)
            every = sum(all(name in names for names in row.sets) for row in proved)
            assert one.in_some.get(name, 0) == some / len(proved)
            assert one.in_all.get(name, 0) == every / len(proved)
            assert one.in_reasons.get(name, 0) == sum([name] in row.reasons for row in own) / len(own)
        costs = [row.cost for row in proved if row.cost is not None]
        assert one.total_cost == float(sum(map(Fraction, costs), Fraction(0)))  # to the last bit
        assert one.mean_cost == one.total_cost / len(costs)
        assert sum(one.costs.values()) == len(costs)
        assert sorted(one.costs) == sorted({float(f"{cost:.4g}") for cost in costs})
        assert list(one.sizes) == sorted(one.sizes)
        assert list(one.in_some.values()) == sorted(one.in_some.values(), reverse=True)


def test_parts_of_a_table_add_up_to_the_whole_in_any_way() -> None:
    for seed in range(10):
        given, rng = rows(seed), Random(seed)
        whole = count(given).summary()
        rng.shuffle(given)
        cuts = sorted(rng.sample(range(1, 60), 4))
        pieces = [given[start:end] for start, end in zip([0, *cuts], [*cuts, 60], strict=True)]
        # Pieces are added two at a time, the last ones first.
        parts: list[Part] = []
        for piece in reversed(pieces):
            parts = list(Counts.from_parts([*count(piece).parts(), *parts]).parts())
        assert Counts.from_parts(parts).summary() == whole
        assert list(Counts.from_parts(parts).summary().declined.in_some) == list(whole.declined.in_some)


def test_no_rows_have_no_shares() -> None:
    summary = Counts().summary()
    assert (summary.rows, summary.declined.rows, summary.approved.rows) == (0, 0, 0)
    assert (summary.declined.no_way_out, dict(summary.declined.in_some)) == (0.0, {})
    assert isnan(summary.declined.mean_size)
    assert isnan(summary.declined.mean_cost)
    assert summary == Counts().summary()  # no NaN is part of a summary, which would not equal itself


def test_a_cost_that_is_not_finite_is_not_known() -> None:
    counts = Counts()
    counts.add(False, "optimal", 1, [["a"]], [], cost=float("inf"))
    assert dict(counts.summary().declined.costs) == {}


def test_a_summary_is_of_declined_or_of_approved_rows() -> None:
    with pytest.raises(InputError, match='side must be "declined" or "approved", got \'all\''):
        Counts().summary().of("all")  # type: ignore[arg-type]

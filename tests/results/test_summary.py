"""What many explanations say together, counted in parts that can be added up; and sets as text."""

from math import isnan
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset.results.summary import Counts, read_sets, write_sets

names = st.text(min_size=1, max_size=6)


@given(st.lists(st.lists(names, min_size=1, max_size=3).map(tuple), max_size=4))
def test_sets_are_read_as_they_were_written(sets: list[tuple[str, ...]]) -> None:
    assert read_sets(write_sets(sets)) == sets


def rows(seed: int) -> list[tuple[str, float | None, list[list[str]], list[list[str]]]]:
    rng = Random(seed)
    found = []
    for _ in range(30):
        size = rng.choice([None, 1, 2, 2.5])
        sets = [] if size is None else [rng.sample("abcd", 2) for _ in range(rng.randint(1, 3))]
        found.append(
            (rng.choice(["none", "stopped"]) if size is None else "optimal", size, sets, [rng.sample("abcd", 1)])
        )
    return found


def count(given: list[tuple[str, float | None, list[list[str]], list[list[str]]]]) -> Counts:
    counts = Counts()
    for status, size, sets, reasons in given:
        counts.add(status, size, sets, reasons)
    return counts


def test_shares_are_of_the_rows_they_are_about() -> None:
    given = rows(1)
    counts = count(given)
    counts.add_error()
    summary = counts.summary()
    turned = [sets for _, _, sets, _ in given if sets]
    assert (summary.rows, summary.errors) == (31, 1)
    assert summary.no_way_out == sum(status == "none" for status, *_ in given) / 30
    assert summary.stopped == sum(status == "stopped" for status, *_ in given) / 30
    for name in "abcd":
        some = sum(any(name in one for one in sets) for sets in turned) / len(turned)
        every = sum(all(name in one for one in sets) for sets in turned) / len(turned)
        assert summary.in_some.get(name, 0) == some
        assert summary.in_all.get(name, 0) == every
        assert summary.in_reasons.get(name, 0) == sum([name] in reasons for *_, reasons in given) / 30
    sizes = [size for _, size, _, _ in given if size is not None]
    assert summary.mean_size == pytest.approx(sum(sizes) / len(sizes))
    assert list(summary.sizes) == sorted(summary.sizes)
    assert list(summary.in_some.values()) == sorted(summary.in_some.values(), reverse=True)


def test_parts_of_a_table_add_up_to_the_whole() -> None:
    given = rows(2)
    parts = [part for start in range(0, 30, 7) for part in count(given[start : start + 7]).parts()]
    assert Counts.from_parts(parts).summary() == count(given).summary()


def test_the_order_of_rows_changes_nothing() -> None:
    given = rows(3)
    assert count(given[::-1]).summary() == count(given).summary()
    assert list(count(given[::-1]).summary().in_some) == list(count(given).summary().in_some)


def test_no_rows_have_no_shares() -> None:
    summary = Counts().summary()
    assert (summary.rows, summary.no_way_out, dict(summary.in_some)) == (0, 0.0, {})
    assert isnan(summary.mean_size)

"""Tampered explanations are rejected twice: by `verify`, and by the checker that shares no code with flipset."""

import json
from argparse import Namespace
from collections import Counter
from collections.abc import Collection
from random import Random
from typing import Any

import pytest

from flipset import Explanation, InputError, flipset_check
from flipset.flipset_check import BadInput, Findings, Undecided
from tests.results.verifying.mutations import Subject, as_number, draw_subject, is_true_as_filed, mutate
from tests.results.verifying.test_verifying import outcome_of, subjects

ARGS = Namespace(threshold=0.5, tolerance=1e-6)
PASSES = ("the same", "not checked", "still true")


def as_2(data: Any, rng: Random) -> Any:
    """Return an explanation of format 1 as one of format 2, with any basis."""
    names = [unit["name"] for unit in data["moves"]]
    basis = {name: rng.choice(["proved", "declared", "audited", "assumed"]) for name in names}
    prints = {"model": "sha256:0a", "space": rng.choice([None, "sha256:1b"]), "reference": None, "flipset": "0.1.0"}
    pairs = 12_000 if "audited" in basis.values() else None
    return data | {
        "format": "flipset-explanation/2", "basis": basis, "audited_pairs": pairs, "contradicted": [],
        "fingerprints": prints,
    }  # fmt: skip


def checked(subject: Subject, text: str) -> str:
    """Say what the checker makes of a text, with the scores that the model gives to the rows it asks for."""
    try:
        e = flipset_check.read_explanation(flipset_check.parse(text.encode()))
        scores = {}
        for _, rows, _, _ in flipset_check.queries(e, Findings(400_000)):
            for row in rows:
                scores[flipset_check.row_id(row)] = _score(subject, row)
        found = Findings(200_000)
        flipset_check.check(e, found, scores, ARGS)
    except (BadInput, UnicodeEncodeError):
        return "refused"
    except Undecided:
        return "not decided"
    except ModelError:
        return "the model refused"
    return "failed" if found.problems else "confirmed"


class ModelError(Exception):
    """The model raised an error on a row that it does not know."""


def _score(subject: Subject, row: Any) -> float:
    try:
        return float(subject.case.score(tuple(as_number(row[name]) for name in subject.case.space.names)))
    except Exception as error:
        raise ModelError from error


def try_out(rejected: int, cases: int, seed: str, within: Collection[str] = ()) -> Counter[str]:
    """Draw changed explanations until this many were rejected by both; one that passes must be true.

    With `within`, explanations that have one of these members are changed there.
    """
    pool = [one for one in subjects(cases) if not within or not one.data.keys().isdisjoint(within)]
    outcomes = Counter[str]()
    trial = 0
    while outcomes["rejected by both"] < rejected:
        trial += 1
        rng = Random(f"{seed}/{trial}")
        subject, other = rng.choice(pool), rng.choice(pool)
        data = mutate(subject.data, rng, other.data, within)
        text = json.dumps(data)
        try:
            outcomes[_compare(subject, data, text)] += 1
        except BaseException as error:
            error.add_note(f"trial {seed}/{trial}: {text[:3000]}")
            raise
    return outcomes


def _compare(subject: Subject, data: Any, text: str) -> str:
    ours = checked(subject, text)
    theirs = outcome_of(subject, text)
    if ours != "confirmed":
        # What `verify` accepts with the space is accepted without it, too.
        assert theirs not in PASSES, (ours, theirs)
        return "rejected by both"
    Explanation.from_json(text)
    assert is_true_as_filed(subject, data) == []
    return "accepted by both" if theirs in PASSES else "rejected by verify, which knows the space"


def test_what_flipset_writes_is_confirmed_in_both_formats() -> None:
    kinds = Counter[str]()
    for subject in subjects(80):
        kinds[subject.e.status] += 1
        expected = "failed" if subject.e.status == "unproved" else "confirmed"
        assert checked(subject, subject.e.to_json()) == expected
        assert checked(subject, json.dumps(as_2(subject.data, Random(0)))) == expected
        if expected == "confirmed":
            assert is_true_as_filed(subject, subject.data) == []
    assert set(kinds) == {"optimal", "none", "stopped", "unproved"}


def test_tampered_explanations_are_rejected_by_both() -> None:
    outcomes = try_out(400, 80, "default")
    assert outcomes["accepted by both"] > 3
    assert outcomes["rejected by verify, which knows the space"] > 3


CHOICE = ("max_options", "diverse", "more", "larger", "larger_end", "curve", "curve_end")
"""Which options were asked for and are listed: only some files have these members."""


@pytest.mark.parametrize("rejected", [200, pytest.param(4_000, marks=pytest.mark.campaign)])
@pytest.mark.parametrize(
    "within", [CHOICE, ("words", "id", "grids"), ("basis", "audited_pairs", "fingerprints")], ids=str
)
def test_members_that_only_some_files_have_are_rejected_where_they_are_false(
    within: Collection[str], rejected: int
) -> None:
    outcomes = try_out(rejected, 160, "within", within)
    assert outcomes["rejected by both"] == rejected
    print(dict(outcomes))


@pytest.mark.campaign
def test_campaign_of_ten_thousand_tampered_explanations() -> None:
    print(dict(try_out(10_000, 400, "campaign")))


@pytest.mark.parametrize("seed", range(6))
def test_changed_documents_of_format_2_never_pass_for_true(seed: int) -> None:
    rng = Random(seed)
    subject = next(s for s in map(draw_subject, range(seed * 10, 99)) if s is not None and s.e.status == "optimal")
    outcomes = Counter[str]()
    for _ in range(60):
        data = mutate(as_2(subject.data, rng), rng, as_2(subject.data, rng))
        result = checked(subject, json.dumps(data))
        outcomes[result] += 1
        if result == "confirmed":
            assert is_true_as_filed(subject, data) == []
    assert outcomes["refused"] > 5


def test_the_reader_of_flipset_takes_what_the_checker_takes() -> None:
    pool = subjects(80)
    for trial in range(300):
        rng = Random(f"readers/{trial}")
        text = json.dumps(mutate(rng.choice(pool).data, rng, rng.choice(pool).data))
        try:
            flipset_check.read_explanation(flipset_check.parse(text.encode()))
            taken = True
        except BadInput:
            taken = False
        try:
            Explanation.from_json(text)
        except InputError:
            # Some faults are refused by one as malformed, and found by the other later: then it must find them.
            assert not taken or _is_found(text), text[:2000]


def _is_found(text: str) -> bool:
    found = Findings()
    e = flipset_check.read_explanation(flipset_check.parse(text.encode()))
    flipset_check.check(e, found, None, ARGS)
    return bool(found.problems)

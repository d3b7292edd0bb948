"""Faults of an endpoint, by whether they may pass, and answers that are not what they should be."""

import time
from email.utils import formatdate
from typing import Any

import pytest

from flipset.models.remote.faults import ABOUT_ROWS, Malformed, form_of, may_pass, seconds_in


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_faults_that_may_pass(status: int) -> None:
    assert may_pass(status)


@pytest.mark.parametrize("status", [301, *ABOUT_ROWS, 401, 403, 404, 501, 505])
def test_faults_that_stay(status: int) -> None:
    assert not may_pass(status)


@pytest.mark.parametrize(
    ("answers", "form"),
    [
        ([0.5, 1], ("numbers", 0)),
        ([True, False], ("numbers", 0)),
        ([[0.1, 0.9], [0.2, 0.8]], ("numbers", 2)),
        (["yes", "no"], ("texts", 0)),
        ((0.5, 0.5), ("numbers", 0)),
    ],
)
def test_answers_have_a_form(answers: Any, form: tuple[str, int]) -> None:
    assert form_of(answers, 2) == form


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"scores": []}, "got dict"),
        ([0.5], "1 score to 2 rows"),
        ([[0.1], [0.2, 0.3]], "different lengths"),
        ([0.5, float("nan")], "finite numbers, got nan"),
        ([0.5, None], "got None"),
        ([0.5, "x"], "got 'x'"),
        ([0.5, float("inf")], "got inf"),
    ],
)
def test_answers_without_one_are_refused(answers: Any, message: str) -> None:
    with pytest.raises(Malformed, match=message):
        form_of(answers, 2)


def test_when_to_come_back_is_seconds_or_a_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_000_000.0)
    assert seconds_in("2.5") == 2.5
    assert seconds_in("-3") == 0.0
    assert seconds_in(formatdate(1_000_030, usegmt=True)) == 30.0
    assert seconds_in(formatdate(999_000, usegmt=True)) == 0.0  # a date that is over
    assert seconds_in("soon") is None
    assert seconds_in(None) is None

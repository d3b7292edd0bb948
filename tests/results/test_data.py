"""Explanations are data: what shows, writes and checks them needs the fields alone; users hold these, with methods."""

import copy
import json
import pickle
from dataclasses import FrozenInstanceError, asdict, fields, replace
from typing import Any

import pytest

from flipset import Explanation
from flipset.results.data import ExplanationData
from flipset.results.from_json import load
from flipset.results.to_json import dump
from flipset.results.verifying import FIELDS, Terms, verify_by
from flipset.show.plots import ChangesDisplay, DualityDisplay
from flipset.show.report import explanation_html, report
from flipset.show.text import claim, proved, tell, tell_claim
from tests.results.examples import EXPLAINER, SPACE, approve, data_of, explained


def test_users_hold_the_data_and_no_field_more() -> None:
    e = explained()
    assert isinstance(e, ExplanationData)
    assert [field.name for field in fields(Explanation)] == [field.name for field in fields(ExplanationData)]
    assert {field.name for field in fields(ExplanationData)} == set(FIELDS)
    assert data_of(e).features == e.features == ("income", "debt")
    assert not hasattr(e, "__dict__")


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e)), replace])
def test_a_copy_is_an_equal_explanation(duplicate: Any) -> None:
    e = explained()
    made = duplicate(e)
    assert type(made) is Explanation
    assert made == e
    assert repr(made) == repr(e)
    assert made.to_json() == e.to_json()


def test_equality_is_of_the_fields_and_of_the_class() -> None:
    e = explained()
    assert e == explained()
    assert replace(e, queries=e.queries + 1) != e
    assert Explanation.from_json(e.to_json()) == e  # whose moves have lost their paths: they are not compared
    assert data_of(e) == data_of(explained())
    assert data_of(e) != e


def test_an_explanation_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        explained().score = 1.0  # type: ignore[misc]


def test_repr_is_brief_and_documented_fields_are_there() -> None:
    e = explained()
    assert repr(e) == (
        "<Explanation: decision=False, score=0, threshold=0.5, status='optimal', size=2, flip sets: 1, reasons: 2>"
    )
    assert Explanation.__doc__ is not None
    documented = Explanation.__doc__.replace(",", " ").split()
    assert [field.name for field in fields(e) if field.name not in documented] == ["moves"]
    assert set(asdict(e)) == set(FIELDS)


def test_json_is_of_the_data() -> None:
    e = explained()
    data = data_of(e)
    assert dump(data) == e.to_dict()
    assert ExplanationData(**load(json.dumps(dump(data)))) == data


def test_people_are_shown_the_data() -> None:
    e = explained()
    data = data_of(e)
    for show in (tell, tell_claim, explanation_html):
        shown: Any = show
        assert list(shown(data)) == list(shown(e))
    for say in (proved, claim):
        assert say(data) == say(e)
    said = {"asked": "row 1", "model": "approve", "identity": "none", "space": SPACE}
    assert report(data, **said) == report(e, **said)  # type: ignore[arg-type]
    assert ChangesDisplay.from_explanation(data, SPACE) == ChangesDisplay.from_explanation(e, SPACE)
    assert DualityDisplay.from_explanation(data) == DualityDisplay.from_explanation(e)


def test_the_data_is_verified() -> None:
    data = data_of(explained())
    terms = Terms(space=SPACE, threshold=0.5, monotonicity=EXPLAINER.monotonicity, contradicted=())
    assert verify_by(data, approve, terms, None) == EXPLAINER.verify(explained())
    wrong = verify_by(replace(data, score=1.0), approve, terms, None)
    assert wrong.problems[0].startswith("decision: it is False, and the score 1.0")


def test_columns_in_another_order_are_those_of_the_space() -> None:
    data = json.loads(explained().to_json())
    data["row"] = dict(reversed(data["row"].items()))
    other = ExplanationData(**load(json.dumps(data)))
    assert list(other.row) == ["age", "debt", "income"]
    assert verify_by(other, approve, Terms(space=SPACE, threshold=0.5), None)

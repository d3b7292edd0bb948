"""Explanations as dictionaries and JSON; `from_json` reads them back.

docs/explanation-json.md lists every field; `FORMAT` changes when a field is added that must be there, or when the
meaning of a field changes.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

from flipset.boundary.limits import MOST_COLUMNS, MOST_DIGITS, MOST_EXPONENT, MOST_OPTIONS, MOST_SETS
from flipset.boundary.reading import MOST_WHOLE, Field, check_size, shown
from flipset.errors import InputError
from flipset.space.told_rules import Steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.results.data import ExplanationData
    from flipset.space.feature import Value
    from flipset.space.moves import Unit
    from flipset.space.row_id import RowId
    from flipset.space.told_rules import Stops, ToldRules
    from flipset.space.words import Decision, FeatureWords, Words
    from flipset.values.change import Consequence, Counterfactual

FORMAT = "flipset-explanation/2"

PLAIN = (
    "decision", "threshold", "status", "size", "lower", "upper", "max_changes", "objective", "queries", "rounds",
    "audited_pairs",
)  # fmt: skip
"""Fields that are written unchanged."""


def write(e: ExplanationData) -> str:
    """Return the JSON of an explanation; refuse what `load` would refuse for its size."""
    data = dump(e)
    parts = {name: Field(value, name) for name, value in data.items()}
    parts["row"].entries(MOST_COLUMNS)
    parts["held_fixed"].all_different(Field.name, MOST_COLUMNS)
    for grid in parts["grids"].entries(MOST_COLUMNS).values():
        grid.text()
    for name, text in data["fingerprints"].items():
        if text is not None:
            Field(text, f"fingerprints.{name}").text()
    for name in SETS:
        if name in parts:
            parts[name].items(MOST_SETS)
    for unit in parts["moves"].items(MOST_COLUMNS):
        unit.part(unit.value["name"], ("name",)).name()
        unit.part(unit.value["options"], ("options",)).items(MOST_OPTIONS)
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    check_size(text, "an explanation")
    return text


SETS = ("flipsets", "reasons", "counterfactuals", "contradictions", "larger", "curve")
"""Fields with one entry for each set or row that was found."""


def dump(e: ExplanationData) -> dict[str, Any]:
    """Return an explanation as dictionaries, lists, numbers and strings."""
    columns = list(e.row)
    plain = {name: getattr(e, name) for name in PLAIN}
    return {
        "format": FORMAT,
        "decision": plain["decision"],
        "score": _write_number(e.score),
        **plain,
        "flipsets": [list(names) for names in e.flipsets],
        "reasons": [list(names) for names in e.reasons],
        "counterfactuals": [_counterfactual(one) for one in e.counterfactuals],
        "held_fixed": list(e.held_fixed),
        **({"held_because": dict(e.held_because)} if e.held_because else {}),
        "contradictions": [[_row(row) for row in pair] for pair in e.contradictions],
        "grids": dict(e.grids),
        "row": _row(e.row),
        **({"own_bounds": _row(e.own_bounds)} if e.own_bounds else {}),
        "proof": json.loads(e.proof.to_json()),
        "moves": [_unit(unit, columns) for unit in e.moves.units],
        "basis": dict(e.basis),
        "contradicted": list(e.contradicted),
        "fingerprints": asdict(e.fingerprints),
        "words": dump_words(e.words),
        **({} if e.id is None else {"id": dump_id(e.id)}),
        **({} if e.rules is None else {"rules": _rules(e.rules)}),
        **_more_options(e),
    }


def _rules(told: ToldRules) -> dict[str, Any]:
    return {
        "constraints": [{"text": one.text, "broken": one.broken} for one in told.constraints],
        "derived": dict(told.derived),
        "follows": dict(told.follows),
        "codes": {name: [write_value(name, code) for code in codes] for name, codes in told.codes.items()},
        "stops": {name: _stops(name, stops) for name, stops in told.stops.items()},
    }


def _stops(name: str, stops: Stops) -> Any:
    if not isinstance(stops, Steps):
        return [write_value(name, value) for value in stops]
    narrow = {} if stops.number_type is None else {"number_type": stops.number_type}
    return {"first": stops.first, "last": stops.last, "step": stops.step, **narrow}


def dump_id(own: RowId) -> dict[str, Any]:
    """Return the identifier of a row; a type that JSON lacks is written as its text."""
    return {name: _id_cell(name, cell) for name, cell in own.items()}


def _id_cell(name: str, cell: Value) -> Any:
    try:
        return write_value(name, cell)
    except InputError:  # a time to the nanosecond, a UUID: an identifier need not be computed with
        return str(cell)


def _more_options(e: ExplanationData) -> dict[str, Any]:
    """Return what was asked for beyond one counterfactual for each flip set; nothing where nothing was."""
    parts: dict[str, Any] = {}
    if e.max_options is not None:
        parts |= {"max_options": e.max_options, "diverse": e.diverse}
    if e.more is not None:
        larger = [_counterfactual(one) for one in e.larger]
        parts |= {"more": e.more, "larger": larger, "larger_end": e.larger_end}
    if e.curve:
        points = [{"changes": one.changes, "counterfactual": _counterfactual(one.counterfactual)} for one in e.curve]
        parts |= {"curve": points, "curve_end": e.curve_end}
    return parts


def dump_words(words: Words) -> dict[str, Any]:
    """Return the words of a space; attributes with their default values are left out."""
    return {
        "decision": _differing(words.decision),
        "features": {
            name: _differing(one) | ({"value_labels": dict(one.value_labels)} if one.value_labels else {})
            for name, one in words.features.items()
        },
    }


def _differing(words: Decision | FeatureWords) -> dict[str, Any]:
    given = {
        part.name: getattr(words, part.name) for part in fields(words) if getattr(words, part.name) != part.default
    }
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _write_number(value: float) -> float | str:
    """Return a number as JSON can write it; JSON has no infinity."""
    return value if isfinite(value) else str(value)


def _row(row: Mapping[str, Value]) -> dict[str, Any]:
    return {name: write_value(name, value) for name, value in row.items()}


def write_value(column: str, value: Value) -> Any:
    """Return a cell as JSON can write it; a type that JSON lacks becomes an object with the name of the type."""
    if value is None or isinstance(value, (bool, str)):
        if isinstance(value, str):
            Field(value, f"column {column!r}").text()
        return value
    if isinstance(value, int) and abs(value) <= MOST_WHOLE:
        return int(value)
    if isinstance(value, float):  # NaN too, in columns that distinguish it from a missing value
        return value if isfinite(value) else {"float": str(float(value))}
    if isinstance(value, datetime) and not getattr(value, "nanosecond", 0):  # a pandas Timestamp is a datetime too
        return {"datetime": value.isoformat()}
    if isinstance(value, date) and not isinstance(value, datetime):
        return {"date": value.isoformat()}
    if isinstance(value, Decimal) and (value.is_infinite() or is_moderate(value)):
        return {"decimal": str(value)}
    raise InputError(
        f"column {column!r} has {shown(value)} of type {type(value).__name__}, which cannot be written as JSON: "
        "expected a number, a string, a boolean, a date, a time to the microsecond, or a decimal"
    )


def is_moderate(value: Decimal) -> bool:
    """Say whether a decimal is within the limits on digits and exponents."""
    return value.is_finite() and abs(value.adjusted()) <= MOST_EXPONENT and len(value.as_tuple().digits) <= MOST_DIGITS


def _counterfactual(one: Counterfactual) -> dict[str, Any]:
    return {
        "flipset": list(one.flipset),
        "changes": [
            {
                "feature": change.feature,
                "before": write_value(change.feature, change.before),
                "after": write_value(change.feature, change.after),
                "how": change.how,
                **({} if change.cost is None else {"cost": change.cost}),
            }
            for change in one.changes
        ],
        "cost": one.cost,
        "cost_at_least": one.cost_at_least,
        "score": _write_number(one.score),
        "row": _row(one.row),
        **({"consequences": [_consequence(each) for each in one.consequences]} if one.consequences else {}),
    }


def _consequence(one: Consequence) -> dict[str, Any]:
    before, after = (write_value(one.feature, value) for value in (one.before, one.after))
    return {"feature": one.feature, "before": before, "after": after}


def _unit(unit: Unit, columns: list[str]) -> dict[str, Any]:
    """Return the furthest values of a unit: the queries of the proof are made of them."""
    return {
        "name": unit.name,
        "columns": [columns[i] for i in unit.columns],
        "ordered": unit.ordered,
        "weight": unit.weight,
        "options": [{columns[i]: write_value(columns[i], value) for i, value in option.end} for option in unit.options],
    }

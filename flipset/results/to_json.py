"""Explanations as dictionaries and JSON; `from_json` reads them back.

docs/explanation-json.md lists every field; `FORMAT` changes when a field is added that must be there, or when the
meaning of a field changes.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

from flipset.boundary.limits import MOST_COLUMNS, MOST_DIGITS, MOST_EXPONENT, MOST_OPTIONS, MOST_SETS
from flipset.boundary.reading import MOST_WHOLE, Field, check_size, shown
from flipset.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.results.data import ExplanationData
    from flipset.space.feature import Value
    from flipset.space.moves import Unit
    from flipset.values.change import Counterfactual

FORMAT = "flipset-explanation/2"

PLAIN = (
    "decision", "threshold", "status", "size", "lower", "upper", "max_changes", "objective", "queries", "rounds",
    "audited_pairs",
)  # fmt: skip
"""Fields that are written unchanged."""


def write(e: ExplanationData) -> str:
    """Return the JSON of an explanation; refuse what `load` would refuse for its size."""
    data = dump(e)
    fields = {name: Field(value, name) for name, value in data.items()}
    fields["row"].entries(MOST_COLUMNS)
    fields["held_fixed"].all_different(Field.name, MOST_COLUMNS)
    for grid in fields["grids"].entries(MOST_COLUMNS).values():
        grid.text()
    for name, text in data["fingerprints"].items():
        if text is not None:
            Field(text, f"fingerprints.{name}").text()
    for name in SETS:
        fields[name].items(MOST_SETS)
    for unit in fields["moves"].items(MOST_COLUMNS):
        unit.part(unit.value["name"], ("name",)).name()
        unit.part(unit.value["options"], ("options",)).items(MOST_OPTIONS)
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    check_size(text, "an explanation")
    return text


SETS = ("flipsets", "reasons", "counterfactuals", "contradictions")
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
        "contradictions": [[_row(row) for row in pair] for pair in e.contradictions],
        "grids": dict(e.grids),
        "row": _row(e.row),
        "proof": json.loads(e.proof.to_json()),
        "moves": [_unit(unit, columns) for unit in e.moves.units],
        "basis": dict(e.basis),
        "contradicted": list(e.contradicted),
        "fingerprints": asdict(e.fingerprints),
    }


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
            }
            for change in one.changes
        ],
        "cost": one.cost,
        "cost_at_least": one.cost_at_least,
        "score": _write_number(one.score),
        "row": _row(one.row),
    }


def _unit(unit: Unit, columns: list[str]) -> dict[str, Any]:
    """Return the furthest values of a unit: the queries of the proof are made of them."""
    return {
        "name": unit.name,
        "columns": [columns[i] for i in unit.columns],
        "ordered": unit.ordered,
        "weight": unit.weight,
        "options": [{columns[i]: write_value(columns[i], value) for i, value in option.end} for option in unit.options],
    }

"""Explanations as data for other programs: plain dictionaries and JSON, and back.

docs/explanation-json.md lists every field; `FORMAT` changes when one of them changes its meaning.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

from flipset.change import Change, Counterfactual
from flipset.errors import InputError
from flipset.moves import Moves, Option, Unit
from flipset.proof import Proof
from flipset.space.feature import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.explanation import Explanation

FORMAT = "flipset-explanation/1"

PLAIN = ("decision", "score", "threshold", "status", "size", "lower", "upper", "grids", "row", "queries", "rounds")
"""Fields that are the same in both."""


def dump(e: Explanation) -> dict[str, Any]:
    """Return an explanation as dictionaries, lists, numbers and strings."""
    columns = list(e.row)
    return {
        "format": FORMAT,
        **{name: getattr(e, name) for name in PLAIN},
        "score": _write_number(e.score),
        "flipsets": [list(names) for names in e.flipsets],
        "reasons": [list(names) for names in e.reasons],
        "counterfactuals": [_counterfactual(one) for one in e.counterfactuals],
        "held_fixed": list(e.held_fixed),
        "contradictions": [[dict(row) for row in pair] for pair in e.contradictions],
        "proof": json.loads(e.proof.to_json()),
        "moves": [_unit(unit, columns) for unit in e.moves.units],
    }


def load(text: str) -> dict[str, Any]:
    """Read JSON that was written from `dump`; return what an `Explanation` is made of."""
    try:
        data = json.loads(text)
    except (TypeError, json.JSONDecodeError) as error:
        raise InputError(f"an explanation must be JSON: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f'an explanation must be an object with "format": "{FORMAT}"')
    try:
        columns = list(data["row"])
        read = {name: data[name] for name in PLAIN}
        return read | {
            "score": _read_number("score", data["score"]),
            "threshold": _read_number("threshold", data["threshold"]),
            "flipsets": tuple(tuple(names) for names in data["flipsets"]),
            "reasons": tuple(tuple(names) for names in data["reasons"]),
            "counterfactuals": tuple(_read_counterfactual(one) for one in data["counterfactuals"]),
            "held_fixed": tuple(data["held_fixed"]),
            "contradictions": tuple((turned, stays) for turned, stays in data["contradictions"]),
            "proof": Proof.from_json(json.dumps(data["proof"])),
            "moves": Moves(tuple(_read_unit(unit, columns) for unit in data["moves"]), tuple(data["held_fixed"])),
        }
    except KeyError as error:
        raise InputError(f"the explanation has no {error.args[0]!r}") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise InputError(f"the explanation cannot be read: {error}") from None


def _write_number(value: float) -> float | str:
    """Return a number as JSON holds it, which knows no infinity."""
    return value if isfinite(value) else str(value)


def _read_number(name: str, value: Any) -> float:
    if value in ("inf", "-inf"):
        return float(value)
    if not is_number(value) or isinstance(value, bool):
        raise InputError(f"the explanation's {name} must be a number, got {value!r}")
    return cast("float", value)


def _counterfactual(one: Counterfactual) -> dict[str, Any]:
    changes = [{"feature": c.feature, "before": c.before, "after": c.after, "how": c.how} for c in one.changes]
    return {
        "flipset": list(one.flipset),
        "changes": changes,
        "cost": one.cost,
        "cost_at_least": one.cost_at_least,
        "score": _write_number(one.score),
        "row": dict(one.row),
    }


def _read_counterfactual(data: Mapping[str, Any]) -> Counterfactual:
    return Counterfactual(
        flipset=tuple(data["flipset"]),
        changes=tuple(Change(**change) for change in data["changes"]),
        cost=data["cost"],
        cost_at_least=data["cost_at_least"],
        score=_read_number("score", data["score"]),
        row=data["row"],
    )


def _unit(unit: Unit, columns: list[str]) -> dict[str, Any]:
    """Return what a unit may become, at its best: what the questions of the proof are made of."""
    return {
        "name": unit.name,
        "columns": [columns[i] for i in unit.columns],
        "ordered": unit.ordered,
        "weight": unit.weight,
        "options": [{columns[i]: value for i, value in option.end} for option in unit.options],
    }


def _read_unit(data: Mapping[str, Any], columns: list[str]) -> Unit:
    options = tuple(
        Option(cells=tuple(sorted((columns.index(name), value) for name, value in option.items())))
        for option in data["options"]
    )
    return Unit(
        data["name"], tuple(map(columns.index, data["columns"])), options, bool(data["ordered"]), data["weight"]
    )

"""Explanations read from JSON: only the types and the shape that `to_json` writes, within the limits.

Whether the content is true is checked by `verifying`.
"""

from __future__ import annotations

import sys
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from functools import partial
from math import isfinite
from sys import intern
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from flipset.boundary.limits import MOST_COLUMNS, MOST_OPTIONS, MOST_SETS
from flipset.boundary.reading import MOST_WHOLE, Field, parse, shown
from flipset.boundary.step_budget import StepBudget
from flipset.errors import InputError
from flipset.proof import Proof
from flipset.results.basis import BASES, Fingerprints
from flipset.results.cells_from_json import if_there, optional, read_value, same_cell
from flipset.results.data import Status, each_counterfactual
from flipset.results.rules_from_json import read_rules
from flipset.results.to_json import FORMAT
from flipset.space.files import DECISION, FEATURE
from flipset.space.held import Why
from flipset.space.moves import Moves, Unit
from flipset.space.shared import Shared
from flipset.space.unit_options import Option
from flipset.space.words import Decision, FeatureWords, NumberType, Words
from flipset.values.change import Change, Consequence, Counterfactual, CurveEnd, CurvePoint, How, LargerEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flipset.results.data import ExplanationData
    from flipset.space.feature import Value

E = TypeVar("E", bound="ExplanationData")
T = TypeVar("T")

REQUIRED = (
    "format", "decision", "score", "threshold", "status", "size", "lower", "upper", "flipsets", "reasons",
    "counterfactuals", "held_fixed", "contradictions", "grids", "row", "queries", "rounds", "proof", "moves",
)  # fmt: skip
OPTIONAL = ("max_changes", "objective", "held_because", "own_bounds", "words", "id", "rules")
"""Fields that older files of either format lack, and those that are left out where there is nothing to say."""

ASKED_FOR = ("max_options", "diverse", "more", "larger", "larger_end", "curve", "curve_end")
"""Fields that a file has only if the request asked for them."""

ADDED = ("basis", "audited_pairs", "contradicted", "fingerprints")
"""Fields that came with format 2, and that a file of that format must have."""

FIRST_FORMAT = "flipset-explanation/1"
"""The format before; it does not say what an answer rests on, so that everything counts as assumed."""


def load(text: str, stop: Callable[[], bool] | None = None) -> dict[str, Any]:
    """Read the JSON of `dump`; return the fields of an `Explanation`.

    `stop` is called now and then; when it returns True, reading ends with `NotDecided`.
    """
    return read_explanation(parse(text, "an explanation"), stop=stop)


def read_explanation(data: Any, shared: Shared | None = None, stop: Callable[[], bool] | None = None) -> dict[str, Any]:
    """Read the parsed JSON of `dump`; return the fields of an `Explanation`.

    Explanations that are read with the same `shared` have equal parts in common.
    """
    shared = shared or Shared()
    if not isinstance(data, dict) or data.get("format") not in (FORMAT, FIRST_FORMAT):
        raise InputError(f'an explanation must be an object with "format": "{FORMAT}" or "{FIRST_FORMAT}"')
    # The size of the text limits the steps: the budget is there for `stop`.
    budget = None if stop is None else StepBudget(sys.maxsize, stop)
    required = (*REQUIRED, *ADDED) if data["format"] == FORMAT else REQUIRED
    fields = Field(data, "the explanation", budget=budget).members(required, (*OPTIONAL, *ASKED_FOR))
    row = _read_row(fields["row"])
    places = {name: i for i, name in enumerate(row)}
    units = _read_units(fields["moves"], places)
    held_fixed = shared.names(fields["held_fixed"].all_different(Field.name, MOST_COLUMNS))
    because = _read_because(fields.get("held_because"), held_fixed)
    status = fields["status"].value
    if status in ("optimal", "incomplete") and not (fields["flipsets"].value and fields["size"].value is not None):
        raise InputError(f"status is {status!r}, and there is no flip set or no size")
    words = shared.words(if_there(fields.get("words"), _read_words) or Words())
    grids = {name: grid.text() for name, grid in fields["grids"].entries(MOST_COLUMNS).items()}
    return {
        "decision": fields["decision"].flag(),
        "score": _read_number(fields["score"]),
        "threshold": fields["threshold"].number(),
        "status": intern(fields["status"].one_of(*get_args(Status))),
        "size": optional(fields["size"], Field.amount),
        "lower": optional(fields["lower"], Field.amount),
        "upper": optional(fields["upper"], Field.amount),
        "max_changes": optional(fields.get("max_changes"), lambda field: field.whole(1)),
        "objective": optional(fields.get("objective"), lambda field: intern(field.one_of("size", "cost"))),
        "flipsets": _read_sets(fields["flipsets"], shared),
        "reasons": _read_sets(fields["reasons"], shared),
        "counterfactuals": tuple(
            _read_counterfactual(one, row, shared, words) for one in fields["counterfactuals"].items(MOST_SETS)
        ),
        "held_fixed": held_fixed,
        "held_because": shared.texts(because),
        "contradictions": tuple(_read_pair(pair, row) for pair in fields["contradictions"].items(MOST_SETS)),
        "grids": shared.texts(grids),
        "row": row,
        "own_bounds": if_there(fields.get("own_bounds"), _read_row) or shared.texts({}),
        "queries": fields["queries"].whole(0),
        "rounds": fields["rounds"].whole(0),
        # If nothing may change, the proof has one placeholder feature that does not flip.
        "proof": shared.proof(Proof.read(fields["proof"], max(1, len(units)))),
        "moves": shared.moves(Moves(units, held_fixed, tuple(because.items()))),
        "words": words,
        "id": if_there(fields.get("id"), read_id),
        "rules": if_there(fields.get("rules"), partial(read_rules, row=row)),
        **_read_options(fields, partial(_read_counterfactual, of=row, shared=shared, words=words)),
        **_read_grounds(fields, units, shared),
    }


def read_id(field: Field) -> dict[str, Value]:
    """Read the identifier of a row: its cells by the names of their columns."""
    entries = field.entries(MOST_COLUMNS)
    return {intern(name): read_value(cell) for name, cell in entries.items()} or field.refuse("at least one column")


def _read_options(fields: Mapping[str, Field], read: Callable[[Field], Counterfactual]) -> dict[str, Any]:
    """Read what was asked for beyond one counterfactual for each flip set."""
    larger, curve = fields.get("larger"), fields.get("curve")
    return {
        "max_options": optional(fields.get("max_options"), lambda field: field.whole(1)),
        "diverse": bool(if_there(fields.get("diverse"), Field.flag)),
        "more": optional(fields.get("more"), lambda field: field.whole(1)),
        "larger": () if larger is None else tuple(map(read, larger.items(MOST_SETS))),
        "larger_end": optional(fields.get("larger_end"), lambda field: intern(field.one_of(*get_args(LargerEnd)))),
        "curve": () if curve is None else tuple(_read_point(one, read) for one in curve.items(MOST_SETS)),
        "curve_end": optional(fields.get("curve_end"), lambda field: intern(field.one_of(*get_args(CurveEnd)))),
    }


def _read_point(field: Field, read: Callable[[Field], Counterfactual]) -> CurvePoint:
    data = field.members(("changes", "counterfactual"))
    return CurvePoint(data["changes"].whole(1), read(data["counterfactual"]))


def _read_grounds(fields: Mapping[str, Field], units: Sequence[Unit], shared: Shared) -> dict[str, Any]:
    """Read what the answer rests on; a file of the first format does not say."""
    names = [unit.name for unit in units]
    if "basis" not in fields:
        return {"basis": shared.texts(dict.fromkeys(names, BASES[-1]))}
    entries = fields["basis"].entries(MOST_COLUMNS)
    if entries.keys() != set(names):
        odd = next(name for name in (*names, *entries) if (name in entries) != (name in names))
        raise InputError(f"basis must have the features of moves: {shown(odd)} is in only one of them")
    basis = {name: intern(entries[name].one_of(*BASES)) for name in names}
    pairs = optional(fields["audited_pairs"], lambda field: field.whole(1))
    if (pairs is None) == ("audited" in basis.values()):
        fields["audited_pairs"].refuse("a number exactly where some basis is 'audited'")
    contradicted = _read_names(fields["contradicted"])
    if strange := [name for name in contradicted if name not in basis]:
        raise InputError(f"contradicted has {shown(strange[0])}, which is not one of the features of basis")
    parts = fields["fingerprints"].members(FINGERPRINTS)
    texts = {name: optional(part, Field.text) for name, part in parts.items()}
    return {
        "basis": shared.texts(basis),
        "audited_pairs": pairs,
        "contradicted": shared.names(contradicted),
        "fingerprints": shared.equal(Fingerprints(**texts)),
    }


FINGERPRINTS = tuple(part.name for part in dataclass_fields(Fingerprints))


def _read_because(field: Field | None, held_fixed: Sequence[str]) -> dict[str, str]:
    """Read why columns were held fixed in this row alone."""
    if field is None:
        return {}
    because = {intern(name): intern(why.one_of(*get_args(Why))) for name, why in field.entries(MOST_COLUMNS).items()}
    held = set(held_fixed)
    if strange := [name for name in because if name not in held]:
        raise InputError(f"held_because has {shown(strange[0])}, which is not one of held_fixed")
    return because


def _read_number(field: Field) -> int | float:
    """Read a score, which may be infinite."""
    return float(field.value) if field.value in ("inf", "-inf") else field.number()


def _read_names(field: Field) -> tuple[str, ...]:
    return field.all_different(Field.name, MOST_COLUMNS)


def _read_sets(field: Field, shared: Shared) -> tuple[tuple[str, ...], ...]:
    return shared.names(tuple(shared.names(_read_names(one)) for one in field.items(MOST_SETS)))


def _read_row(field: Field, of: Mapping[str, Value] | None = None) -> dict[str, Value]:
    """Read a row; as one that differs `of` another in some cells, it has the same columns, in the same order."""
    if of is not None and isinstance(field.value, dict) and field.value.keys() == of.keys():
        # The usual case, which is nearly all of a large file: the names were checked with the first row.
        if field.budget is not None:
            field.budget.spend(2 * len(of))
        return {name: same_cell(_read_cell(field, name, field.value[name]), cell) for name, cell in of.items()}
    row = {intern(name): read_value(cell) for name, cell in field.entries(MOST_COLUMNS).items()}
    if not row or "" in row:
        raise InputError(f"{field.path} must have columns, each with a name")
    if of is None:
        return row
    odd = next(name for name in (*row, *of) if (name in row) != (name in of))
    raise InputError(
        f"{field.path} must have the columns of the row that is explained: {shown(odd)} is in only one of them"
    )


def _read_cell(row: Field, name: str, value: Any) -> Value:
    """Read a cell of a row; numbers are checked here, without a `Field` for each."""
    kind = type(value)
    if (kind is float and isfinite(value)) or (kind is int and -MOST_WHOLE <= value <= MOST_WHOLE):
        return value
    return read_value(row.part(value, name))


def _read_counterfactual(field: Field, of: Mapping[str, Value], shared: Shared, words: Words) -> Counterfactual:
    data = field.members(("flipset", "changes", "cost", "cost_at_least", "score", "row"), ("consequences",))
    row, cost = _read_row(data["row"], of), data["cost"].amount()
    return Counterfactual(
        flipset=shared.names(_read_names(data["flipset"])),
        changes=tuple(_read_change(one, of, row, words, cost) for one in data["changes"].items(MOST_COLUMNS)),
        cost=cost,
        cost_at_least=same_cell(data["cost_at_least"].amount(), cost),
        score=_read_number(data["score"]),
        row=row,
        consequences=()
        if "consequences" not in data
        else tuple(_read_consequence(one, of, row, words) for one in data["consequences"].items(MOST_COLUMNS)),
    )


def _read_consequence(
    field: Field, before: Mapping[str, Value], after: Mapping[str, Value], words: Words
) -> Consequence:
    data = field.members(("feature", "before", "after"))
    name = intern(data["feature"].name())
    return Consequence(
        feature=name,
        before=same_cell(read_value(data["before"]), before.get(name)),
        after=same_cell(read_value(data["after"]), after.get(name)),
        words=words.features.get(name),
    )


def _read_change(
    field: Field, before: Mapping[str, Value], after: Mapping[str, Value], words: Words, total: float
) -> Change:
    """Read a change between two rows; `total` is what all changes cost."""
    data = field.members(("feature", "before", "after", "how"), ("cost",))
    name = intern(data["feature"].name())
    return Change(
        feature=name,
        before=same_cell(read_value(data["before"]), before.get(name)),
        after=same_cell(read_value(data["after"]), after.get(name)),
        how=intern(data["how"].one_of(*get_args(How))),  # type: ignore[arg-type]
        words=words.features.get(name),
        cost=optional(data.get("cost"), lambda field: same_cell(field.amount(), total)),
    )


def _read_pair(field: Field, of: Mapping[str, Value]) -> tuple[dict[str, Value], dict[str, Value]]:
    rows = [_read_row(row, of) for row in field.items(2)]
    if len(rows) != 2:
        field.refuse("a pair of rows")
    return rows[0], rows[1]


def _read_units(field: Field, places: Mapping[str, int]) -> tuple[Unit, ...]:
    units: list[Unit] = []
    names: set[str] = set()
    taken: set[int] = set()
    for item in field.items(MOST_COLUMNS):
        unit = _read_unit(item, places)
        if unit.name in names:
            raise InputError(f"{item.path}.name is {shown(unit.name)}, as that of another unit is")
        if not taken.isdisjoint(unit.columns):
            raise InputError(f"{item.path}.columns has a column of another unit")
        names.add(unit.name)
        taken.update(unit.columns)
        units.append(unit)
    return tuple(units)


def _read_unit(field: Field, places: Mapping[str, int]) -> Unit:
    data = field.members(("name", "columns", "ordered", "weight", "options"))

    def place(column: Field) -> int:
        name = column.name()
        if name not in places:
            column.refuse("a column of the row")
        return places[name]

    columns = data["columns"].all_different(place, MOST_COLUMNS)
    own = frozenset(columns)
    options = tuple(_read_option(option, places, own) for option in data["options"].items(MOST_OPTIONS))
    ordered = data["ordered"].flag()
    if not columns:
        data["columns"].refuse("a list of at least one column")
    if not options or (ordered and len(options) > 1):
        data["options"].refuse("a list of one option where the unit is ordered" if ordered else "a list of options")
    return Unit(data["name"].name(), columns, options, ordered, data["weight"].weight())


def _read_words(field: Field) -> Words:
    parts = field.members(("decision", "features"))
    given = parts["decision"].members((), DECISION)
    decision = Decision(**{name: DECISION[name](part) for name, part in given.items()})
    entries = parts["features"].entries(MOST_COLUMNS)
    return Words(decision, {intern(name): _read_feature_words(one) for name, one in entries.items()})


def _read_feature_words(field: Field) -> FeatureWords:
    readers = FEATURE | {"number_type": lambda part: part.one_of(*get_args(NumberType))}
    given = {name: readers[name](part) for name, part in field.members(("label",), FEATURE_WORDS).items()}
    return FeatureWords(**given | {"value_labels": tuple(given.get("value_labels", {}).items())})


FEATURE_WORDS = ("unit", "value_labels", "number_format", "number_type")


def _read_option(field: Field, places: Mapping[str, int], columns: frozenset[int]) -> Option:
    cells = []
    for name, cell in field.entries(MOST_COLUMNS).items():
        if places.get(name) not in columns:
            raise InputError(f"{field.path} has {shown(name)}, which is not one of the unit's columns")
        cells.append((places[name], read_value(cell)))
    if not cells:
        field.refuse("an object with at least one column")
    return Option(cells=tuple(sorted(cells, key=lambda cell: cell[0])))


def with_words(e: E, words: Words) -> E:
    """Return an explanation with these words: those of the space, where a file has none or older ones."""

    def told(one: Counterfactual) -> Counterfactual:
        changes = tuple(replace(change, words=words.features.get(change.feature)) for change in one.changes)
        follow = tuple(replace(each, words=words.features.get(each.feature)) for each in one.consequences)
        return replace(one, changes=changes, consequences=follow)

    return replace(e, words=words, **each_counterfactual(e, told))

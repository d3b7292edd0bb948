"""Features and groups as JSON, for programs, and as TOML, for people who review and edit them.

Reading checks the type and the size of every value, and then each feature and group by itself. `Space` checks that they
fit together. What is written is read before it is returned, so that nothing is written that cannot be read.
"""

from __future__ import annotations

import json
from dataclasses import fields
from math import isinf
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar, get_args

from flipset.boundary.limits import MOST_COLUMNS, MOST_OPTIONS
from flipset.boundary.printable import printable
from flipset.boundary.reading import Field, parse, parse_toml, shown
from flipset.errors import InputError
from flipset.space.feature import Feature, Kind, Missing
from flipset.space.group import Group
from flipset.space.words import Decision, NumberFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flipset.space.feature import Value

T = TypeVar("T")

FORMAT = "flipset-space/1"

MOST_RULES = 1_000
"""The most constraints, and the most formulas, of a file."""


class Parts(TypedDict):
    """The parts of a space; the table it was read from is not written to files."""

    features: list[Feature]
    groups: list[Group]
    decision: Decision
    constraints: list[str]
    derived: dict[str, str]
    follows: dict[str, str]


class Written(Protocol):
    """A space, as far as it is written to files."""

    @property
    def features(self) -> Sequence[Feature]:
        """The features."""

    @property
    def groups(self) -> Sequence[Group]:
        """The groups."""

    @property
    def decision(self) -> Decision:
        """The decision."""

    @property
    def constraints(self) -> Sequence[str]:
        """The constraints between columns."""

    @property
    def derived(self) -> Mapping[str, Any]:
        """The derived columns."""

    @property
    def follows(self) -> Mapping[str, str]:
        """The followers."""


def write_json(space: Written) -> str:
    """Write a space as JSON; attributes with their default values are left out."""
    about = {"decision": _given(space.decision)} if space.decision != Decision() else {}
    data = {"format": FORMAT, **_constraints(space), **about, **_formulas(space), **_plain(space)}
    text = json.dumps(data, indent=2)
    # Read back before it is returned: what exceeds the limits of reading must be refused when it is written.
    read_json(text)
    return text


def read_json(text: str) -> Parts:
    """Read what `write_json` wrote."""
    return _read_parts(parse(text, "a space", infinite=True))


def write_toml(
    space: Written, notes: Mapping[str, str] | None = None, hints: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Write constraints, decision, formulas, features and groups as TOML, one table for each.

    `notes` are comments at features, by name; `hints` are lines of TOML at features that are commented out.
    """
    notes, hints = notes or {}, hints or {}
    lines = [f'format = "{FORMAT}"']
    if space.constraints:
        lines += ["constraints = [", *(f"    {_toml(text)}," for text in space.constraints), "]"]
    if space.decision != Decision():
        lines += ["", "[decision]", *(f"{key} = {_toml(value)}" for key, value in _given(space.decision).items())]
    for table, formulas in _formulas(space).items():
        lines += ["", f"[{table}]", *(f"{_toml(name)} = {_toml(text)}" for name, text in formulas.items())]
    for table, items in _plain(space).items():
        for item in items:
            lines += ["", f"[[{table}]]"]
            if table == "feature" and item["name"] in notes:
                lines.append(_comment(notes[item["name"]]))
            lines += [f"{key} = {_toml(value)}" for key, value in item.items()]
            if table == "feature":
                lines += map(_comment, hints.get(item["name"], ()))
    text = "\n".join(lines) + "\n"
    read_toml(text)
    return text


def _comment(text: str) -> str:
    # A line break or another control character would end the comment, or make the file invalid.
    return "# " + "".join(letter if letter.isprintable() else " " for letter in text)


def read_toml(text: str) -> Parts:
    """Read features and groups from TOML."""
    return _read_parts(parse_toml(text, "a space"))


def _plain(space: Written) -> dict[str, list[dict[str, Any]]]:
    data = {"feature": [_given(feature) for feature in space.features]}
    if space.groups:
        data["group"] = [_given(group) for group in space.groups]
    return data


def _constraints(space: Written) -> dict[str, list[str]]:
    return {"constraints": list(space.constraints)} if space.constraints else {}


def _formulas(space: Written) -> dict[str, dict[str, str]]:
    for name, formula in space.derived.items():
        if not isinstance(formula, str):
            raise InputError(
                f"the derived column {name!r} is a function, which cannot be written to a file; give it as a formula, "
                "such as 'debt / income'"
            )
    both = {"derived": dict(space.derived), "follows": dict(space.follows)}
    return {table: formulas for table, formulas in both.items() if formulas}


def _given(item: Feature | Group | Decision) -> dict[str, Any]:
    given = {}
    for field in fields(item):
        value = getattr(item, field.name)
        # Files are for people to edit, who should see what differs from the ordinary.
        if value != field.default:
            labels = field.name == "value_labels"
            given[field.name] = dict(value) if labels else list(value) if isinstance(value, tuple) else value
    return given


def _read_parts(data: Any) -> Parts:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f'a space must say format = "{FORMAT}"')
    optional = ("constraints", "decision", "derived", "follows", "feature", "group")
    tables = Field(data, "the space").members(("format",), optional)
    return {
        "features": [_read(Feature, item, FEATURE) for item in _tables(tables, "feature")],
        "groups": [_read(Group, item, GROUP) for item in _tables(tables, "group")],
        "decision": _read_decision(tables["decision"]) if "decision" in tables else Decision(),
        "constraints": [item.text() for item in tables["constraints"].items(MOST_RULES)]
        if "constraints" in tables
        else [],
        "derived": _read_formulas(tables, "derived"),
        "follows": _read_formulas(tables, "follows"),
    }


def _read_formulas(tables: dict[str, Field], name: str) -> dict[str, str]:
    if name not in tables:
        return {}
    return {column: formula.text() for column, formula in tables[name].entries(MOST_RULES).items()}


def _read_decision(item: Field) -> Decision:
    given = item.members((), DECISION)
    return Decision(**{name: DECISION[name](field) for name, field in given.items() if field.value is not None})


def _tables(tables: dict[str, Field], name: str) -> Iterator[Field]:
    return tables[name].items(MOST_COLUMNS) if name in tables else iter(())


def _read(kind: Callable[..., T], item: Field, readers: Mapping[str, Callable[[Field], Any]]) -> T:
    name = item.value.get("name") if isinstance(item.value, dict) else None
    if isinstance(name, str):  # a person finds a feature by its name, not by its number
        item = Field(item.value, f"{item.path.partition('[')[0]}[{shown(name)}]")
    given = item.members(("name",), readers)
    # JSON says null for what is not given. A name must be given.
    return kind(
        **{name: readers[name](field) for name, field in given.items() if field.value is not None or name == "name"}
    )


def _values(field: Field) -> tuple[Value, ...]:
    return tuple(map(_value, field.items(MOST_OPTIONS)))


def _value(field: Field) -> Value:
    """Read a label, a truth value or a number; a code may be infinite."""
    if isinstance(field.value, str):
        return field.text()
    is_code = isinstance(field.value, float) and isinf(field.value)
    return field.value if isinstance(field.value, bool) or is_code else field.number()


def _labels(field: Field) -> dict[str, str]:
    return {value: label.text() for value, label in field.entries(MOST_OPTIONS).items()}


def _words(field: Field) -> tuple[str, ...]:
    return tuple(word.text() for word in field.items(2))


FEATURE: dict[str, Callable[[Field], Any]] = {
    "name": Field.name,
    "kind": lambda field: field.one_of(*get_args(Kind)),
    "direction": Field.number,
    "lower": _value,
    "upper": _value,
    "step": Field.number,
    "may_rise": Field.flag,
    "may_fall": Field.flag,
    "fixed": Field.flag,
    "weight": Field.weight,
    "options": _values,
    "special": _values,
    "may_become": _values,
    "may_leave": _values,
    "missing": lambda field: field.flag() if isinstance(field.value, bool) else field.one_of(*get_args(Missing)),
    "max_rise": _value,
    "max_fall": _value,
    "lower_from": Field.name,
    "upper_from": Field.name,
    "group": Field.name,
    "label": Field.text,
    "unit": Field.text,
    "description": Field.text,
    "value_labels": _labels,
    "number_format": lambda field: field.one_of(*get_args(NumberFormat)),
}
"""How each attribute of a feature is read."""

GROUP: dict[str, Callable[[Field], Any]] = {
    "name": Field.name,
    "one_hot": Field.flag,
    "may_be_empty": Field.flag,
    "label": Field.text,
}
"""How each attribute of a group is read."""

DECISION: dict[str, Callable[[Field], Any]] = {
    "threshold": Field.number,
    "favorable": lambda field: field.one_of("above", "below"),
    "outcomes": _words,
    "outcome_nouns": _words,
    "score_label": Field.text,
    "score_format": lambda field: field.one_of(*get_args(NumberFormat)),
}
"""How each attribute of a decision is read."""


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, dict):  # labels of values, by their text
        return "{" + ", ".join(f"{_toml(key)} = {_toml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, str):
        # TOML's basic strings use JSON's escapes. JSON leaves the control character DEL as it is, which TOML does not
        # allow, and others that a terminal would obey.
        return printable(json.dumps(value, ensure_ascii=False))
    return repr(value)

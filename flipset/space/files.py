"""Features and groups as JSON, for programs, and as TOML, for people who review and edit them.

Reading checks the type and the size of every value, and then each feature and group by itself. `Space` checks that they
fit together. What is written is read before it is returned, so that nothing is written that cannot be read.
"""

from __future__ import annotations

import json
from dataclasses import fields
from math import isinf
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, get_args

from flipset.boundary.limits import MOST_COLUMNS, MOST_OPTIONS
from flipset.boundary.printable import printable
from flipset.boundary.reading import Field, parse, parse_toml, shown
from flipset.errors import InputError
from flipset.space.feature import Feature, Kind
from flipset.space.group import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flipset.space.feature import Value

T = TypeVar("T")

FORMAT = "flipset-space/1"

Parts: TypeAlias = tuple[list[Feature], list[Group]]
"""The features and groups of a space; the table it was read from is not written to files."""


def write_json(features: Sequence[Feature], groups: Sequence[Group]) -> str:
    """Write features and groups as JSON; attributes with their default values are left out."""
    text = json.dumps({"format": FORMAT, **_plain(features, groups)}, indent=2)
    # Read back before it is returned: what exceeds the limits of reading must be refused when it is written.
    read_json(text)
    return text


def read_json(text: str) -> Parts:
    """Read what `write_json` wrote."""
    return _read_parts(parse(text, "a space", infinite=True))


def write_toml(features: Sequence[Feature], groups: Sequence[Group], notes: Mapping[str, str] | None = None) -> str:
    """Write features and groups as TOML, one table for each; `notes` are comments at features, by name."""
    lines = [f'format = "{FORMAT}"']
    for table, items in _plain(features, groups).items():
        for item in items:
            lines += ["", f"[[{table}]]"]
            if notes and table == "feature" and item["name"] in notes:
                # A line break or another control character would end the comment, or make the file invalid.
                lines.append("# " + "".join(letter if letter.isprintable() else " " for letter in notes[item["name"]]))
            lines += [f"{key} = {_toml(value)}" for key, value in item.items()]
    text = "\n".join(lines) + "\n"
    read_toml(text)
    return text


def read_toml(text: str) -> Parts:
    """Read features and groups from TOML."""
    return _read_parts(parse_toml(text, "a space"))


def _plain(features: Sequence[Feature], groups: Sequence[Group]) -> dict[str, list[dict[str, Any]]]:
    data = {"feature": [_given(feature) for feature in features]}
    if groups:
        data["group"] = [_given(group) for group in groups]
    return data


def _given(item: Feature | Group) -> dict[str, Any]:
    given = {}
    for field in fields(item):
        value = getattr(item, field.name)
        # Files are for people to edit, who should see what differs from the ordinary.
        if value != field.default:
            given[field.name] = list(value) if isinstance(value, tuple) else value
    return given


def _read_parts(data: Any) -> Parts:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f'a space must say format = "{FORMAT}"')
    tables = Field(data, "the space").members(("format",), ("feature", "group"))
    return (
        [_read(Feature, item, FEATURE) for item in _tables(tables, "feature")],
        [_read(Group, item, GROUP) for item in _tables(tables, "group")],
    )


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
    "missing": Field.flag,
    "group": Field.name,
}
"""How each attribute of a feature is read."""

GROUP: dict[str, Callable[[Field], Any]] = {"name": Field.name, "one_hot": Field.flag, "may_be_empty": Field.flag}
"""How each attribute of a group is read."""


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        # TOML's basic strings use JSON's escapes. JSON leaves the control character DEL as it is, which TOML does not
        # allow, and others that a terminal would obey.
        return printable(json.dumps(value, ensure_ascii=False))
    return repr(value)

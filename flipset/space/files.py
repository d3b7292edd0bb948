"""Features and groups as JSON, for programs, and as TOML, for people who review and edit them.

Reading checks each feature and group by itself. `Space` checks that they fit together.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeAlias

from flipset.errors import InputError
from flipset.space.feature import Feature
from flipset.space.group import Group

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT = "flipset-space/1"

Parts: TypeAlias = tuple[list[Feature], list[Group]]
"""The features and groups of a space; the table it was read from is not written to files."""


def write_json(features: Sequence[Feature], groups: Sequence[Group]) -> str:
    """Write features and groups as JSON; attributes with their default values are left out."""
    return json.dumps({"format": FORMAT, **_plain(features, groups)}, indent=2)


def read_json(text: str) -> Parts:
    """Read what `write_json` wrote."""
    try:
        data = json.loads(text)
    except (TypeError, json.JSONDecodeError) as error:
        raise InputError(f"a space must be JSON: {error}") from None
    return _read_parts(data)


def write_toml(features: Sequence[Feature], groups: Sequence[Group]) -> str:
    """Write features and groups as TOML, one table for each."""
    lines = [f'format = "{FORMAT}"']
    for table, items in _plain(features, groups).items():
        for item in items:
            lines += ["", f"[[{table}]]"]
            lines += [f"{key} = {_toml(value)}" for key, value in item.items()]
    return "\n".join(lines) + "\n"


def read_toml(text: str) -> Parts:
    """Read features and groups from TOML."""
    try:
        data = tomllib.loads(text)
    except (TypeError, AttributeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"a space must be TOML: {error}") from None
    return _read_parts(data)


def _plain(features: Sequence[Feature], groups: Sequence[Group]) -> dict[str, list[dict[str, Any]]]:
    data = {"feature": [_given(feature) for feature in features]}
    if groups:
        data["group"] = [_given(group) for group in groups]
    return data


def _given(item: Feature | Group) -> dict[str, Any]:
    given = {}
    for field in fields(item):
        value = getattr(item, field.name)
        if value != field.default:
            given[field.name] = list(value) if isinstance(value, tuple) else value
    return given


def _read_parts(data: Any) -> Parts:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f'a space must say format = "{FORMAT}"')
    strangers = set(data) - {"format", "feature", "group"}
    if strangers:
        raise InputError(f"a space has feature and group tables; {min(strangers)!r} is neither")
    features = [_read(Feature, item, "feature", i) for i, item in enumerate(_list(data, "feature"))]
    groups = [_read(Group, item, "group", i) for i, item in enumerate(_list(data, "group"))]
    return features, groups


def _list(data: dict[str, Any], name: str) -> list[Any]:
    items = data.get(name, [])
    if not isinstance(items, list):
        raise InputError(f"{name!r} must be a list of tables")
    return items


def _read(kind: type[Any], item: Any, table: str, i: int) -> Any:
    allowed = [field.name for field in fields(kind)]
    if not isinstance(item, dict):
        raise InputError(f"{table} {i + 1} must be a table, got {item!r}")
    where = f"{table} {item.get('name', i + 1)!r}"
    for key in item:
        if key not in allowed:
            raise InputError(f"{where} has {key!r}, which is not one of {', '.join(allowed)}")
    if "name" not in item:
        raise InputError(f"{where} has no name")
    return kind(**item)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        # TOML's basic strings use JSON's escapes. Only the control character DEL, which JSON leaves as it is, must be
        # escaped as well.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)

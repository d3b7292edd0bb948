"""Reading the space that a command is given: from a file, or from the model, the data and options.

What the user says comes last, so it wins. Where it contradicts the constraints of the model, the explainer refuses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from flipset import InputError, Space
from flipset.boundary.reading import read_file
from flipset.cli.option_values import amount, bound, codes, items, number, pairs
from flipset.cli.textcells import numbers_of
from flipset.models import read_model
from flipset.models.monotone.show import kept_constraints
from flipset.space.frame import SEEN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from flipset.cli.options import SpaceOptions
    from flipset.models import Scorer

Suggest: TypeAlias = "Callable[[Scorer, Sequence[str]], Mapping[str, int]]"
"""A function that returns the directions of columns for which none is declared."""


def make_space(
    model: Any,
    frame: Any,
    positive: Any,
    options: SpaceOptions,
    suggest: Suggest | None = None,
) -> Space:
    """Read the space from a file, or from the model and the data; then apply the options.

    `suggest` gives the directions of columns for which neither the model nor an option declares one.
    """
    bounds = _bounds(options.bounds)
    if options.space is None:
        space = _space_of_data(read_model(model, positive), frame, options, bounds, suggest)
    else:
        _refuse_beside_file(options)
        space = _space_of_file(options.space, frame)
    return space.with_changes(
        items(options.fix, space.names),
        bounds,
        within=items(options.within, space.names) or None,
        max_rise={name: amount("max-rise", text) for name, text in pairs("max-rise", options.max_rise).items()},
        max_fall={name: amount("max-fall", text) for name, text in pairs("max-fall", options.max_fall).items()},
    )


def _space_of_file(path: Path, frame: Any) -> Space:
    """Read a space from a file; the data are its population."""
    space = read_space(path)
    table = columns_of(frame, space.names, "the space names")
    scales = [one.name for one in space.features if one.kind in ("numeric", "integer") and not one.options]
    return space.with_reference(numbers_of(table, scales))


def _space_of_data(
    scorer: Scorer, frame: Any, options: SpaceOptions, bounds: Mapping[str, tuple[Any, Any]], suggest: Suggest | None
) -> Space:
    """Make a space of the data, in the directions that the model or the options declare."""
    columns = list(frame.columns)
    scorer = scorer.with_names_of(columns)
    table = _table_of(scorer, frame, options)
    directions = _directions(scorer, table, columns, options, suggest)
    low, high = _quantiles(options.quantiles)
    return Space.from_frame(
        numbers_of(table, [name for name in directions if name in table.columns]),
        increasing=[name for name, sign in directions.items() if sign > 0],
        decreasing=[name for name, sign in directions.items() if sign < 0],
        categorical=items(options.categorical, columns),
        only_rising=items(options.only_rising, columns),
        only_falling=items(options.only_falling, columns),
        quantiles=(low, high),
        # A step that is read from the data must fit the bounds. `make_space` gives the other columns their bounds.
        bounds={name: pair for name, pair in bounds.items() if name in directions and name in table.columns},
        special=codes("special", options.special),
        steps=_steps(options.step),
    )


def _table_of(scorer: Scorer, frame: Any, options: SpaceOptions) -> Any:
    """Return the columns of the data that the model takes."""
    dropped = items(options.drop, list(frame.columns))
    columns_of(frame, dropped, "--drop names")
    dropped = [*dropped, *([] if options.id is None else [options.id])]
    # A model that knows its columns takes those, whatever else the table has. Only where it knows none is the table
    # taken as it is, without --drop.
    rest = [name for name in frame.columns if name not in dropped]
    return columns_of(frame, scorer.names or rest, "the model was fitted with")


def _directions(
    scorer: Scorer, table: Any, columns: Sequence[str], options: SpaceOptions, suggest: Suggest | None
) -> dict[str, int]:
    """Return the direction of each column that has one: as the options say, else the model, else `suggest`."""
    up, down = items(options.increasing, columns), items(options.decreasing, columns)
    both = [name for name in up if name in down]
    if both:
        raise InputError(f"{both[0]!r} is in --increasing and in --decreasing")
    suggested = {} if suggest is None else suggest(scorer, list(table.columns))
    declared = kept_constraints(scorer, list(table.columns))
    directions = {**suggested, **declared, **dict.fromkeys(up, 1), **dict.fromkeys(down, -1)}
    if not directions and not options.categorical and suggest is None:
        raise InputError(
            "no directions are known: give them with --increasing A,B --decreasing C, or in a file with --space; "
            "flipset space writes one"
        )
    return directions


IN_SPACE_FILES = {
    "increasing": "direction = 1",
    "decreasing": "direction = -1",
    "step": "step = ...",
    "categorical": 'kind = "categorical" and options = [...]',
    "special": "special = [...]",
    "only_rising": "may_fall = false",
    "only_falling": "may_rise = false",
    "quantiles": "lower = ... and upper = ...",
}
"""Options that say how a space is read from the data, and what a space file has in their place."""


def _refuse_beside_file(options: SpaceOptions) -> None:
    """Refuse options that would have no effect, because the space comes from a file."""
    for name, line in IN_SPACE_FILES.items():
        if getattr(options, name):
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is for spaces that are read from the data: put {line} in the space file")


def _bounds(texts: Sequence[str]) -> dict[str, tuple[Any, Any]]:
    """Read allowed ranges of the form name=lower:upper."""
    bounds: dict[str, tuple[Any, Any]] = {}
    for name, value in pairs("bounds", texts).items():
        low_text, colon, high_text = value.partition(":")
        if not colon:
            raise InputError(f"--bounds {name}={value}: expected {name}=LOWER:UPPER")
        bounds[name] = bound(low_text), bound(high_text)
    return bounds


def _steps(texts: Sequence[str]) -> Any:
    """Read steps by column, as `Space.from_frame` takes them: "seen" for all columns, or in place of a step."""
    given = items(texts)
    if SEEN in given:
        if len(given) > 1:
            raise InputError(f"--step {SEEN} is about all columns; use it alone, or name=step for each column")
        return SEEN
    return {name: SEEN if value == SEEN else number("step", value) or 0 for name, value in pairs("step", texts).items()}


def read_space(path: Path) -> Space:
    """Read a space from a TOML or JSON file."""
    text = read_file(path)
    return Space.from_json(text) if path.suffix == ".json" else Space.from_toml(text)


def columns_of(frame: Any, names: Sequence[str], who: str) -> Any:
    """Return these columns of the data; `who` names what needs them."""
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise InputError(
            f"the data have no column {missing[0]!r}, which {who}; they have {', '.join(list(frame.columns)[:12])}"
        )
    chosen = frame[list(names)]
    for name in names:
        _refuse_nested(chosen[name], name)
    return chosen


def _refuse_nested(column: Any, name: str) -> None:
    """Refuse a column with a list or an object in a cell, as JSON lines and Parquet files may have."""
    # Only such columns can hold a list. The others need not be looked at cell by cell.
    if column.dtype != object:
        return
    for i, cell in enumerate(column):
        if not isinstance(cell, (str, bytes)) and hasattr(cell, "__len__"):
            raise InputError(f"row {i} of the data has several values in the column {name!r}; expected one value")


def _quantiles(text: str | None) -> tuple[float, float]:
    if text is None:
        return 0.0, 1.0
    low, colon, high = text.partition(":")
    if not colon:
        raise InputError(f"--quantiles {text}: expected LOWER:UPPER, such as 0.05:0.95")
    return number("quantiles", low) or 0.0, 1.0 if not high.strip() else float(number("quantiles", high) or 0.0)

"""Requests about single rows, and their answers, as JSON."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from dataclasses import asdict, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field, StrictBool

from flipset.boundary.limits import MOST_REQUEST_NAMES as NAMES
from flipset.boundary.limits import MOST_REQUEST_ROWS, MOST_TEXT, PAGE_CHECK_STEPS
from flipset.boundary.reading import shown
from flipset.errors import FlipsetError, InputError, NotMonotone
from flipset.explain.explanation import Explanation
from flipset.serve.bodies import Strict, clean
from flipset.serve.calls import CALL_ROWS
from flipset.show.change_lines import consequence_text
from flipset.show.text import REASONS_TITLE, broken_rules, headline, option_facts, proved, reasons_note
from flipset.show.words import scores_text
from flipset.space.feature import plain
from flipset.space.held import is_held_fixed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from flipset.explainer import Explainer
    from flipset.space import Feature, Space

LISTED = 50
"""The most columns that a message lists."""

BINS = 32
"""The number of bars in the histogram of a population."""

Name = Annotated[str, Field(max_length=MOST_TEXT)]
Bound = int | float | None
Room = int | float | Annotated[str, Field(max_length=MOST_TEXT)]
Cell = Annotated[str, Field(max_length=MOST_TEXT)] | bool | int | float | None


class Change(Strict):
    """Changes of the space."""

    fixed: list[Name] = Field(default_factory=list, max_length=NAMES, description="Features to hold fixed.")
    bounds: dict[Name, tuple[Bound, Bound]] = Field(
        default_factory=dict,
        max_length=NAMES,
        description="Lower and upper bounds; null leaves a side as it is.",
    )
    within: list[Name] | None = Field(
        default=None, max_length=NAMES, description="The only features and groups that may change; null for all."
    )
    max_rise: dict[Name, Room] = Field(
        default_factory=dict, max_length=NAMES, description='How much features may rise: 5000, or "20 %" of the value.'
    )
    max_fall: dict[Name, Room] = Field(
        default_factory=dict, max_length=NAMES, description='How much features may fall: 5000, or "20 %" of the value.'
    )

    def changes(self) -> dict[str, Any]:
        """Return the changes as keyword arguments of `Space.with_changes`."""
        return {name: getattr(self, name) for name in Change.model_fields}


class Wanted(Change):
    """The request for an explanation."""

    max_changes: int | None = Field(default=None, ge=1, le=10_000, description="The largest number of changes.")
    objective: Literal["size", "cost"] = Field(default="size", description="The fewest changes, or the cheapest.")
    options: int | None = Field(default=None, ge=1, le=10_000, description="How many options to return.")
    diverse: bool = Field(default=False, description="Choose options that share few features.")
    reasons: StrictBool | Annotated[int, Field(ge=1, le=10_000)] | Literal["all"] = Field(
        default=True, description='The most reasons, 5 by default; "all" lists those of the whole proof, false none.'
    )

    def wanted(self) -> dict[str, Any]:
        """Return the request as keyword arguments of the explainer."""
        return {name: getattr(self, name) for name in Wanted.model_fields}


class Case(Wanted):
    """A row of the table by its number, or cells, or both: then the cells replace those of the row."""

    row: int | None = Field(default=None, ge=0, description="The number of a row of the table, counted from 0.")
    values: dict[Name, Cell] = Field(default_factory=dict, max_length=NAMES, description="Cells by column.")

    def cells(self, frame: pd.DataFrame, names: tuple[str, ...]) -> dict[str, Any]:
        """Return the cells of the row."""
        # A set, because a request may have ten thousand names.
        known = frozenset(names)
        unknown = next((name for name in self.values if name not in known), None)
        if unknown is not None:
            raise InputError(f"there is no column {shown(unknown)}; the columns are {_listed(names)}")
        if self.row is None:
            missing = [name for name in names if name not in self.values]
            if missing:
                raise InputError(f"values have no {missing[0]!r}: give a value for each column, or the number of a row")
            return {name: self.values[name] for name in names}
        if self.row >= len(frame):
            raise InputError(f"there is no row {shown(self.row)}; the table has rows 0 to {len(frame) - 1}")
        # Given cells win, so that a what-if is the row with a few cells changed.
        return {name: self.values.get(name, plain(frame[name].iloc[self.row])) for name in names}

    def edited(self, frame: pd.DataFrame, space: Space) -> dict[str, Any]:
        """Return the cells of the row; computed columns follow the cells that replace others."""
        cells = self.cells(frame, space.table_columns)
        if self.row is None or space.computed is None or not self.values:
            return cells
        before = Case(row=self.row).cells(frame, space.names)
        changes = tuple((i, cells[name]) for i, name in enumerate(space.names) if name in self.values)
        found = space.computed.changed(list(before.values()), changes)
        return cells | {space.names[i]: value for i, value in found}

    def explain(self, explainer: Explainer, frame: pd.DataFrame) -> Explanation:
        """Explain the row."""
        e: Explanation = explainer.explain(self.edited(frame, explainer.space), **self.wanted())
        return e


class Pair(Case):
    """Two features whose frontier is requested."""

    features: tuple[Name, Name] = Field(description="The two features.")


class Cases(Wanted):
    """Several rows, given by their cells or by their numbers in the table, with the same limits."""

    rows: list[Annotated[int, Field(ge=0)] | dict[Name, Cell]] = Field(max_length=MOST_REQUEST_ROWS)

    def explain(self, explainer: Explainer, frame: pd.DataFrame) -> list[Any]:
        """Explain the rows; return an answer or an error for each."""
        names = explainer.space.table_columns
        cases = [Case(row=row) if isinstance(row, int) else Case(values=row) for row in self.rows]
        rows = [case.cells(frame, names) for case in cases]
        # Calls stay small, so that a person who moves a slider waits for one of them at most.
        results = explainer.explain_table(rows, max_rows=CALL_ROWS, **self.wanted())
        return [problem(one) if isinstance(one, FlipsetError) else answer(one) for one in results]


class Claim(Change):
    """An explanation to verify, as `Explanation.to_json` writes it, and the changes of the space it was made with."""

    explanation: dict[str, Any]

    def replay(self, explainer: Explainer, stop: Callable[[], bool]) -> Any:
        """Verify the explanation, and return every query of its proof with the new answer."""
        # Through text once more: files and requests are read by the same checks.
        e = Explanation.from_json(json.dumps(self.explanation), stop=stop)
        verification = explainer.verify(e, **self.changes(), steps=PAGE_CHECK_STEPS, stop=stop)
        return {
            "ok": bool(verification),
            "decided": verification.decided,
            "checked": bool(verification) and e.status in ("optimal", "none", "incomplete"),
            "problems": verification.problems,
            "not_checked": verification.not_checked,
            "steps": [asdict(answer) for answer in verification.answers],
        }


class Problem(BaseModel):
    """An error."""

    error: str
    kind: str
    rows: list[dict[str, Any]] | None = Field(default=None, description="Two rows that contradict each other, if any.")


def problem(error: FlipsetError) -> Any:
    """Return an error as JSON."""
    rows = list(error.rows) if isinstance(error, NotMonotone) and error.rows is not None else None
    return {"error": str(error), "kind": type(error).__name__, "rows": rows}


def _listed(names: Sequence[str]) -> str:
    """Return some names for a message; a table may have 100,000 columns."""
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(map(repr, names[:LISTED])) + more


def answer(e: Explanation) -> Any:
    """Return an explanation and its texts, so that the page says the same as the terminal and the report."""
    text = {
        "decision": e.outcome,
        "favorable": e.is_favorable,
        "scores": scores_text(e),
        "headline": headline(e),
        "reasons": REASONS_TITLE,
        "reasons_note": reasons_note(e),
        "options": [
            {
                "changes": [[one.label, one.before_text, one.after_text] for one in option.changes],
                "consequences": [consequence_text(one) for one in option.consequences],
                "facts": option_facts(option, e),
            }
            for option in e.counterfactuals
        ],
        "broken": broken_rules(e.rules.broken) if e.rules is not None and e.rules.broken else "",
    }
    return {"explanation": e.to_dict(), "proved": proved(e), "text": text}


def about_feature(feature: Feature, space: Space) -> Any:
    """Return what the page needs to draw a feature: its scale and its population."""
    described = {
        name: getattr(feature, name)
        for name in ("name", "kind", "direction", "lower", "upper", "step", "fixed", "group", "special", "description")
    }
    one_hot = any(group.name == feature.group and group.one_hot for group in space.groups)
    described["one_hot"] = one_hot
    described["movable"] = one_hot or not is_held_fixed(replace(feature, fixed=False))
    described["computed"] = _computed(feature, space)
    described |= {"choices": [], "bars": [], "least": None, "most": None}
    reference = space.reference
    if feature.kind in ("numeric", "integer") and not feature.options:
        numbers = [] if reference is None else reference.scale(feature)
        if numbers:
            described |= {"bars": _bars(numbers), "least": numbers[0], "most": numbers[-1]}
        return clean(described)
    seen = Counter[Any]() if reference is None else Counter(map(plain, reference.cells(feature.name)))
    seen.pop(None, None)
    choices: list[Any] = list(feature.levels or feature.options) or [value for value, _ in seen.most_common(BINS)]
    if reference is not None and reference.is_boolean(feature.name):
        choices = [False, True]
    return clean(described | {"choices": choices, "bars": [seen[choice] for choice in choices]})


def _computed(feature: Feature, space: Space) -> str | None:
    """Say how a column is computed from others; None if it is not."""
    if space.computed is None or feature.name not in space.computed.names:
        return None
    formula = space.derived.get(feature.name, space.follows.get(feature.name))
    return f"computed: {formula}" if isinstance(formula, str) else "computed from other columns"


def _bars(numbers: Sequence[float]) -> list[int]:
    """Count sorted numbers in bins of equal width."""
    least, width = (
        numbers[0],
        numbers[-1] / BINS - numbers[0] / BINS,
    )  # divided first: a difference of large floats may be infinite
    edges = [bisect_left(numbers, least + width * k) for k in range(1, BINS)] if width else []
    return [b - a for a, b in pairwise([0, *edges, len(numbers)])]


REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The request cannot be answered; the error says why."},
    422: {"description": "Fields have wrong types or values."},
    503: {"model": Problem, "description": "Too many requests are waiting."},
}

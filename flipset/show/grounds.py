"""What a proof rests on, in words: "given that the score rises with income and falls with debt (taken on trust)"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.plural import count
from flipset.results.basis import BASES
from flipset.show.words import joined
from flipset.space.feature import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.results.basis import Basis
    from flipset.results.data import ExplanationData
    from flipset.space.moves import Unit

NAMED = 6
"""The most features whose directions are named one by one; of more, only those with the weakest basis are."""

BASIS_WORDS: Mapping[Basis, str] = {
    "proved": "proved from the model itself",
    "declared": "the model was fitted with this constraint",
    "audited": "audited",
    "assumed": "taken on trust",
}


def given(e: ExplanationData) -> str:
    """Say the condition of a proof, with its basis; nothing where there is no condition."""
    groups = [(basis, wrong) for basis in BASES for wrong in (False, True)]
    units = {key: [unit for unit in _conditional(e) if _group(unit, e) == key] for key in groups}
    listed = {_basis(*key, e): some for key, some in units.items() if some}
    if not listed:
        return ""
    score = e.words.decision.score_label
    if sum(map(len, listed.values())) <= NAMED:
        parts = [f"{_directions(some, e)} ({basis})" for basis, some in listed.items()]
        return f"given that the {score} {_all_of(parts)}"
    *strong, (weakest, weak) = listed.items()
    names = [e.words.label(unit.name) for unit in weak]
    parts = [f"{len(some):,} {basis}" for basis, some in strong]
    parts.append(f"{len(weak):,} {weakest}" + (f": {_some(names)}" if strong else ""))
    total = sum(map(len, listed.values()))
    return f"given that the {score} follows the directions of {total:,} features ({'; '.join(parts)})"


def proved_given(e: ExplanationData, what: str = "Proved") -> str:
    """Put a word before the condition: "Proved, given that ..."; without a condition, the word alone."""
    condition = given(e)
    return f"{what}, {condition}" if condition else what


def _conditional(e: ExplanationData) -> list[Unit]:
    """Return the units whose directions matter; of one without an order, all options are tried."""
    return [unit for unit in e.moves.units if unit.ordered or e.basis[unit.name] != "proved"]


def _directions(units: Sequence[Unit], e: ExplanationData) -> str:
    columns = list(e.row)
    rising: list[str] = []
    falling: list[str] = []
    ordered: list[str] = []
    for unit in units:
        before = e.row[columns[unit.columns[0]]]
        after = unit.end[1] if unit.end is not None else None
        if not (is_number(before) and is_number(after)):
            names = ordered
        else:
            names = rising if (after > before) != e.decision else falling
        names.append(e.words.label(unit.name))
    verbs = {"rises with": rising, "falls with": falling, "follows the order of": ordered}
    return _all_of([f"{verb} {joined(names)}" for verb, names in verbs.items() if names])


def _group(unit: Unit, e: ExplanationData) -> tuple[Basis, bool]:
    return e.basis[unit.name], unit.name in e.contradicted


def _basis(basis: Basis, contradicted: bool, e: ExplanationData) -> str:
    if contradicted:
        return "NOT SO for every row: the model contradicts it"
    if basis == "audited" and e.audited_pairs is not None:
        return f"audited: none of {count(e.audited_pairs, 'pair')} of rows was in the wrong order"
    return BASIS_WORDS[basis]


def _all_of(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]


def _some(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return f"{', '.join(names[:NAMED])} and {more:,} more" if more > 0 else joined(names)

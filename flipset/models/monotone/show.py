"""What callers use: `show_monotone`, `suggest_directions`, and the structure of a model that is read in parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from flipset.models.monotone.inputs import Inputs, Steps, as_they_are, columns_of, mixed
from flipset.models.monotone.linear import Weights, judge_weights
from flipset.models.monotone.order import judge
from flipset.models.monotone.shown import (
    Declared,
    NotRead,
    Shown,
    Structure,
    Suggested,
    Suspect,
    nothing_shown,
)
from flipset.models.monotone.suspects import suspects_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flipset.models.monotone.trees import Forest
    from flipset.models.scorer import Scorer

SCORES_ALONE = "only the scores of the model are known"

NO_COLUMN = "the model has no column of this name"

DERIVED = "the model computes statistics of it, which may change in any way"

UNKNOWN_FORM = "the installed version of its library keeps the model in a form that is not known"


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What was read of a model: the score follows a sum of trees or of weighted inputs.

    Attributes
    ----------
    body
        The terms of the sum.
    sign
        +1 if the score never falls when the sum rises, -1 if it never rises, as for the first of two classes.
    notes
        What is taken for granted about the score, given the sum.
    derived
        Further inputs of the sum, which the model computes itself: the inputs that each depends on.
    why_not
        Why the score need not follow the sum, so that nothing is proved; empty if it does. The terms still show whether
        the model was fitted with a constraint.
    """

    body: Forest | Weights
    sign: int = 1
    notes: tuple[str, ...] = ()
    derived: tuple[frozenset[int], ...] = ()
    why_not: str = ""


def show_monotone(
    scorer: Scorer,
    directions: Mapping[str, int],
    columns: Sequence[str] | None = None,
    levels: Mapping[str, Sequence[object]] | None = None,
) -> Shown:
    """Say in which of the declared directions a model is monotone, as its own structure shows.

    Parameters
    ----------
    scorer
        The model.
    directions
        +1 or -1 for each column that has a direction.
    columns
        The names of the table's columns. A model that does not know its columns gets them in this order. Other models
        take theirs by name, and the score does not depend on the rest.
    levels
        The values of columns that have an order without being numbers, from the lowest to the highest.
    """
    names = _names(scorer, columns)
    known = {name: directions[name] for name in dict.fromkeys(names) if name in directions}
    declared = Declared(names, known, levels or {})
    shown = nothing_shown(declared, SCORES_ALONE) if scorer.structure is None else scorer.structure(declared)
    # A column of the table that the model never gets cannot change its score. Other names may be mistakes.
    others = directions.keys() - known.keys()
    unseen = others & set(columns or ()) if scorer.structure is not None else frozenset()
    why_not = {**shown.why_not, **dict.fromkeys(sorted(others - unseen), NO_COLUMN)}
    return replace(shown, proved=shown.proved | unseen, why_not=why_not)


def kept_constraints(scorer: Scorer, columns: Sequence[str]) -> dict[str, int]:
    """Return the constraints that a model was fitted with, without those that its own trees do not keep.

    Some libraries keep no record of the training but the parameters, which may have been changed afterwards.
    """
    directions = scorer.with_names_of(columns).directions
    lost = show_monotone(scorer, directions, columns).out_of_order if directions else frozenset()
    return {name: direction for name, direction in directions.items() if name not in lost}


def suggest_directions(scorer: Scorer, columns: Sequence[str] | None = None) -> Suggested:
    """Return the directions in which a model is monotone, as its own structure shows."""
    names = _names(scorer, columns)
    up = show_monotone(scorer, dict.fromkeys(names, +1), columns)
    down = show_monotone(scorer, dict.fromkeys(names, -1), columns)
    directions = {
        name: +1 if name in up.proved else -1 for name in names if (name in up.proved) != (name in down.proved)
    }
    why_not = {name: up.why_not[name] for name in names if name in up.why_not and name in down.why_not}
    return Suggested(directions, up.proved & down.proved, why_not, tuple(dict.fromkeys([*up.notes, *down.notes])))


def _names(scorer: Scorer, columns: Sequence[str] | None) -> tuple[str, ...]:
    if columns is not None:
        scorer = scorer.with_names_of(columns)
    names = columns if scorer.names is None else scorer.names
    return () if names is None else tuple(names)


def structure_of(read: Callable[[], Reading], steps: Steps = as_they_are) -> Structure:
    """Return the structure of a model that is read when it is first asked for, and of the steps before it."""
    read_once = cache(read)

    def show(declared: Declared) -> Shown:
        try:
            inputs, reading = steps(columns_of(declared)), read_once()
            inputs += tuple(mixed([inputs[i] for i in own], DERIVED) for own in reading.derived)
            if len(inputs) != reading.body.width:
                raise NotRead(f"the model takes {reading.body.width:,} inputs, and its columns make {len(inputs):,}")
            return _shown(declared, inputs, reading)
        except NotRead as why_not:
            return nothing_shown(declared, str(why_not))
        except Exception as error:
            # Readers use what libraries keep inside, and libraries raise anything. If that fails, nothing is claimed.
            return nothing_shown(declared, f"{UNKNOWN_FORM} ({type(error).__name__})")

    return show


def _shown(declared: Declared, inputs: Inputs, reading: Reading) -> Shown:
    place = {name: i for i, name in enumerate(declared.names)}
    wanted: dict[int, int] = {}
    for name, direction in declared.directions.items():
        for i, one in enumerate(inputs):
            if place[name] in one.columns and one.sign:
                wanted[i] = direction * one.sign * reading.sign
    failed, undecided, suspects = _judged(reading.body, wanted, inputs, declared.names)
    if reading.sign < 0:
        # The pairs are about the sum. The score falls where the sum rises, so the better row is the other one.
        suspects = tuple(replace(one, worse=one.better, better=one.worse) for one in suspects)
    # An input without order does no harm if the sum does not depend on it.
    lost = {i for i, one in enumerate(inputs) if not one.sign and i in _used(reading.body)}
    why_not = {}
    for name in declared.directions:
        own = [i for i, one in enumerate(inputs) if place[name] in one.columns]
        reasons = [inputs[i].why_not for i in own if i in lost] + [failed[i] for i in own if i in failed]
        if reasons or reading.why_not:
            why_not[name] = reading.why_not or reasons[0]
    if isinstance(reading.body, Weights):
        suspects = tuple(_along(name, direction) for name, direction in declared.directions.items() if name in why_not)
    proved = frozenset(declared.directions.keys() - why_not.keys())
    trusted = dict.fromkeys(
        one.note for one in inputs if one.note and any(place[name] in one.columns for name in proved)
    )
    wrong = failed.keys() - undecided
    out_of_order = frozenset(name for name in why_not if any(place[name] in inputs[i].columns for i in wrong))
    return Shown(proved, why_not, suspects, (*reading.notes, *trusted) if proved else (), out_of_order)


def _along(name: str, direction: int) -> Suspect:
    """Return two rows along one column of a linear model, which orders all such pairs alike."""
    return Suspect(name, {name: 0.0}, {name: float(direction)}, 0)


def _judged(
    body: Forest | Weights, wanted: Mapping[int, int], inputs: Inputs, names: Sequence[str]
) -> tuple[Mapping[int, str], frozenset[int], tuple[Suspect, ...]]:
    if isinstance(body, Weights):
        return judge_weights(body, wanted), frozenset(), ()
    verdict = judge(body, wanted)
    return verdict.failed, verdict.undecided, suspects_of(verdict.disorders, inputs, names)


def _used(body: Forest | Weights) -> set[int]:
    """Return the inputs that the sum depends on."""
    if isinstance(body, Weights):
        return {i for i, weight in enumerate(body.weights.tolist()) if weight}
    return set(body.feature.tolist()) - {-1}

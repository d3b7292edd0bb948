"""Why a model is taken to follow the directions of a space: `Monotonicity`, feature by feature.

Where the directions contradict the constraints that the model was fitted with, nothing can be explained: the space is
refused. What the model's own structure shows is "proved". A direction that it was fitted with is "declared". An audit
makes the rest "audited", where it compared pairs and found all of them in order. What is left is "assumed".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import islice, product
from math import ceil, floor, isinf
from typing import TYPE_CHECKING, Any

from flipset.answers.order import is_in_order
from flipset.errors import FlipsetError, InputError
from flipset.explain.audit_result import Witness, witness_text
from flipset.explain.through_computed import through_computed
from flipset.models.monotone.show import kept_constraints, show_monotone
from flipset.models.scorer import in_order_of
from flipset.models.scores import read_scores
from flipset.models.tables import ask_rows
from flipset.plural import count
from flipset.results.basis import BASES, Basis, weakest
from flipset.space.feature import is_number
from flipset.space.held import is_held_fixed
from flipset.space.moves import MoveFinder
from flipset.space.rows import Row
from flipset.space.told_rules import computed_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.explain.audit_result import Audit
    from flipset.models import Scorer
    from flipset.models.monotone.shown import Shown, Suspect
    from flipset.results.data import ExplanationData
    from flipset.space import Feature, Space
    from flipset.space.cells import Cells
    from flipset.space.computed_columns import ComputedColumns
    from flipset.space.feature import Value

DIRECTIONS = {1: "increasing", -1: "decreasing"}

NOT_KEPT = ", although the model's parameters name this direction as a constraint"


@dataclass(frozen=True, slots=True)
class Monotonicity(Mapping[str, Basis]):
    """For each feature that may move, why the score is taken to follow its direction.

    It is a mapping from names to "proved", "declared", "audited" or "assumed".

    Attributes
    ----------
    bases
        The mapping.
    notes
        For some features, why the basis is not a stronger one, in words.
    conditions
        What a proof from the structure of the model leaves out, such as the link function.
    witnesses
        Pairs of rows that contradict a direction.
    audited_pairs
        How many pairs of rows an audit compared; None if there was none.
    suspects
        Pairs of rows that one tree of the model has in the wrong order, whether or not the whole model does.
    """

    bases: Mapping[str, Basis]
    notes: Mapping[str, str] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    audited_pairs: int | None = None
    suspects: tuple[Suspect, ...] = field(default=(), repr=False)

    def __getitem__(self, name: str) -> Basis:
        return self.bases[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.bases)

    def __len__(self) -> int:
        return len(self.bases)

    @property
    def weakest(self) -> Basis | None:
        """The weakest basis of all features; None if no feature may move."""
        return weakest(self.bases.values())

    @property
    def contradicted(self) -> tuple[str, ...]:
        """The features whose directions two rows contradict."""
        found = {name for witness in self.witnesses for name in witness.features if len(witness.features) == 1}
        return tuple(name for name in self.bases if name in found)

    def names(self, basis: Basis) -> tuple[str, ...]:
        """Return the features with this basis."""
        return tuple(name for name, one in self.bases.items() if one == basis)

    def __repr__(self) -> str:
        counts = [f"{basis}: {len(names):,}" for basis in BASES if (names := self.names(basis))]
        return f"<Monotonicity: {', '.join(counts) or 'no feature may move'}>"

    def __str__(self) -> str:
        width = max(map(len, self.bases), default=0)
        lines = []
        for name, basis in self.bases.items():
            note = f": {self.notes[name]}" if name in self.notes else ""
            lines.append(f"{name:<{width}}  {basis}{note}")
            lines += [f"    {witness_text(one)}" for one in self.witnesses if one.features == (name,)][:1]
        conditions = [f"{one[0].upper()}{one[1:]}." for one in self.conditions]
        return "\n".join([*lines, *conditions]) or "No feature may move."

    def audited(self, audit: Audit) -> Monotonicity:
        """Return what is known after an audit: it speaks for features that are otherwise assumed."""
        # What two rows have refuted is not audited, however many other pairs are in order.
        passed = {one.name for one in audit.features if one.pairs and one.worst is None} - {*self.contradicted}
        chains_hold = audit.chains.worst is None
        bases: dict[str, Basis] = {
            name: "audited" if basis == "assumed" and name in passed and chains_hold else basis
            for name, basis in self.bases.items()
        }
        found = [one.worst for one in (*audit.features, audit.chains) if one.worst is not None]
        notes = dict(self.notes)
        for one in audit.features:
            if one.worst is not None and one.name in bases:
                wrong = one.pairs - one.in_order
                notes[one.name] = f"the audit found {wrong:,} of {count(one.pairs, 'pair')} in the wrong order"
        pairs = sum(one.pairs for one in audit.features if bases.get(one.name) == "audited")
        return replace(
            self,
            bases=bases,
            notes=notes,
            witnesses=(*self.witnesses, *found),
            audited_pairs=pairs or self.audited_pairs,
        )


def moving_features(space: Space) -> list[Feature]:
    """Return the features that may move in some row."""
    units = MoveFinder(space).movable
    # A one-hot column has no direction of its own. The columns of another group that are held fixed do not move.
    return [one for _, members, one_hot in units for _, one in members if one_hot or not is_held_fixed(one)]


def read_monotonicity(space: Space, scorer: Scorer) -> Monotonicity:
    """Return what is known about a model before any row of it is scored; refuse directions that contradict it."""
    scorer = scorer.with_names_of(space.names)
    refuse_contradictions(space, scorer)
    moving = moving_features(space)
    directions: dict[str, int] = {one.name: one.direction for one in moving if one.direction is not None}
    levels = {one.name: one.levels for one in moving if one.levels}
    through = through_computed(directions, space.computed)
    wanted = {**directions, **through.directions}
    shown = show_monotone(scorer, wanted, space.names, levels)
    known = _bases(wanted, shown, scorer)
    # Of a feature without a direction all options are tried, so that nothing is taken for granted.
    bases: dict[str, Basis] = {one.name: known.get(one.name, "proved") for one in moving}
    notes = {name: why for name, why in shown.why_not.items() if name in bases}
    for name, (basis, why) in through.limits(known).items():
        if name in bases and BASES.index(basis) > BASES.index(bases[name]):
            bases[name], notes[name] = basis, why
    for name in shown.out_of_order & bases.keys() & scorer.directions.keys():
        notes[name] += NOT_KEPT if scorer.directions[name] == wanted[name] else ""
    return Monotonicity(bases, notes, shown.notes if shown.proved else (), suspects=shown.suspects)


def read_for_moves(e: ExplanationData, scorer: Scorer) -> dict[str, Basis]:
    """Return what a model shows about the directions of an explanation, as far as its moves tell them."""
    columns, directions = list(e.row), _directions_of(e)
    computed = None if e.rules is None else computed_of(e.rules, e.row)
    return _read_directions(directions, columns, scorer, computed)


def _directions_of(e: ExplanationData) -> dict[str, int]:
    """Return the directions of columns that the moves of an explanation tell: those of numbers that move alone."""
    columns = list(e.row)
    directions: dict[str, int] = {}
    for unit in e.moves.units:
        if unit.ordered and unit.end is not None:
            before, after = e.row[columns[unit.columns[0]]], unit.end[1]
            if is_number(before) and is_number(after):
                directions[columns[unit.columns[0]]] = 1 if (after > before) != e.decision else -1
    return directions


def _read_directions(
    directions: Mapping[str, int], columns: Sequence[str], scorer: Scorer, computed: ComputedColumns | None
) -> dict[str, Basis]:
    through = through_computed(directions, computed)
    wanted = {**directions, **through.directions}
    known = _bases(wanted, show_monotone(scorer, wanted, columns), scorer.with_names_of(columns))
    limits = {name: basis for name, (basis, _) in through.limits(known).items()}
    return {name: weakest([known[name], limits.get(name, "proved")]) or "assumed" for name in directions}


def _bases(directions: Mapping[str, int], shown: Shown, scorer: Scorer) -> dict[str, Basis]:
    """Return why a model is taken to follow these directions."""
    kept = {name for name, one in directions.items() if scorer.directions.get(name) == one} - shown.out_of_order
    return {
        name: "proved" if name in shown.proved else "declared" if name in kept else "assumed" for name in directions
    }


class DirectionBases:
    """What the directions of proofs on file rest on in a model, which need not be the one that they were made with.

    A direction of the space rests on what is known about it. Others are read from the model when they are first needed.
    """

    def __init__(self, space: Space, known: Monotonicity, scorer: Callable[[], Scorer]) -> None:
        self._scorer = cache(scorer)
        self._known: dict[tuple[str, int | None], Basis] = {
            (one.name, one.direction): known[one.name] for one in space.features if one.name in known
        }

    def weakest(self, e: ExplanationData) -> Basis | None:
        """Return the weakest basis of the directions that the proof of an explanation needs; None if it needs none."""
        columns, directions = list(e.row), _directions_of(e)
        new = {name: direction for name, direction in directions.items() if (name, direction) not in self._known}
        if new:
            computed = None if e.rules is None else computed_of(e.rules, e.row)
            found = _read_directions(new, columns, self._scorer(), computed)
            self._known |= {(name, new[name]): basis for name, basis in found.items()}
        needed = [columns[i] for unit in e.moves.units if unit.ordered for i in unit.columns]
        return weakest(self._known.get((name, directions.get(name)), self._else(name)) for name in needed)

    def _else(self, name: str) -> Basis:
        """Return the basis of a column whose direction the moves do not tell, such as one with levels."""
        return next((basis for (one, _), basis in self._known.items() if one == name), "assumed")


def find_witnesses(
    space: Space, known: Monotonicity, ask: Callable[[Sequence[tuple[Row, Cells]]], list[float]]
) -> Monotonicity:
    """Return what is known when the model has been asked about rows that one of its trees has in the wrong order.

    Most of them are in order for the model as a whole. Where one is not, it shows that the direction does not hold.
    """
    pairs = [pair for suspect in known.suspects for pair in _pairs(space, suspect)]
    if not pairs:
        return known
    try:
        scores = ask([(row, ()) for _, worse, better in pairs for row in (worse, better)])
    except FlipsetError:
        # A value at a split need not be one that the table can hold. Whole numbers beside it may do as well.
        pairs = [(suspect, *_apart(worse, better)) for suspect, worse, better in pairs]
        try:
            scores = ask([(row, ()) for _, worse, better in pairs for row in (worse, better)])
        except FlipsetError:
            return known
    worst: dict[int, Witness] = {}  # of the rows that differ only in categories, those that show it most
    notes = dict(known.notes)
    for (suspect, worse, better), score, better_score in zip(pairs, scores[::2], scores[1::2], strict=True):
        if not is_in_order(score, better_score):
            rows = [dict(zip(space.names, row, strict=True)) for row in (worse, better)]
            witness = Witness((suspect.feature,), rows[0], rows[1], score, better_score)
            worst[id(suspect)] = max(worst.get(id(suspect), witness), witness, key=lambda one: one.fall)
            notes[suspect.feature] = "two rows contradict this direction"
    found = replace(known, witnesses=(*known.witnesses, *worst.values()), notes=notes)
    bases: dict[str, Basis] = {
        name: "assumed" if name in found.contradicted else basis for name, basis in known.items()
    }
    return replace(found, bases=bases)


def read_with_witnesses(
    space: Space, scorer: Scorer, wrap: Callable[[Callable[[Any], Any]], Callable[[Any], Any]] = lambda predict: predict
) -> Monotonicity:
    """Return what is known about a model, with rows that contradict a direction; `wrap` is put around its function."""
    predict = wrap(in_order_of(scorer, space.names))
    score = partial(read_scores, predict)
    known = read_monotonicity(space, scorer)
    return find_witnesses(space, known, lambda rows: ask_rows(score, len(space.names), space.reference, rows))


MOST_CHOICES = 32
"""The most combinations of categories that are tried for two rows."""


def _pairs(space: Space, suspect: Suspect) -> Iterator[tuple[Suspect, Row, Row]]:
    """Yield the rows of a suspect; where they need a certain category, with the options of the space in turn."""
    options = {one.name: one.levels or one.options for one in space.features if one.name in suspect.unset}
    for cells in islice(product(*options.values()), MOST_CHOICES):
        chosen = dict(zip(options, cells, strict=True))
        worse, better = (_complete(space, {**chosen, **side}) for side in (suspect.worse, suspect.better))
        yield suspect, worse, better


def _apart(worse: Row, better: Row) -> tuple[Row, Row]:
    """Return two rows with whole numbers, rounded so that they stay apart where they differ."""
    lower, upper = [], []
    for a, b in zip(worse, better, strict=True):
        if not (is_number(a) and is_number(b)) or isinstance(a, bool):
            lower.append(a)
            upper.append(b)
        else:
            lower.append(floor(a) if a <= b else ceil(a))
            upper.append(floor(b) if b <= a else ceil(b))
    return Row.of(lower), Row.of(upper)


def _complete(space: Space, cells: Mapping[str, Any]) -> Row:
    """Return a row with these cells; the others have some value that their features allow."""
    return Row.of(cells[one.name] if one.name in cells else _some_value(one) for one in space.features)


def _some_value(feature: Feature) -> Value:
    if feature.levels or feature.options:
        return (feature.levels or feature.options)[0]
    return 0 if feature.lower is None or isinf(feature.lower) else feature.lower


def refuse_contradictions(space: Space, scorer: Scorer) -> None:
    """Refuse directions that contradict the constraints that the model was fitted with."""
    directions = scorer.with_names_of(space.names).directions
    against = [
        (one.name, one.direction, directions[one.name])
        for one in space.features
        if one.ordered and not one.fixed and directions.get(one.name, one.direction) != one.direction
    ]
    if against:
        # The trees are looked at only here: a parameter that was changed after fitting is no constraint of the model.
        kept = kept_constraints(scorer, space.names)
        against = [one for one in against if one[0] in kept]
    if against:
        raise InputError(
            f"the space contradicts the constraints that the model was fitted with: {_listed(against)}; turn the "
            "directions round, or say which class counts: positive=..."
        )


def _listed(against: Sequence[tuple[str, int | None, int]]) -> str:
    texts = [f"{name!r} is {DIRECTIONS[own or 1]} in the space and {DIRECTIONS[its]} in the model"
             for name, own, its in against[:4]]  # fmt: skip
    return ", ".join(texts) + (f", and {len(against) - 4:,} more" if len(against) > 4 else "")

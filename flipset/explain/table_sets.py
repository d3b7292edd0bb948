"""What can be found out about many rows at once, before each is looked at by itself.

Rows whose features all follow an order, in columns of numbers, are searched `abreast`. All that this leaves to do for
most of them is to find values. Rows of any other kind are passed over: nothing is found out about them here.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from flipset.drivers.apart import ask_apart
from flipset.errors import FlipsetError
from flipset.flipsets import conclude
from flipset.layers import Tally
from flipset.models.scores import margins_of
from flipset.models.tables import Pile, can_be_piled
from flipset.proof import Proof
from flipset.protocol import features_of
from flipset.search.proving import build_proof
from flipset.search.table.search import MOST_FEATURES, Abreast
from flipset.sets.known import Known
from flipset.space.moves import Finder
from flipset.space.rows import Row, check_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from flipset.protocol import Flips
    from flipset.search.result import Flipsets
    from flipset.search.table.search import Outcome, Sheet
    from flipset.space import Space
    from flipset.space.moves import Cells, Moves

    Floats: TypeAlias = NDArray[np.float64]
    Ask: TypeAlias = Callable[[Any], Floats]


@dataclass(frozen=True, slots=True)
class Scouted:
    """What was found out about a row.

    Attributes
    ----------
    row
        The row, checked.
    moves
        What it may do.
    scores
        Answers that are wanted again, by the cells in which a row differs from this one: those to the row itself and
        to its flip sets.
    found
        The smallest flip sets, if they were found.
    asked
        Lists all sets that were asked about, each with its score and its margin.
    contradiction
        A set that flips and a larger one that does not, if there were such.
    queries, rounds
        What it took, the question about the row itself included.
    interrupted
        Whether somebody wanted it to stop there.
    """

    row: Row
    moves: Moves
    scores: Mapping[Cells, float]
    found: Flipsets | None
    asked: Callable[[], Iterable[tuple[Flips, float, float]]]
    contradiction: tuple[Flips, Flips] | None
    queries: int
    rounds: int
    interrupted: bool


def _only_scored(row: Row, moves: Moves, score: float) -> Scouted:
    """Say what is known about a row that was asked about as it stands."""
    return Scouted(row, moves, {(): score}, None, tuple, None, queries=1, rounds=1, interrupted=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Recruit:
    """A row that can be searched with others: as it came, checked, and as numbers; its score, and what it may do."""

    row: Row
    checked: Row
    numbers: Floats
    score: float
    moves: Moves


def scouting(
    space: Space,
    rows: Sequence[Row],
    threshold: float,
    ask: Ask,
    *,
    places: int,
    batch: int,
    reasons: bool,
    alone: bool = False,
) -> Iterator[tuple[Row, Scouted | None]]:
    """Search rows abreast, so many at a time; yield each with what was found out about it, in any order.

    That is None for rows that are not of the kind, and for those on which the model fails. An interrupt is for all
    rows, unless there is one `alone`: it ends in what is known by then.
    """
    columns = [i for i, feature in enumerate(space.features) if feature.ordered and not feature.fixed]
    if not 0 < len(columns) <= MOST_FEATURES:
        yield from ((row, None) for row in rows)
        return
    finder = Finder(space)
    party = _Party(space, threshold, ask, columns, min(places, len(rows)), batch, reasons)
    waiting: deque[_Recruit] = deque()
    at = 0
    while True:
        while len(waiting) < party.room() and at < len(rows):
            part = rows[at : at + places]
            at += len(part)
            for row, recruit in zip(part, _recruits(finder, part, threshold, ask), strict=True):
                if isinstance(recruit, _Recruit):
                    waiting.append(recruit)
                else:
                    yield row, recruit
        party.admit([waiting.popleft() for _ in range(min(len(waiting), party.room()))])
        if party.is_empty():
            return
        try:
            yield from ((row, None) for row in party.ask_on())
        except KeyboardInterrupt:
            if not alone:
                raise
            party.give_up()
        yield from party.returning()


def _recruits(finder: Finder, rows: Sequence[Row], threshold: float, ask: Ask) -> list[_Recruit | Scouted | None]:
    """Find the rows that can be searched with others; all that may be are asked about as they stand."""
    space = finder.space
    found: list[_Recruit | Scouted | None] = [None] * len(rows)
    checked: list[tuple[int, Row]] = []
    for i, row in enumerate(rows):
        try:
            one = check_row(space, row)
        except FlipsetError:
            continue  # it will be said when that row is looked at by itself
        if can_be_piled(one, space.reference):
            checked.append((i, one))
    if not checked:
        return found
    pile = Pile.of(len(space.names), space.reference, [row for _, row in checked])
    unchanged = np.zeros(pile.base.shape, dtype=bool)
    scores, failed = _ask_apart(ask, np.arange(len(checked)), lambda part: pile.table(part, unchanged[part], pile.base))
    for k, ((i, row), numbers, score) in enumerate(zip(checked, pile.base, scores.tolist(), strict=True)):
        if k in failed:
            continue
        try:
            moves = finder.moves(row, raise_score=score < threshold)
        except FlipsetError:
            continue
        if moves.units and moves.ends is not None and pile.takes(moves.ends):
            found[i] = _Recruit(rows[i], row, numbers, score, moves)
        else:
            found[i] = _only_scored(row, moves, score)
    return found


def _ask_apart(ask: Ask, owners: NDArray[np.intp], table: Callable[[NDArray[np.intp]], Any]) -> tuple[Floats, set[int]]:
    """Ask a table of questions; where the model fails, find out on whose they are: those have no scores."""
    scores = np.zeros(len(owners))

    def ask_part(part: Sequence[int]) -> list[float]:
        places = np.asarray(part)
        scores[places] = ask(table(places))
        answers: list[float] = scores[places].tolist()
        return answers

    outcomes = ask_apart(ask_part, owners.tolist())
    # What failed will be said when that row is looked at by itself.
    failed = {int(owners[i]) for i, outcome in enumerate(outcomes) if isinstance(outcome, FlipsetError)}
    return scores, failed


class _Party:
    """The rows that are searched together, each at its place."""

    def __init__(
        self,
        space: Space,
        threshold: float,
        ask: Ask,
        columns: Sequence[int],
        places: int,
        batch: int,
        reasons: bool,
    ) -> None:
        self.threshold = threshold
        self.ask = ask
        self.columns = np.array(columns)
        self.place_of = {column: j for j, column in enumerate(columns)}
        self.search = Abreast(places, len(columns), batch=batch, reasons=reasons)
        self.members: dict[int, _Recruit] = {}
        width = len(space.names)
        self.pile = Pile(space.reference, [Row()] * places, np.zeros((places, width)))
        self.best = np.zeros((places, width))
        self.rise = np.zeros(places, dtype=bool)
        self.interrupted = False

    def room(self) -> int:
        """How many rows may join."""
        return len(self.pile.rows) - len(self.members)

    def is_empty(self) -> bool:
        """Whether no row is under way."""
        return not self.members

    def admit(self, recruits: Sequence[_Recruit]) -> None:
        """Take rows in."""
        places = self.search.free()[: len(recruits)]
        movable = np.zeros((len(recruits), len(self.columns)), dtype=bool)
        for k, (place, recruit) in enumerate(zip(places.tolist(), recruits, strict=True)):
            self.members[place] = recruit
            self.pile.rows[place] = recruit.row
            self.pile.base[place] = self.best[place] = recruit.numbers
            self.rise[place] = recruit.score < self.threshold
            for column, value in recruit.moves.ends or ():
                movable[k, self.place_of[column]] = True
                self.best[place, column] = value
        scores = np.array([recruit.score for recruit in recruits])
        self.search.enter(places, movable, margins_of(scores, self.threshold, self.rise[places]))

    def ask_on(self) -> list[Row]:
        """Ask the model the next questions of all rows; return those on which it fails, which are out."""
        sheet: Sheet = self.search.sheet()
        if not len(sheet.places):
            return []
        changed = np.zeros((len(sheet.places), self.best.shape[1]), dtype=bool)
        changed[:, self.columns] = sheet.flips
        scores, failed = _ask_apart(
            self.ask, sheet.places, lambda part: self.pile.table(sheet.places[part], changed[part], self.best)
        )
        self.search.learn(sheet, scores, margins_of(scores, self.threshold, self.rise[sheet.places]))
        self.search.drop(failed)
        return [self.members.pop(place).row for place in failed]

    def give_up(self) -> None:
        """End all searches with what is known."""
        self.interrupted = True
        self.search.give_up(np.array(list(self.members)))

    def returning(self) -> Iterator[tuple[Row, Scouted]]:
        """Yield the rows that are done."""
        for place, outcome in self.search.leave():
            recruit = self.members.pop(place)
            yield recruit.row, self._tell(recruit, outcome)

    def _tell(self, recruit: _Recruit, outcome: Outcome) -> Scouted:
        """Say what was found out about a row, in terms of its own units."""
        moves = recruit.moves
        columns = [column for column, _ in moves.ends or ()]
        number = {self.place_of[column]: unit for unit, column in enumerate(columns)}
        same = len(columns) == len(self.columns)

        def read(word: int) -> Flips:
            return word if same else sum(1 << number[place] for place in features_of(word))

        pair = outcome.contradiction()
        words = outcome.flips.tolist()
        settled = outcome.ones if pair is None else None
        kept = set(settled or ())
        scores: dict[Cells, float] = {(): recruit.score}
        for word, score in zip(words, outcome.scores.tolist(), strict=True):
            if word in kept:
                scores[moves.rows(read(word))[0]] = score

        def asked() -> Iterable[tuple[Flips, float, float]]:
            return zip(map(read, words), outcome.scores.tolist(), outcome.margins.tolist(), strict=True)

        queries, rounds = 1 + len(words), 1 + outcome.rounds
        found = None
        if settled is not None:
            ones = tuple(map(read, settled))
            proof = Proof(len(moves.units), tuple(map(read, outcome.zeros)), ones)
            if not outcome.zeros:
                known = Known()
                known.learn(0, False)
                for word, margin in zip(words, outcome.margins.tolist(), strict=True):
                    known.learn(read(word), margin >= 0)
                proof = build_proof(proof, known)
            found = conclude("optimal" if ones else "none", proof, Tally(queries, rounds))
        contradiction = None if pair is None else (read(pair[0]), read(pair[1]))
        return Scouted(recruit.checked, moves, scores, found, asked, contradiction, queries, rounds, self.interrupted)

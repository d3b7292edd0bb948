"""What an audit found, as data and as text.

Invariant: `Audit.passed` is true only where every feature was compared or is proved, and no pair was in the wrong
order. An audit that compared nothing has not passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flipset.boundary.printable import printable
from flipset.boundary.reading import shown
from flipset.plural import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flipset.space.feature import Value

SHOWN = 8
"""The most names in one line of text."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Two rows in the wrong order: `better` differs from `row` only in the better direction, and yet scores less."""

    features: tuple[str, ...]
    row: Mapping[str, Value]
    better: Mapping[str, Value]
    score: float
    better_score: float

    @property
    def fall(self) -> float:
        """How much the score falls where it should not."""
        return self.score - self.better_score


@dataclass(frozen=True, slots=True)
class Finding:
    """What the audit found along one feature: the pairs compared, how many were in order, and the worst one.

    `reversed` says that every pair whose scores differ is in the wrong order.
    """

    name: str
    pairs: int
    in_order: int
    worst: Witness | None
    reversed: bool = False

    @property
    def held(self) -> float:
        """The share of pairs in order; 0 if none was compared."""
        return self.in_order / self.pairs if self.pairs else 0.0


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of an audit.

    Attributes
    ----------
    features
        For each feature with a direction, what was found along this feature alone.
    chains
        What was found where several features move one after another.
    queries
        How many queries the audit made.
    least_budget
        The smallest budget with which every feature is compared at least once.
    one_value
        Features that no budget can compare: they have the same value in all rows, and no other value is allowed.
    left_out
        For each row of the table that could not be used, the reason.
    proved
        The features whose directions are proved from the model itself; they were not compared.
    """

    features: tuple[Finding, ...]
    chains: Finding
    queries: int
    least_budget: int = 0
    one_value: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    proved: tuple[str, ...] = ()

    @property
    def pairs(self) -> int:
        """How many pairs were compared."""
        return sum(finding.pairs for finding in (*self.features, self.chains))

    @property
    def wrong(self) -> int:
        """How many pairs were in the wrong order."""
        return self.pairs - sum(finding.in_order for finding in (*self.features, self.chains))

    @property
    def not_compared(self) -> tuple[str, ...]:
        """Features about which nothing is known, because no pair was compared."""
        return tuple(finding.name for finding in self.features if not finding.pairs)

    @property
    def passed(self) -> bool:
        """Whether every feature was compared or is proved, and no pair was in the wrong order."""
        in_order = all(finding.worst is None for finding in (*self.features, self.chains))
        return in_order and bool(self.features or self.proved) and not self.not_compared

    def __str__(self) -> str:
        findings = (*self.features, self.chains) if self.features else ()
        width = max([24, *(len(finding.name) for finding in findings)])
        lines = [f"Proved from the model itself: {', '.join(self.proved)}"] if self.proved else []
        lines.append(f"{count(self.queries, 'query')}: {self._verdict()}")
        for finding in findings:
            held = f"{100 * finding.held:7.2f} % of {count(finding.pairs, 'pair')} in order"
            lines.append(f"  {finding.name:<{width}} {held if finding.pairs else ' nothing was compared'}")
            if finding.worst is not None:
                lines.append(f"    worst: {witness_text(finding.worst)}")
        return "\n".join(map(printable, [*lines, *self._hints()]))

    def _verdict(self) -> str:
        if self.proved and not self.features:
            return "every direction is proved, and nothing is left to compare"
        if any(finding.worst is not None for finding in (*self.features, self.chains)):
            return "NOT MONOTONE"
        if not any(finding.pairs for finding in (*self.features, self.chains)):
            return "NOT AUDITED, nothing was compared"
        if missed := len(self.not_compared):
            were = "was" if missed == 1 else "were"
            total = count(len(self.features), "feature")
            return f"no contradiction found, but {missed:,} of {total} {were} not compared"
        return "no contradiction found"

    def _hints(self) -> Iterator[str]:
        """Say how sure the result is, why features were not compared, and what would compare them."""
        for finding in self.features:
            if finding.reversed and finding.worst is not None:
                yield f"{finding.name}: no pair that differs is in order: did you mean {_opposite(finding.worst)}?"
        if self.pairs and not self.wrong:
            # The rule of three: if a share of 3/n of all such pairs were wrong, n pairs would show none of them with a
            # probability of about 5 %.
            yield (
                f"0 of {count(self.pairs, 'pair')} in the wrong order: at 95 % confidence, at most "
                f"{min(100.0, 300 / self.pairs):.3g} % of such pairs are."
            )
        if not self.features and not self.proved:
            yield "No feature has a direction and may move: there is nothing to audit."
        if missed := [name for name in self.not_compared if name not in self.one_value]:
            yield f"Not compared: {_some(missed)}. The budget must be at least {count(self.least_budget, 'query')}."
        if self.one_value:
            yield f"No budget compares {_some(self.one_value)}: one value in all rows, and no other allowed."
        if self.left_out:
            yield f"{count(len(self.left_out), 'row')} left out; the first: {self.left_out[0]}."


def witness_text(witness: Witness) -> str:
    """Say what changes between two rows in the wrong order, and how the score falls."""
    changes = ", ".join(
        f"{name} {shown(witness.row[name])} → {shown(witness.better[name])}" for name in witness.features
    )
    return f"{changes}: the score falls from {witness.score:.6g} to {witness.better_score:.6g}"


def _opposite(worst: Witness) -> str:
    """Return the direction in which the score does rise, from a pair of one feature in the wrong order."""
    (name,) = worst.features
    try:
        return "decreasing" if worst.better[name] > worst.row[name] else "increasing"
    except TypeError:  # levels that are not numbers
        return "the reverse order"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more

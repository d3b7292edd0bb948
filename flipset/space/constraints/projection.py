"""The greatest allowed points at or below a point: what becomes of a row before the model sees it.

Columns stand at positions of their scales. Position 0 is the value of the row, and a further position is better for the
wanted decision. A rule says that a sum of columns is at most a limit. Moving a column further *raises* the sum or
lowers it, depending on its factor and on the way in which its values go.

If a rule has one column that raises its sum, that column gives way: it is lowered until the rule holds, and so on until
all rules hold. The result is the greatest allowed point at or below the start: whatever is allowed and not beyond the
start is not beyond the result either. So a set of features needs one query, as without rules.

If a rule has several columns that raise its sum, there is no greatest point. All of them but one are *divided*: every
position of theirs is tried, and held, and the last one gives way. This yields all maximal allowed points, among others.

Invariants:

- A point that is returned keeps all rules, and no column of it is beyond the start or before its first position.
- For every allowed point at or below the start, a point is returned that is not below it in any column.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Scale:
    """The values of a column that moves: that of the row first, then better ones; all rising, or all falling."""

    values: Sequence[Fraction]
    rising: bool

    def raises(self, factor: Fraction) -> bool:
        """Say whether a sum with this column, times the factor, grows when the column moves further."""
        return (factor > 0) is self.rising


@dataclass(frozen=True, slots=True)
class Rule:
    """That a sum of columns, each times its factor, is at most a limit, or less than it."""

    factors: Mapping[int, Fraction]
    limit: Fraction
    strict: bool = False

    def allows(self, total: Fraction) -> bool:
        """Say whether the sum may have this value."""
        return total < self.limit if self.strict else total <= self.limit


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that concern columns which move, and the scales of these columns.

    Attributes
    ----------
    rules
        Every column of a rule moves: what stays is part of the limit.
    scales
        The columns that move.
    """

    rules: tuple[Rule, ...]
    scales: Mapping[int, Scale]

    def raising(self, rule: Rule) -> list[int]:
        """Return the columns that raise the sum of a rule when they move further."""
        return [column for column, factor in rule.factors.items() if self.scales[column].raises(factor)]

    def divided(self) -> tuple[int, ...]:
        """Return columns to divide, so that every rule has at most one other column that raises its sum.

        Every position of a divided column is tried, so these are columns with few positions.
        """
        chosen: dict[int, None] = {}
        for rule in self.rules:
            left = [column for column in self.raising(rule) if column not in chosen]
            left.sort(key=lambda column: (len(self.scales[column].values), column))
            chosen |= dict.fromkeys(left[:-1])
        return tuple(chosen)

    def greatest(self, start: Mapping[int, int], held: Sequence[int] = ()) -> dict[int, int] | None:
        """Return the greatest allowed point at or below a point, with some columns held where they are.

        No rule may have several columns that raise its sum and are not held. None if no point is allowed.
        """
        at = dict(start)
        pending = deque(self.rules)
        while pending:
            rule = pending.popleft()
            total = sum(factor * self._value(column, at) for column, factor in rule.factors.items())
            if rule.allows(total):  # type: ignore[arg-type] # a sum of fractions, of which there is at least one
                continue
            free = [column for column in self.raising(rule) if column not in held]
            assert len(free) <= 1, "a rule needs a column that gives way, and only one"
            if not free or not self._lower(free[0], rule, total, at):  # type: ignore[arg-type]
                return None
            # What gave way may help other rules to hold, and those must be looked at again.
            pending += [one for one in self.rules if one is not rule and free[0] in one.factors and one not in pending]
        return at

    def tops(self, start: Mapping[int, int]) -> Iterator[dict[int, int]]:
        """Yield allowed points at or below a point, among them all maximal ones, each once."""
        divided = self.divided()
        found = set()
        # The furthest positions first, so that of equal points the first is found soon.
        for chosen in product(*(range(start[column], -1, -1) for column in divided)):
            point = self.greatest({**start, **dict(zip(divided, chosen, strict=True))}, divided)
            if point is not None and (key := tuple(point.values())) not in found:
                found.add(key)
                yield point

    def _value(self, column: int, at: Mapping[int, int]) -> Fraction:
        return self.scales[column].values[at[column]]

    def _lower(self, column: int, rule: Rule, total: Fraction, at: dict[int, int]) -> bool:
        """Lower a column to the furthest position at which a rule holds; False if there is none."""
        factor, values = rule.factors[column], self.scales[column].values
        others = total - factor * values[at[column]]
        # The sum grows with the position, so the positions at which it is too large are the last ones.
        first_bad = bisect_left(range(at[column]), True, key=lambda j: not rule.allows(others + factor * values[j]))
        at[column] = first_bad - 1
        return first_bad > 0

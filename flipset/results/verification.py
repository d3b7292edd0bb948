"""What `verify` returns: what was checked, what is wrong, what was not checked and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Answer:
    """One question of a proof, asked again.

    Attributes
    ----------
    moved
        The features and groups that were moved to their best values, or to any of their options.
    expected
        Whether the proof says that this flips the decision.
    flips
        Whether it does.
    score
        What the model said: to the row that flips, or to the first of them.
    """

    moved: tuple[str, ...]
    expected: bool
    flips: bool
    score: float


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of `verify`: true exactly when everything that was checked holds and nothing was left undecided.

    Attributes
    ----------
    problems
        What is wrong, each a sentence that begins with the field.
    checked
        The fields that were recomputed, compared or asked again.
    not_checked
        The fields that were not, or not wholly, and why.
    decided
        False where a check ran out of steps, or was stopped: then nothing is known of the proof.
    answers
        The questions of the proof, and what the model said this time.

    Examples
    --------
    >>> from flipset import Explainer, Feature, Space
    >>> space = Space([Feature("income", "integer", direction=+1, lower=0, upper=100)])
    >>> explainer = Explainer(lambda rows: rows[:, 0] >= 60, space)
    >>> found = explainer.verify(explainer.explain([40]))
    >>> bool(found), found.problems
    (True, ())
    >>> print(found)
    Holds: all that was checked is as claimed.
    Not checked:
      counterfactuals[].cost_at_least: that nothing cheaper exists is not part of
        the proof
      queries, rounds: the effort of the search; the answer does not rest on it
      max_changes: what was asked for; no claim rests on it
    """

    problems: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()
    not_checked: Mapping[str, str] = field(default_factory=dict)
    decided: bool = True
    answers: tuple[Answer, ...] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        return self.decided and not self.problems

    def __repr__(self) -> str:
        word = "holds" if self else "does not hold" if self.problems else "not decided"
        parts = [word, *(f"{len(self.problems)} problems" for _ in self.problems[:1])]
        if self.not_checked:
            parts.append(f"not checked: {', '.join(self.not_checked)}")
        return f"<Verification: {'; '.join(parts)}>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, width: int = 80) -> Iterator[str]:
        """Yield the whole result as lines of text."""
        if self:
            yield "Holds: all that was checked is as claimed."
        elif self.problems:
            yield "Does not hold:"
            for problem in self.problems:
                yield from wrap(problem, width, initial_indent="  ", subsequent_indent="    ")
        else:
            yield "Not decided."
        yield from self.unchecked(width)

    def unchecked(self, width: int = 80) -> Iterator[str]:
        """Yield what was not checked as lines of text."""
        if self.not_checked:
            yield "Not checked:"
            for why in dict.fromkeys(self.not_checked.values()):
                names = ", ".join(name for name, reason in self.not_checked.items() if reason == why)
                yield from wrap(f"{names}: {why}", width, initial_indent="  ", subsequent_indent="    ")

"""The result of `verify`: what was checked, what is wrong, and what was not checked and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flipset.boundary.printable import shortened, wrapped
from flipset.plural import count
from flipset.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Answer:
    """One query of a proof, replayed.

    Attributes
    ----------
    moved
        The features and groups that were moved to their best allowed values, or to any of their options.
    expected
        Whether the decision flips according to the proof.
    flips
        Whether the decision flips now.
    score
        The model's score: of the row that flips, or of the first row of the query.
    """

    moved: tuple[str, ...]
    expected: bool
    flips: bool
    score: float


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of `verify`: true exactly if every check passed and none was left undecided.

    Attributes
    ----------
    problems
        What is wrong; each text begins with the name of the field.
    checked
        The fields that were recomputed, compared or replayed.
    not_checked
        The fields that were not checked, or not completely, and the reason.
    decided
        False if a check ran out of steps or was stopped: then nothing is known about the proof.
    answers
        The queries of the proof, and the model's scores this time.
    same_model
        Whether the explanation was made with this model, by its fingerprint; None if that cannot be said.
    other_version
        The version of flipset that wrote the explanation, if it is not this one; None if it is, or if it is not known.
        It is no problem: what an explanation says is checked, whoever wrote it.
    also_contradicted
        The features whose directions this model is known not to follow, although the explanation does not say so. What
        the explanation says may hold all the same; the condition of its proof does not hold everywhere.

    Examples
    --------
    >>> from flipset import Explainer, Feature, Space
    >>> space = Space([Feature("income", "integer", direction=+1, lower=0, upper=100)])
    >>> explainer = Explainer(lambda rows: rows[:, 0] >= 60, space)
    >>> found = explainer.verify(explainer.explain([40]))
    >>> bool(found), found.problems
    (True, ())
    >>> print(found)
    Whether this is the model of the explanation cannot be said.
    Confirmed: every check passed.
    Not checked:
      fingerprints: whether this is the same model: the explanation does not name
        its model
      counterfactuals[].cost_at_least: the proof does not cover that nothing is
        cheaper
      queries, rounds: the effort of the search; the answer does not depend on it
      max_changes: part of the request; no claim depends on it
    """

    problems: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()
    not_checked: Mapping[str, str] = field(default_factory=dict)
    decided: bool = True
    answers: tuple[Answer, ...] = field(default=(), repr=False)
    same_model: bool | None = None
    other_version: str | None = None
    also_contradicted: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.decided and not self.problems

    def __repr__(self) -> str:
        word = "confirmed" if self else "not confirmed" if self.problems else "not decided"
        parts = [word, *(count(len(self.problems), "problem") for _ in self.problems[:1])]
        if self.not_checked:
            parts.append(f"not checked: {', '.join(self.not_checked)}")
        return f"<Verification: {'; '.join(parts)}>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, width: int = 80) -> Iterator[str]:
        """Yield the result as lines of text, beginning with whether this is the same model."""
        yield from wrapped(self.about_model(), width)
        yield from wrapped(self.about_version(), width)
        yield from wrapped(self.about_directions(), width)
        if self:
            yield "Confirmed: every check passed."
        elif self.problems:
            yield "Not confirmed:"
            for problem in self.problems:
                yield from wrapped(problem, width, "  ", "    ")
        else:
            yield "Not decided."
        yield from self.unchecked(width)

    def about_model(self, whose: str = "the explanation") -> str:
        """Say whether this is the model that the explanation was made with; `whose` may name several of them."""
        if self.same_model is None:
            return f"Whether this is the model of {whose} cannot be said."
        if self.same_model and "fingerprints" in self.not_checked:
            return f"By its name, this is the model of {whose}; the content was not compared."
        return f"This is {'the' if self.same_model else 'NOT the'} model of {whose}."

    def about_version(self, whose: str = "the explanation") -> str:
        """Say which other version of flipset wrote the explanation; empty if it was this one, or is not known."""
        if self.other_version is None:
            return ""
        version = shortened(self.other_version, 40)
        return f"Another version of flipset wrote {whose}: {version}, and this is {__version__}."

    def about_directions(self, whose: str = "the explanation") -> str:
        """Say whose directions the model does not follow without the explanation saying so; empty if there are none."""
        if not self.also_contradicted:
            return ""
        names = shortened(", ".join(self.also_contradicted), 200)
        return f"Not said by {whose}: this model does NOT follow these directions in every row: {names}."

    def unchecked(self, width: int = 80) -> Iterator[str]:
        """Yield what was not checked, as lines of text."""
        if self.not_checked:
            yield "Not checked:"
            for why in dict.fromkeys(self.not_checked.values()):
                names = ", ".join(name for name, reason in self.not_checked.items() if reason == why)
                yield from wrapped(f"{names}: {why}", width, "  ", "    ")

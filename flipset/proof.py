"""Proofs: zeros and ones that together force the answer, and a checker that shares no code with any search.

A zero is a set of features that does not flip, a one is a set that does. They prove that the ones are *all* the
smallest flip sets when every set of at most Δ features (Δ the size of the ones) lies in a zero or is a one: then every
monotone function that agrees with the zeros and ones has exactly that answer. They prove that there is none when the
set of all features is a zero. Checking this is combinatorics; confirming that the model agrees costs one query per
zero and per one.

The checker looks for a *gap*, a set that nothing covers. A set lies in no zero exactly when it takes a feature from
each zero's complement (the features held, a reason), so the search for a gap branches over the features of one reason
after another, at most Δ deep.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

FORMAT = "flipset-proof/1"


@dataclass(frozen=True, slots=True)
class Proof:
    """Sets of the features 0 to d-1 that do not flip (`zeros`) and that do (`ones`), as bitmasks.

    Examples
    --------
    Feature 0 alone flips, and nothing else does without it:

    >>> proof = Proof(d=3, zeros=(0b110,), ones=(0b001,))
    >>> proof.check(3)
    True
    >>> proof.confirm(lambda sets: [0 in features for features in sets])
    True
    >>> print(proof.states())
    the smallest flip sets have size 1 and are exactly {0}
    """

    d: int
    zeros: tuple[int, ...]
    ones: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.d < 1:
            raise InputError(f"a proof speaks of at least one feature, got d={self.d}")
        for name, sets in (("zeros", self.zeros), ("ones", self.ones)):
            for flips in sets:
                if flips < 0 or flips >> self.d:
                    raise InputError(f"{name} hold a set with features outside 0 to {self.d - 1}")

    def check(self, d: int | None = None) -> bool:
        """Decide, without any model, whether the zeros and ones force the answer for `d` features."""
        if d not in (None, self.d) or not self.is_consistent():
            return False
        return len({one.bit_count() for one in self.ones}) <= 1 and self.gap() is None

    def is_consistent(self) -> bool:
        """Say whether some monotone function agrees with it: no one lies in a zero."""
        return all(one & ~zero for one in self.ones for zero in self.zeros)

    def gap(self) -> int | None:
        """Return a smallest set that neither lies in a zero nor contains a one, of at most the size of the ones.

        With ones, that size is the size of the smallest one; without, any size. None when there is no such set.
        """
        deepest = min((one.bit_count() for one in self.ones), default=self.d)
        reasons = sorted((~zero & (1 << self.d) - 1 for zero in self.zeros), key=int.bit_count)
        if reasons and not reasons[0]:
            return None  # everything is a zero
        for size in range(deepest + 1):
            found = self._gap_of_size(reasons, 0, size, 0)
            if found is not None:
                return found
        return None

    def _gap_of_size(self, reasons: Sequence[int], chosen: int, left: int, banned: int) -> int | None:
        """Extend `chosen` by at most `left` features outside `banned` to a set that meets every reason."""
        unmet = [reason & ~banned for reason in reasons if not reason & chosen]
        if not unmet:
            return None if any(not one & ~chosen for one in self.ones) else chosen
        if _needed(unmet) > left:
            return None
        branch = min(unmet, key=int.bit_count)
        while branch:
            bit = branch & -branch
            branch ^= bit
            found = self._gap_of_size(unmet, chosen | bit, left - 1, banned)
            if found is not None:
                return found
            banned |= bit  # what was tried here need not be tried again beside its siblings
        return None

    def lower(self) -> int | None:
        """Return the size that every flip set has at least, as far as the zeros prove; None when nothing flips."""
        gap = Proof(self.d, self.zeros, ()).gap()
        return None if gap is None else gap.bit_count()

    def upper(self) -> int | None:
        """Return the size of the smallest one, or None when there is none."""
        return min((one.bit_count() for one in self.ones), default=None)

    def states(self) -> str:
        """Say in words what is proved."""
        if not self.is_consistent():
            return "nothing: no monotone function agrees with these zeros and ones"
        if self.check():
            if not self.ones:
                return "no flip set exists"
            sets = ", ".join(_braces(one) for one in self.ones)
            return f"the smallest flip sets have size {self.upper()} and are exactly {sets}"
        lower, upper = self.lower(), self.upper()
        at_most = "" if upper is None else f", and one has size {upper}"
        return f"every flip set has size at least {lower}{at_most}"

    def disagreements(self, flips: Callable[[Sequence[frozenset[int]]], Iterable[bool | float]]) -> tuple[int, ...]:
        """Ask the model every zero and one, in one batch, and return those it answers otherwise."""
        questions = self.zeros + self.ones
        answers = list(flips([frozenset(_members(question)) for question in questions])) if questions else []
        if len(answers) != len(questions):
            raise InputError(f"the model returned {len(answers)} answers to {len(questions)} questions")
        expected = [False] * len(self.zeros) + [True] * len(self.ones)
        return tuple(
            question
            for question, answer, wanted in zip(questions, answers, expected, strict=True)
            if _reads_as_flip(answer) != wanted
        )

    def confirm(self, flips: Callable[[Sequence[frozenset[int]]], Iterable[bool | float]]) -> bool:
        """Ask the model every zero and one again, and say whether it agrees with them all."""
        return not self.disagreements(flips)

    def to_json(self) -> str:
        """Write the proof as JSON: ones by their features, zeros by the features they hold (their complement)."""
        whole = (1 << self.d) - 1
        data = {
            "format": FORMAT,
            "d": self.d,
            "ones": [_members(one) for one in self.ones],
            "zeros_hold": [_members(whole & ~zero) for zero in self.zeros],
        }
        return json.dumps(data)

    @classmethod
    def from_json(cls, text: str) -> Proof:
        """Read what `to_json` wrote; anything else is an `InputError` that says what is wrong."""
        try:
            data: Any = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"a proof must be JSON: {error}") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise InputError(f'a proof must be a JSON object with "format": "{FORMAT}"')
        d = data.get("d")
        if not isinstance(d, int) or isinstance(d, bool) or d < 1:
            raise InputError(f'"d" of a proof must be a whole number of at least 1, got {d!r}')
        whole = (1 << d) - 1
        ones = tuple(_read_set(features, d, "ones") for features in _read_list(data, "ones"))
        held = (_read_set(features, d, "zeros_hold") for features in _read_list(data, "zeros_hold"))
        return cls(d, tuple(whole & ~features for features in held), ones)


def _needed(unmet: Iterable[int]) -> int:
    """Return how many features are needed at least: reasons that share none need one each."""
    used = needed = 0
    for reason in unmet:
        if not reason & used:
            used |= reason
            needed += 1
    return needed


def _members(flips: int) -> list[int]:
    digits = bin(flips)[:1:-1]
    return [i for i, digit in enumerate(digits) if digit == "1"]


def _braces(flips: int) -> str:
    return "{" + ", ".join(map(str, _members(flips))) + "}"


def _reads_as_flip(answer: bool | float) -> bool:
    return bool(answer) if type(answer).__name__ in {"bool", "bool_"} else answer >= 0


def _read_list(data: dict[str, Any], name: str) -> list[Any]:
    value = data.get(name)
    if not isinstance(value, list):
        raise InputError(f'"{name}" of a proof must be a list of lists of features')
    return value


def _read_set(features: Any, d: int, name: str) -> int:
    if not isinstance(features, list):
        raise InputError(f'"{name}" of a proof must be a list of lists of features')
    flips = 0
    for feature in features:
        if not isinstance(feature, int) or isinstance(feature, bool) or not 0 <= feature < d:
            raise InputError(f'"{name}" of a proof names feature {feature!r}; expected 0 to {d - 1}')
        flips |= 1 << feature
    return flips

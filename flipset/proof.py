"""Proofs: zeros and ones that together force the answer, and a checker that shares no code with any search.

A zero is a set of features that does not flip, a one is a set that does. They prove that the ones are *all* the
smallest flip sets when every set of at most Δ features (Δ the size of the ones) lies in a zero or is a one: then every
monotone function that agrees with the zeros and ones has exactly that answer. They prove that there is none when the
set of all features is a zero. Checking this is combinatorics; confirming that the model agrees costs one query per
zero and per one. Where features have weights, read "total weight" for "size" throughout.

The checker looks for a *gap*, a set that nothing covers. A set lies in no zero exactly when it takes a feature from
each zero's complement (the features held, a reason), so the search for a gap branches over the features of one reason
after another, until what it has taken weighs too much.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from math import isnan, lcm
from numbers import Real
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError, OracleError
from flipset.plural import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

FORMAT = "flipset-proof/1"


@dataclass(frozen=True, slots=True)
class Proof:
    """Sets of the features 0 to d-1 that do not flip (`zeros`) and that do (`ones`), as bitmasks.

    `weights` holds one positive number per feature where the ones are to be lightest rather than smallest.

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
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.d < 1:
            raise InputError(f"a proof speaks of at least one feature, got d={self.d}")
        for name, sets in (("zeros", self.zeros), ("ones", self.ones)):
            for flips in sets:
                if flips < 0 or flips >> self.d:
                    raise InputError(f"{name} hold a set with features outside 0 to {self.d - 1}")
        if self.weights is not None and len(self.weights) != self.d:
            raise InputError(f"a proof about {self.d} features needs as many weights, got {len(self.weights)}")
        _whole_weights(self.weights)

    @property
    def questions(self) -> tuple[int, ...]:
        """What has to be asked to confirm it: the zeros, then the ones."""
        return self.zeros + self.ones

    def check(self, d: int | None = None) -> bool:
        """Decide, without any model, whether the zeros and ones force the answer for `d` features."""
        if d not in (None, self.d) or not self.is_consistent():
            return False
        weigh = self._weigh()
        return len({weigh(one) for one in self.ones}) <= 1 and self.gap() is None

    def is_consistent(self) -> bool:
        """Say whether some monotone function agrees with it: no one lies in a zero."""
        return all(one & ~zero for one in self.ones for zero in self.zeros)

    def gap(self) -> int | None:
        """Return a set that neither lies in a zero nor contains a one and weighs no more than the lightest one.

        Without ones, of any weight. None when there is no such set.
        """
        weigh = self._weigh()
        return self._gap_within(min(map(weigh, self.ones), default=weigh((1 << self.d) - 1)))

    def lower(self) -> int | float | None:
        """Return what every flip set weighs at least, as far as the zeros prove; None when they leave none."""
        weigh = self._weigh()
        bare = Proof(self.d, self.zeros, (), self.weights)
        gap = lightest = bare.gap()
        while gap is not None:
            lightest = gap
            gap = bare._gap_within(weigh(gap) - 1)
        return None if lightest is None else self._shown(weigh(lightest))

    def upper(self) -> int | float | None:
        """Return the weight of the lightest one, or None when there is none."""
        lightest = min(map(self._weigh(), self.ones), default=None)
        return None if lightest is None else self._shown(lightest)

    def _weigh(self) -> Callable[[int], int]:
        whole, _ = _whole_weights(self.weights)
        if whole is None:
            return int.bit_count
        return lambda flips: sum(whole[i] for i in _members(flips))

    def _shown(self, weight: int) -> int | float:
        exact = Fraction(weight, _whole_weights(self.weights)[1])
        return int(exact) if exact.denominator == 1 else float(exact)

    def _gap_within(self, limit: int) -> int | None:
        """Return a set of at most this weight that meets every reason and contains no one."""
        reasons = [~zero & (1 << self.d) - 1 for zero in self.zeros]
        return _meet_all(reasons, self.ones, _whole_weights(self.weights)[0], limit)

    def states(self) -> str:
        """Say in words what is proved."""
        least, measure = ("smallest", "size") if self.weights is None else ("lightest", "weight")
        if not self.is_consistent():
            return "nothing: no monotone function agrees with these zeros and ones"
        if self.check():
            if not self.ones:
                return "no flip set exists"
            sets = ", ".join(_braces(one) for one in self.ones)
            return f"the {least} flip sets have {measure} {self.upper()} and are exactly {sets}"
        lower, upper = self.lower(), self.upper()
        at_most = "" if upper is None else f", and one has {measure} {upper}"
        return f"every flip set has {measure} at least {lower}{at_most}"

    def disagreements(self, flips: Callable[[Sequence[frozenset[int]]], Iterable[bool | float]]) -> tuple[int, ...]:
        """Ask the model every zero and one, in one batch, and return those it answers otherwise."""
        questions = self.questions
        answers = list(flips([frozenset(_members(question)) for question in questions])) if questions else []
        if len(answers) != len(questions):
            returned = f"{count(len(answers), 'answer')} to {count(len(questions), 'question')}"
            raise OracleError(f"the model returned {returned}", questions)
        expected = [False] * len(self.zeros) + [True] * len(self.ones)
        return tuple(
            question
            for question, answer, wanted in zip(questions, answers, expected, strict=True)
            if _reads_as_flip(answer, questions) != wanted
        )

    def confirm(self, flips: Callable[[Sequence[frozenset[int]]], Iterable[bool | float]]) -> bool:
        """Ask the model every zero and one again, and say whether it agrees with them all."""
        return not self.disagreements(flips)

    def to_json(self) -> str:
        """Write the proof as JSON: ones by their features, zeros by the features they hold (their complement)."""
        whole = (1 << self.d) - 1
        data: dict[str, Any] = {
            "format": FORMAT,
            "d": self.d,
            "ones": [_members(one) for one in self.ones],
            "zeros_hold": [_members(whole & ~zero) for zero in self.zeros],
        }
        if self.weights is not None:
            data["weights"] = list(self.weights)
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
        weights = tuple(_read_list(data, "weights")) if "weights" in data else None
        return cls(d, tuple(whole & ~features for features in held), ones, weights)


def _meet_all(
    reasons: Sequence[int],
    ones: Sequence[int],
    weights: Sequence[int] | None,
    left: int,
    chosen: int = 0,
    banned: int = 0,
) -> int | None:
    """Extend `chosen` by features outside `banned` of weight `left` at most to a set that meets all reasons, no one."""
    unmet = [reason & ~banned for reason in reasons if not reason & chosen]
    # A reason with one feature left leaves no choice; taking them here keeps the recursion as deep as the choices.
    while (forced := next((reason for reason in unmet if reason and not reason & (reason - 1)), 0)) != 0:
        chosen |= forced
        left -= 1 if weights is None else weights[forced.bit_length() - 1]
        unmet = [reason for reason in unmet if not reason & forced]
    if left < 0 or any(not one & ~chosen for one in ones):
        return None
    if not unmet:
        return chosen
    branch = min(unmet, key=int.bit_count)
    if not branch or _needed(unmet, weights) > left:
        return None
    while branch:
        bit = branch & -branch
        # Features in the same reasons and in no one stand for each other: where one leads to no gap, none does.
        alike = bit if weights is not None else _alike(bit, branch, unmet, ones)
        branch &= ~alike
        weight = 1 if weights is None else weights[bit.bit_length() - 1]
        found = _meet_all(unmet, ones, weights, left - weight, chosen | bit, banned)
        if found is not None:
            return found
        banned |= alike  # what was tried here need not be tried again beside its siblings
    return None


def _alike(bit: int, among: int, unmet: Sequence[int], ones: Sequence[int]) -> int:
    for reason in unmet:
        among &= reason if reason & bit else ~reason
    for one in ones:
        if one & bit:
            return bit
        among &= ~one
    return among


def _needed(unmet: Sequence[int], weights: Sequence[int] | None) -> int:
    """Return what is needed at least: reasons that share no feature need one each, the lightest at best."""
    used = needed = 0
    for reason in unmet:
        if not reason & used:
            used |= reason
            needed += 1 if weights is None else min(weights[i] for i in _members(reason))
    return needed


def _whole_weights(weights: Sequence[float] | None) -> tuple[list[int] | None, int]:
    """Read weights as the decimals they print as, and scale them to whole numbers: 0.1 + 0.2 weighs what 0.3 does.

    Returns the whole numbers and what 1 became.
    """
    if weights is None:
        return None, 1
    exact = []
    for i, weight in enumerate(weights):
        try:
            exact.append(Fraction(str(weight)))
        except (ValueError, ZeroDivisionError):
            exact.append(Fraction(0))
        if exact[i] <= 0:
            raise InputError(f"weights[{i}] of a proof is {weight!r}; expected a positive number")
    scale = lcm(*(weight.denominator for weight in exact))
    return [int(weight * scale) for weight in exact], scale


def _members(flips: int) -> list[int]:
    digits = bin(flips)[:1:-1]
    return [i for i, digit in enumerate(digits) if digit == "1"]


def _braces(flips: int) -> str:
    return "{" + ", ".join(map(str, _members(flips))) + "}"


def _reads_as_flip(answer: Any, questions: Sequence[int]) -> bool:
    if type(answer).__name__ in {"bool", "bool_"}:
        return bool(answer)
    unclear = not isinstance(answer, Real) or isnan(answer) or (answer == 0 and not isinstance(answer, float))
    if unclear:
        raise OracleError(
            f"the model answered {answer!r}; expected a bool or a float margin (at or above 0 flips)", questions
        )
    return float(answer) >= 0


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

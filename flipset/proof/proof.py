"""Proofs: zeros and ones that together force the answer, and a checker that shares no code with any search.

A zero is a set of features that does not flip, a one is a set that does. They prove that the ones are *all* the
smallest flip sets when every set of at most Δ features (Δ the size of the ones) lies in a zero or is a one: then every
monotone function that agrees with the zeros and ones has exactly that answer. They prove that there is none when the
set of all features is a zero. Checking this is combinatorics; confirming that the model agrees costs one query per
zero and per one. Where features have weights, read "total weight" for "size" throughout.

The checker looks for a *gap*, a set that nothing covers. A set lies in no zero exactly when it takes a feature from
each zero's complement (the features held, a reason), so the search for a gap branches over the features of one reason
after another, until what it has taken weighs too much. In the worst case that takes exponential time, so every check
has a number of steps after which it ends as "not decided".
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import isnan, lcm
from numbers import Integral, Real
from operator import or_
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError, NotDecided, OracleError
from flipset.plural import count
from flipset.proof.reading import MOST_BITS, MOST_FEATURES, MOST_SETS, MOST_WEIGHT, Field, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

FORMAT = "flipset-proof/1"

STEPS = 100_000_000
"""Steps that a check may take unless told otherwise: a step looks at one set of up to 4,096 features."""

LOOK_EVERY = 100_000
"""Steps between two looks at whether to stop."""


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

    def check(self, d: int | None = None, *, steps: int = STEPS, stop: Callable[[], bool] | None = None) -> bool | None:
        """Decide, without any model, whether the zeros and ones force the answer for `d` features.

        None: not decided within so many steps, or `stop`, which is asked now and then, said True before it was.
        """
        if d not in (None, self.d):
            return False
        budget = _Budget(steps, stop)
        try:
            budget.spend(len(self.ones) * len(self.zeros) // 4 * self._words)
            if not self.is_consistent():
                return False
            weigh = self._weigh()
            return len({weigh(one) for one in self.ones}) <= 1 and self._gap(budget) is None
        except NotDecided:
            return None

    def is_consistent(self) -> bool:
        """Say whether some monotone function agrees with it: no one lies in a zero."""
        return all(one & ~zero for one in self.ones for zero in self.zeros)

    def gap(self, *, steps: int = STEPS, stop: Callable[[], bool] | None = None) -> int | None:
        """Return a set that neither lies in a zero nor contains a one and weighs no more than the lightest one.

        Without ones, of any weight. None when there is no such set; `NotDecided` is raised when the steps run out.
        """
        return self._gap(_Budget(steps, stop))

    def lower(self, *, steps: int = STEPS, stop: Callable[[], bool] | None = None) -> int | float | None:
        """Return what every flip set weighs at least, as far as the zeros prove; None when they leave none.

        Where the steps run out, it is what reasons that share no feature prove: right, but perhaps not the most.
        """
        return self.bound(steps=steps, stop=stop)[0]

    def bound(self, *, steps: int = STEPS, stop: Callable[[], bool] | None = None) -> tuple[int | float | None, bool]:
        """Return `lower`, and whether the zeros are known to prove no more than that."""
        reasons = self._reasons()
        if 0 in reasons:
            return None, True
        whole, _ = _whole_weights(self.weights)
        weigh, budget = self._weigh(), _Budget(steps, stop)
        lightest = (1 << self.d) - 1
        try:
            while (gap := _meet_all(reasons, (), whole, weigh(lightest) - 1, budget)) is not None:
                lightest = gap
        except NotDecided:
            return self._shown(_needed(sorted(reasons, key=int.bit_count), whole)), False
        return self._shown(weigh(lightest)), True

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

    @property
    def _words(self) -> int:
        return _words(self.d)

    def _reasons(self) -> list[int]:
        whole = (1 << self.d) - 1
        return [whole & ~zero for zero in self.zeros]

    def _gap(self, budget: _Budget) -> int | None:
        weigh = self._weigh()
        limit = min(map(weigh, self.ones), default=weigh((1 << self.d) - 1))
        return _meet_all(self._reasons(), self.ones, _whole_weights(self.weights)[0], limit, budget)

    def states(self, *, steps: int = STEPS) -> str:
        """Say in words what is proved."""
        least, measure = ("smallest", "size") if self.weights is None else ("lightest", "weight")
        if not self.is_consistent():
            return "nothing: no monotone function agrees with these zeros and ones"
        forced = self.check(steps=steps)
        if forced:
            if not self.ones:
                return "no flip set exists"
            sets = ", ".join(_braces(one) for one in self.ones)
            return f"the {least} flip sets have {measure} {self.upper()} and are exactly {sets}"
        lower, upper = self.lower(steps=steps), self.upper()
        at_most = "" if upper is None else f", and one has {measure} {upper}"
        doubt = f" (whether more is proved was not decided in {steps:,} steps)" if forced is None else ""
        return f"every flip set has {measure} at least {lower}{at_most}{doubt}"

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
        return cls.read(Field(parse(text, "a proof"), "proof"))

    @classmethod
    def read(cls, field: Field, d: int | None = None) -> Proof:
        """Read a proof that is part of something, about `d` features where that is known."""
        if not isinstance(field.value, dict) or field.value.get("format") != FORMAT:
            raise InputError(f'{field.path} must be a JSON object with "format": "{FORMAT}"')
        data = field.members(("format", "d", "ones", "zeros_hold"), ("weights",))
        said = data["d"].whole(1)
        if d is not None and said != d:
            data["d"].refuse(f"{d}, for so many units can move")
        if said > MOST_FEATURES:
            data["d"].refuse(f"at most {MOST_FEATURES:,}")
        ones, held = data["ones"].items(MOST_SETS), data["zeros_hold"].items(MOST_SETS)
        if (len(ones) + len(held)) * said > MOST_BITS:
            raise InputError(f"{field.path} has too many sets of {said:,} features: {len(ones) + len(held):,}")
        weights = None
        if "weights" in data:
            weights = tuple(weight.weight() for weight in data["weights"].items(MOST_FEATURES))
            if len(weights) != said:
                data["weights"].refuse(f"a list of {said:,} weights, one for each feature")
        whole = (1 << said) - 1
        zeros = tuple(whole & ~_read_set(one, said) for one in held)
        return cls(said, zeros, tuple(_read_set(one, said) for one in ones), weights)


class _Budget:
    """Steps that may still be taken. `spend` raises `NotDecided` when they have run out, or `stop` says so."""

    def __init__(self, steps: int, stop: Callable[[], bool] | None) -> None:
        self._left = steps
        self._stop = stop
        self._next_look = steps - LOOK_EVERY

    def spend(self, steps: int) -> None:
        """Take so many steps."""
        self._left -= steps
        if self._left < 0:
            raise NotDecided("the steps ran out before it was decided whether the proof has a gap")
        if self._stop is not None and self._left < self._next_look:
            self._next_look = self._left - LOOK_EVERY
            if self._stop():
                raise NotDecided("stopped before it was decided whether the proof has a gap")


@dataclass(slots=True)
class _Branch:
    """A point of the search: the features of one reason that are still to be tried, and where it stood there."""

    rest: int
    chosen: int
    banned: int
    left: int


def _meet_all(
    reasons: Sequence[int], ones: Sequence[int], weights: Sequence[int] | None, left: int, budget: _Budget
) -> int | None:
    """Return a set of weight `left` at most that meets all reasons and is no one; None if there is none.

    No one may weigh less than `left`, so that a set within it contains a one exactly when it is that one.
    A branch holds three sets and no list, so memory is depth times d, and time is what the budget says.
    """
    known = set(ones)
    in_ones = reduce(or_, ones, 0)
    words = _words(max(map(int.bit_length, reasons), default=0))
    cost = (1 + 2 * len(reasons)) * words
    # The lightest feature of a reason is looked for feature by feature.
    needed_cost = 0 if weights is None else len(reasons) * len(weights) // 16
    stack: list[_Branch] = []
    chosen = banned = 0
    while True:
        budget.spend(cost + needed_cost)
        unmet = [reason & ~banned for reason in reasons if not reason & chosen]
        # A reason with one feature left leaves no choice; taking them here keeps the stack as deep as the choices.
        while forced := reduce(or_, (reason for reason in unmet if not reason & (reason - 1)), 0):
            budget.spend(len(unmet) * words)
            chosen |= forced
            left -= forced.bit_count() if weights is None else sum(weights[i] for i in _members(forced))
            unmet = [reason for reason in unmet if not reason & forced]
        if left >= 0 and chosen not in known:
            if not unmet:
                return chosen
            branch = min(unmet, key=int.bit_count)
            if branch and _needed(unmet, weights) <= left:
                stack.append(_Branch(branch, chosen, banned, left))
        while stack and not stack[-1].rest:
            stack.pop()
        if not stack:
            return None
        top = stack[-1]
        bit = top.rest & -top.rest
        # Features in the same reasons and in no one stand for each other: where one leads to no gap, none does.
        alike = bit if weights is not None or bit & in_ones else _alike(bit, top.rest & ~in_ones, top.chosen, reasons)
        chosen, banned = top.chosen | bit, top.banned
        left = top.left - (1 if weights is None else weights[bit.bit_length() - 1])
        top.rest &= ~alike
        top.banned |= alike  # what was tried here need not be tried again beside its siblings


def _words(bits: int) -> int:
    """Return what one operation on sets of so many features counts."""
    return 1 + bits // 4096


def _alike(bit: int, among: int, chosen: int, reasons: Sequence[int]) -> int:
    for reason in reasons:
        if not reason & chosen:
            among &= reason if reason & bit else ~reason
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
        positive = isinstance(weight, Real) and not isinstance(weight, bool) and weight > 0
        if not positive or not 1 / MOST_WEIGHT <= weight <= MOST_WEIGHT:
            raise InputError(f"weights[{i}] of a proof is {weight!r}; expected a positive number")
        exact.append(Fraction(str(weight)))
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
    # A whole number may be a label, and 0 then means that the decision stays; a margin of 0 means that it flips.
    is_label = isinstance(answer, Integral)
    unclear = not isinstance(answer, Real) or isnan(answer) or (answer == 0 and is_label)
    if unclear:
        raise OracleError(
            f"the model answered {answer!r}; expected a bool or a float margin (at or above 0 flips)", questions
        )
    return float(answer) >= 0


def _read_set(field: Field, d: int) -> int:
    flips = 0
    for item in field.items(d):
        feature = item.value
        if not isinstance(feature, int) or isinstance(feature, bool) or not 0 <= feature < d:
            item.refuse(f"a feature, 0 to {d - 1}")
        if flips >> feature & 1:
            item.refuse("another than those before it")
        flips |= 1 << feature
    return flips

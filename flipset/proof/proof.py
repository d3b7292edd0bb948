"""Proofs: zeros and ones that together force the answer, and a checker that shares no code with any search.

A zero is a set of features that does not flip; a one is a set that does. Let Δ be the size of the ones. The zeros and
ones prove that the ones are *all* the smallest flip sets if every set of at most Δ features lies in a zero or is a one.
Every monotone function that agrees with them then has exactly that answer. They prove that no flip set exists if the
set of all features is a zero. Checking this needs no model. Confirming that the model agrees costs one query per zero
and per one. Where features have weights, read "total weight" for "size" throughout.

The checker looks for a *gap*: a set that the zeros and ones leave open. The complement of a zero is a reason: while
its features are held fixed, nothing else flips the decision. A set lies in no zero exactly when it contains a feature
of every reason. The checker therefore branches over the features of one reason after another and gives up a branch when
its set becomes too heavy. In the worst case this takes exponential time, so every check has a limit on its steps, and
answers "not decided" when the limit is reached.
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
"""The default limit on the steps of a check; a step looks at one set of up to 4,096 features."""

LOOK_EVERY = 100_000
"""Steps between two calls of `stop`."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Sets of the features 0 to d-1 that do not flip (`zeros`) and sets that do (`ones`), as bitmasks.

    If `weights` is given, it holds one positive number per feature, and the ones are the lightest flip sets instead of
    the smallest.

    Examples
    --------
    Feature 0 flips by itself, and no set without it flips:

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
            raise InputError(f"a proof needs at least one feature, got d={self.d}")
        for name, sets in (("zeros", self.zeros), ("ones", self.ones)):
            for flips in sets:
                if flips < 0 or flips >> self.d:
                    raise InputError(f"{name} contain a set with features outside 0 to {self.d - 1}")
        if self.weights is not None and len(self.weights) != self.d:
            raise InputError(f"a proof about {self.d} features needs as many weights, got {len(self.weights)}")
        _whole_weights(self.weights)  # refuses weights that are not positive numbers

    @property
    def questions(self) -> tuple[int, ...]:
        """The queries that confirm the proof: the zeros, then the ones."""
        return self.zeros + self.ones

    def check(self, d: int | None = None, *, steps: int = STEPS, stop: Callable[[], bool] | None = None) -> bool | None:
        """Decide, without any model, whether the zeros and ones force the answer for `d` features.

        Returns None if this was not decided within `steps` steps, or if `stop`, which is called now and then, returned
        True first.
        """
        if d not in (None, self.d):
            return False
        budget = _Budget(steps, stop)
        try:
            # Comparing a one with a zero takes about a quarter of a step.
            budget.spend(len(self.ones) * len(self.zeros) // 4 * self._words)
            if not self.is_consistent():
                return False
            weigh = self._weigh()
            return len({weigh(one) for one in self.ones}) <= 1 and self._gap(budget) is None
        except NotDecided:
            return None

    def is_consistent(self) -> bool:
        """Say whether some monotone function agrees with the zeros and ones, that is, whether no one lies in a zero."""
        return all(one & ~zero for one in self.ones for zero in self.zeros)

    def gap(self, *, steps: int = STEPS, stop: Callable[[], bool] | None = None) -> int | None:
        """Return a set that lies in no zero, contains no one and weighs no more than the lightest one.

        Without ones, the set may have any weight. Returns None if there is no such set. Raises `NotDecided` when the
        steps run out.
        """
        return self._gap(_Budget(steps, stop))

    def lower(self, *, steps: int = STEPS, stop: Callable[[], bool] | None = None) -> int | float | None:
        """Return the best lower bound on the weight of a flip set that the zeros prove; None if they allow no flip set.

        When the steps run out, it returns a bound from reasons that share no feature. That bound is valid, but may not
        be the best.
        """
        return self.bound(steps=steps, stop=stop)[0]

    def bound(self, *, steps: int = STEPS, stop: Callable[[], bool] | None = None) -> tuple[int | float | None, bool]:
        """Return `lower`, and whether it is known to be the best bound that the zeros prove."""
        reasons = self._reasons()
        if 0 in reasons:
            return None, True
        whole, _ = _whole_weights(self.weights)
        weigh, budget = self._weigh(), _Budget(steps, stop)
        lightest = (1 << self.d) - 1
        # Invariant: `lightest` meets every reason. Look for a lighter set that does, until there is none.
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
        """Return a sentence that says what is proved."""
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
        undecided = f" (whether more is proved was not decided in {steps:,} steps)" if forced is None else ""
        return f"every flip set has {measure} at least {lower}{at_most}{undecided}"

    def disagreements(self, flips: Callable[[Sequence[frozenset[int]]], Iterable[bool | float]]) -> tuple[int, ...]:
        """Ask the model every zero and one, in one batch, and return those that it answers differently."""
        queries = self.questions
        answers = list(flips([frozenset(_members(query)) for query in queries])) if queries else []
        if len(answers) != len(queries):
            returned = f"{count(len(answers), 'answer')} to {count(len(queries), 'query')}"
            raise OracleError(f"the model returned {returned}", queries)
        expected = [False] * len(self.zeros) + [True] * len(self.ones)
        return tuple(
            query
            for query, answer, flips_here in zip(queries, answers, expected, strict=True)
            if _reads_as_flip(answer, queries) != flips_here
        )

    def confirm(self, flips: Callable[[Sequence[frozenset[int]]], Iterable[bool | float]]) -> bool:
        """Ask the model every zero and one again, and say whether it agrees with all of them."""
        return not self.disagreements(flips)

    def to_json(self) -> str:
        """Write the proof as JSON: a one as its features, a zero as the features it holds fixed (its complement)."""
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
        """Read what `to_json` wrote; for anything else, raise an `InputError` that says what is wrong."""
        return cls.read(Field(parse(text, "a proof"), "proof"))

    @classmethod
    def read(cls, field: Field, d: int | None = None) -> Proof:
        """Read a proof that is part of a larger file. If `d` is given, the proof must be about `d` features."""
        if not isinstance(field.value, dict) or field.value.get("format") != FORMAT:
            raise InputError(f'{field.path} must be a JSON object with "format": "{FORMAT}"')
        data = field.members(("format", "d", "ones", "zeros_hold"), ("weights",))
        width = data["d"].whole(1)
        if d is not None and width != d:
            data["d"].refuse(f"{d}, the number of units that can move")
        if width > MOST_FEATURES:
            data["d"].refuse(f"at most {MOST_FEATURES:,}")
        ones, held = data["ones"].items(MOST_SETS), data["zeros_hold"].items(MOST_SETS)
        # In memory a set takes `d` bits however few features it names: bound that before any set is read.
        if (len(ones) + len(held)) * width > MOST_BITS:
            raise InputError(f"{field.path} has too many sets of {width:,} features: {len(ones) + len(held):,}")
        weights = None
        if "weights" in data:
            weights = tuple(weight.weight() for weight in data["weights"].items(MOST_FEATURES))
            if len(weights) != width:
                data["weights"].refuse(f"a list of {width:,} weights, one for each feature")
        whole = (1 << width) - 1
        zeros = tuple(whole & ~_read_set(one, width) for one in held)
        return cls(width, zeros, tuple(_read_set(one, width) for one in ones), weights)


class _Budget:
    """The steps that a check may still take. `spend` raises `NotDecided` when none are left or `stop` returns True."""

    def __init__(self, steps: int, stop: Callable[[], bool] | None) -> None:
        self._left = steps
        self._stop = stop
        self._next_look = steps - LOOK_EVERY  # call `stop` when fewer steps than this are left

    def spend(self, steps: int) -> None:
        """Count these steps as taken."""
        self._left -= steps
        if self._left < 0:
            raise NotDecided("the steps ran out before it was decided whether the proof has a gap")
        if self._stop is not None and self._left < self._next_look:
            self._next_look = self._left - LOOK_EVERY
            if self._stop():
                raise NotDecided("stopped before it was decided whether the proof has a gap")


@dataclass(slots=True)
class _Branch:
    """A point where the search for a gap branches over the features of one reason."""

    rest: int  # features of the reason that are still to be tried
    chosen: int  # the set so far
    banned: int  # features that no set below this point may contain, because those sets were searched already
    left: int  # the weight that may still be added


def _meet_all(
    reasons: Sequence[int], ones: Sequence[int], weights: Sequence[int] | None, left: int, budget: _Budget
) -> int | None:
    """Return a set of weight at most `left` that meets all reasons and is not one of the ones; None if there is none.

    No one may weigh less than `left`, so that a set within that weight contains a one only if it is that one.
    A branch holds three sets and no list, so memory is depth times d. The budget limits the time.
    """
    excluded = set(ones)
    in_ones = reduce(or_, ones, 0)
    words = _words(max(map(int.bit_length, reasons), default=0))
    cost = (1 + 2 * len(reasons)) * words
    # With weights, `_needed` looks for the lightest feature of each reason, feature by feature.
    needed_cost = 0 if weights is None else len(reasons) * len(weights) // 16
    stack: list[_Branch] = []
    chosen = banned = 0
    # Invariant: if there is a gap, one lies below a branch of `stack`, or contains `chosen` and nothing of `banned`.
    while True:
        budget.spend(cost + needed_cost)
        unmet = [reason & ~banned for reason in reasons if not reason & chosen]
        # A reason with one feature left leaves no choice. Adding such features here keeps the stack short.
        while forced := reduce(or_, (reason for reason in unmet if not reason & (reason - 1)), 0):
            budget.spend(len(unmet) * words)
            chosen |= forced
            left -= forced.bit_count() if weights is None else sum(weights[i] for i in _members(forced))
            unmet = [reason for reason in unmet if not reason & forced]
        if left >= 0 and chosen not in excluded:
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
        # Features that are in the same unmet reasons and in no one are interchangeable: try only one of them.
        alike = bit if weights is not None or bit & in_ones else _alike(bit, top.rest & ~in_ones, top.chosen, reasons)
        chosen, banned = top.chosen | bit, top.banned
        left = top.left - (1 if weights is None else weights[bit.bit_length() - 1])
        top.rest &= ~alike
        top.banned |= alike  # sets with these features have now been searched


def _words(bits: int) -> int:
    """Return how many steps one operation on sets of this many features counts as."""
    return 1 + bits // 4096


def _alike(bit: int, among: int, chosen: int, reasons: Sequence[int]) -> int:
    """Return the features of `among` that are in the same reasons as `bit`, of those that `chosen` does not meet."""
    for reason in reasons:
        if not reason & chosen:
            among &= reason if reason & bit else ~reason
    return among


def _needed(unmet: Sequence[int], weights: Sequence[int] | None) -> int:
    """Return a lower bound on the weight that meets all these reasons: disjoint reasons need one feature each."""
    used = needed = 0
    for reason in unmet:
        if not reason & used:
            used |= reason
            needed += 1 if weights is None else min(weights[i] for i in _members(reason))
    return needed


def _whole_weights(weights: Sequence[float] | None) -> tuple[list[int] | None, int]:
    """Read weights as the decimals they print as, and scale them to whole numbers, so that 0.1 + 0.2 equals 0.3.

    Returns the whole numbers and the factor by which they were scaled.
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


def _reads_as_flip(answer: Any, queries: Sequence[int]) -> bool:
    if type(answer).__name__ in {"bool", "bool_"}:
        return bool(answer)
    # A whole number 0 is ambiguous: as a label it means that the decision stays, as a margin that it flips.
    is_label = isinstance(answer, Integral)
    unclear = not isinstance(answer, Real) or isnan(answer) or (answer == 0 and is_label)
    if unclear:
        raise OracleError(
            f"the model answered {answer!r}; expected a bool or a float margin (at or above 0 flips)", queries
        )
    return float(answer) >= 0


def _read_set(field: Field, d: int) -> int:
    flips = 0
    for item in field.items(d):
        feature = item.value
        if not isinstance(feature, int) or isinstance(feature, bool) or not 0 <= feature < d:
            item.refuse(f"a feature, 0 to {d - 1}")
        if flips >> feature & 1:
            item.refuse("different from the entries before it")
        flips |= 1 << feature
    return flips

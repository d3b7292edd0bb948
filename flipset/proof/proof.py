"""Proofs: zeros and ones that together force the answer, and a checker that shares no code with any search.

A zero is a set of features that does not flip; a one is a set that does. Let Δ be the size of the ones. The zeros and
ones prove that the ones are *all* the smallest flip sets if every set of at most Δ features lies in a zero or is a one.
Every monotone function that agrees with them then has exactly that answer. They prove that no flip set exists if the
set of all features is a zero. Checking this needs no model. Confirming that the model agrees costs one query per zero
and per one. Where features have weights, read "total weight" for "size" throughout.

The checker looks for a *gap*: a set that the zeros and ones leave open (`flipset.proof.gaps`). In the worst case this
takes exponential time, so every check has a limit on its steps, and answers "not decided" when the limit is reached.
`steps` is a number, or a `StepBudget` that several checks share.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from numbers import Real
from typing import TYPE_CHECKING, Any

from flipset.boundary.limits import CHECK_STEPS, MOST_BITS, MOST_FEATURES, MOST_SETS
from flipset.boundary.reading import WEIGHTS, Field, check_size, is_weight, parse, shown
from flipset.boundary.step_budget import StepBudget
from flipset.errors import InputError, NotDecided
from flipset.proof.asking import ask_sets, batches
from flipset.proof.gaps import meet_all, members, needed_weight, words_of
from flipset.proof.sweep import any_uncovered, is_sweep_faster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

FORMAT = "flipset-proof/1"

STEPS: int = CHECK_STEPS
"""The default limit on the steps of a check; a step looks at one set of up to 4,096 features."""


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
    # The weights as whole numbers, and the factor by which they were scaled.
    _whole: tuple[int, ...] | None = field(init=False, repr=False, compare=False)
    _scale: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.d < 1:
            raise InputError(f"a proof needs at least one feature, got d={self.d}")
        for name, sets in (("zeros", self.zeros), ("ones", self.ones)):
            for flips in sets:
                if flips < 0 or flips >> self.d:
                    raise InputError(f"{name} contain a set with features outside 0 to {self.d - 1}")
        if self.weights is not None and len(self.weights) != self.d:
            raise InputError(f"a proof about {self.d} features needs as many weights, got {len(self.weights)}")
        # Computed once. `object.__setattr__`, because a frozen dataclass forbids the ordinary way.
        whole, scale = _whole_weights(self.weights)
        object.__setattr__(self, "_whole", whole)
        object.__setattr__(self, "_scale", scale)

    @property
    def questions(self) -> tuple[int, ...]:
        """The queries that confirm the proof: the zeros, then the ones."""
        return self.zeros + self.ones

    def check(
        self, d: int | None = None, *, steps: int | StepBudget = STEPS, stop: Callable[[], bool] | None = None
    ) -> bool | None:
        """Decide, without any model, whether the zeros and ones force the answer for `d` features.

        Returns None if this was not decided within `steps` steps, or if `stop`, which is called now and then, returned
        True first.
        """
        # A proof about another number of features may be right, but not about this function.
        if d not in (None, self.d):
            return False
        budget = StepBudget.of(steps, stop)
        try:
            if not self._is_consistent(budget):
                return False
            # All ones must have the same weight: a heavier one cannot be among the smallest.
            return len({*self._weights_of_ones(budget)}) <= 1 and self._gap(budget) is None
        except NotDecided:
            return None

    def check_size(
        self, d: int | None = None, *, steps: int | StepBudget = STEPS, stop: Callable[[], bool] | None = None
    ) -> bool | None:
        """Decide, without any model, whether the zeros and ones force the size (or weight) of the smallest flip sets.

        That is, whether every set that is smaller than the ones lies in a zero. There may be other flip sets of that
        size. Returns None if this was not decided, as `check` does.
        """
        if d not in (None, self.d) or not self.ones:
            return False
        budget = StepBudget.of(steps, stop)
        try:
            if not self._is_consistent(budget):
                return False
            weights = {*self._weights_of_ones(budget)}
            return len(weights) == 1 and self._is_covered(min(weights) - 1, budget)
        except NotDecided:
            return None

    def _is_covered(self, most: int, budget: StepBudget) -> bool:
        """Say whether every set of weight at most `most` lies in a zero; `most` is scaled like the weights."""
        reasons = self._reasons()
        if most < 0 or 0 in reasons:
            return True
        if self._whole is None and is_sweep_faster(self.d, most, reasons):
            return not any_uncovered(self.d, most, reasons, budget)
        return meet_all(reasons, (), self._whole, most, budget) is None

    def is_consistent(self, *, steps: int | StepBudget = STEPS, stop: Callable[[], bool] | None = None) -> bool | None:
        """Say whether some monotone function agrees with the zeros and ones, that is, whether no one lies in a zero.

        Returns None when the steps run out.
        """
        try:
            return self._is_consistent(StepBudget.of(steps, stop))
        except NotDecided:
            return None

    def _is_consistent(self, budget: StepBudget) -> bool:
        # Comparing a one with a zero takes about a quarter of a step.
        cost = 1 + len(self.zeros) // 4 * self._words
        for one in self.ones:
            budget.spend(cost)
            if not all(one & ~zero for zero in self.zeros):
                return False
        return True

    def gap(self, *, steps: int | StepBudget = STEPS, stop: Callable[[], bool] | None = None) -> int | None:
        """Return a set that lies in no zero, contains no one and weighs no more than the lightest one.

        Without ones, the set may have any weight. Returns None if there is no such set. Raises `NotDecided` when the
        steps run out.
        """
        return self._gap(StepBudget.of(steps, stop))

    def lower(self, *, steps: int | StepBudget = STEPS, stop: Callable[[], bool] | None = None) -> int | float | None:
        """Return the best lower bound on the weight of a flip set that the zeros prove; None if they allow no flip set.

        When the steps run out, it returns a bound from reasons that share no feature. That bound is valid, but may not
        be the best.
        """
        return self.bound(steps=steps, stop=stop)[0]

    def bound(
        self, *, steps: int | StepBudget = STEPS, stop: Callable[[], bool] | None = None
    ) -> tuple[int | float | None, bool]:
        """Return `lower`, and whether it is known to be the best bound that the zeros prove."""
        reasons = self._reasons()
        if 0 in reasons:
            return None, True
        budget = StepBudget.of(steps, stop)
        lightest = (1 << self.d) - 1
        # Invariant: `lightest` meets every reason. Look for a lighter set that does, until there is none.
        try:
            while (gap := meet_all(reasons, (), self._whole, self.weigh(lightest) - 1, budget)) is not None:
                lightest = gap
        except NotDecided:
            return self._shown(needed_weight(sorted(reasons, key=int.bit_count), self._whole)), False
        return self._shown(self.weigh(lightest)), True

    def weight_below(
        self, lower: float, *, steps: int | StepBudget = STEPS, stop: Callable[[], bool] | None = None
    ) -> int | float | None:
        """Return the weight of some set below `lower` that the zeros leave open; None if there is no such set.

        None proves that every flip set weighs at least `lower`. This takes far fewer steps than `lower()`, which has to
        find the best bound. Raises `NotDecided` when the steps run out.
        """
        reasons = sorted(self._reasons(), key=int.bit_count)
        most = self._heaviest_below(lower)
        # Three cases need no search: no weight is below the bound, nothing at all flips, or disjoint reasons need more.
        if most < 0 or (reasons and not reasons[0]) or needed_weight(reasons, self._whole) > most:
            return None
        budget = StepBudget.of(steps, stop)
        is_swept = self._whole is None and is_sweep_faster(self.d, most, reasons)
        if is_swept and not any_uncovered(self.d, most, reasons, budget):
            return None
        gap = meet_all(reasons, (), self._whole, most, budget)
        return None if gap is None else self._shown(self.weigh(gap))

    def _heaviest_below(self, lower: float) -> int:
        """Return the greatest whole weight that is below `lower` as a float; -1 if there is none."""
        # By halving: a sum of weights is rounded to a float when it is written, so the bound cannot simply be scaled.
        low, high = -1, self.weigh((1 << self.d) - 1) + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if float(Fraction(middle, self._scale)) < float(lower) else (low, middle)
        return low

    def upper(self) -> int | float | None:
        """Return the weight of the lightest one, or None when there is none."""
        lightest = min(map(self.weigh, self.ones), default=None)
        return None if lightest is None else self._shown(lightest)

    def weigh(self, flips: int) -> int:
        """Return the weight of a set as a whole number: its size, or the sum of its weights, scaled alike."""
        return flips.bit_count() if self._whole is None else sum(map(self._whole.__getitem__, members(flips)))

    def _weights_of_ones(self, budget: StepBudget) -> Iterator[int]:
        cost = self._words if self._whole is None else 1 + self.d // 16
        for one in self.ones:
            budget.spend(cost)
            yield self.weigh(one)

    def _shown(self, weight: int) -> int | float:
        exact = Fraction(weight, self._scale)
        return int(exact) if exact.denominator == 1 else float(exact)

    @property
    def _words(self) -> int:
        return words_of(self.d)

    def _reasons(self) -> list[int]:
        whole = (1 << self.d) - 1
        return [whole & ~zero for zero in self.zeros]

    def _gap(self, budget: StepBudget) -> int | None:
        limit = min(self._weights_of_ones(budget), default=self.weigh((1 << self.d) - 1))
        return meet_all(self._reasons(), self.ones, self._whole, limit, budget)

    def states(self, *, steps: int = STEPS) -> str:
        """Return a sentence that says what is proved."""
        least, measure = ("smallest", "size") if self.weights is None else ("lightest", "weight")
        if self.is_consistent(steps=steps) is False:
            return "nothing: no monotone function agrees with these zeros and ones"
        forced = self.check(steps=steps)
        if forced:
            if not self.ones:
                return "no flip set exists"
            sets = ", ".join(_braces(one) for one in self.ones)
            return f"the {least} flip sets have {measure} {self.upper()} and are exactly {sets}"
        if self.check_size(steps=steps):
            sets = ", ".join(_braces(one) for one in self.ones)
            return f"the {least} flip sets have {measure} {self.upper()}, and among them are {sets}"
        lower, upper = self.lower(steps=steps), self.upper()
        at_most = "" if upper is None else f", and one has {measure} {upper}"
        undecided = f" (whether more is proved was not decided in {steps:,} steps)" if forced is None else ""
        return f"every flip set has {measure} at least {lower}{at_most}{undecided}"

    def disagreements(self, flips: Callable[[Sequence[frozenset[int]]], Iterable[bool | float]]) -> tuple[int, ...]:
        """Ask the model every zero and one, and return those that it answers differently.

        They are asked in one batch, or in several of at most a million features if there are more.
        """
        expected = [*((zero, False) for zero in self.zeros), *((one, True) for one in self.ones)]
        return tuple(
            query
            for part in batches(expected)
            for (query, flips_here), answer in zip(part, ask_sets([query for query, _ in part], flips), strict=True)
            if answer != flips_here
        )

    def confirm(self, flips: Callable[[Sequence[frozenset[int]]], Iterable[bool | float]]) -> bool:
        """Ask the model every zero and one again, and say whether it agrees with all of them."""
        return not self.disagreements(flips)

    def to_json(self) -> str:
        """Write the proof as JSON: a one as its features, a zero as the features it holds fixed (its complement).

        A proof that exceeds the limits of `from_json` is an `InputError`.
        """
        _check_counts(self.d, len(self.zeros), len(self.ones), "a proof")
        whole = (1 << self.d) - 1
        data: dict[str, Any] = {
            "format": FORMAT,
            "d": self.d,
            "ones": [members(one) for one in self.ones],
            # Zeros are large, and what they leave out is small and of interest: it is a reason.
            "zeros_hold": [members(whole & ~zero) for zero in self.zeros],
        }
        if self.weights is not None:
            data["weights"] = list(self.weights)
        text = json.dumps(data)
        check_size(text, "a proof")
        return text

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
        # Nothing is read yet: the counts are checked first, because a set takes d bits, however few features it names.
        ones, held = data["ones"].items(MOST_SETS), data["zeros_hold"].items(MOST_SETS)
        _check_counts(width, len(data["zeros_hold"].value), len(data["ones"].value), field.path)
        weights = None
        if "weights" in data:
            weights = tuple(weight.weight() for weight in data["weights"].items(width))
            if len(weights) != width:
                data["weights"].refuse(f"a list of {width:,} weights, one for each feature")
        whole = (1 << width) - 1
        zeros = tuple(whole & ~_read_set(one, width) for one in held)
        return cls(width, zeros, tuple(_read_set(one, width) for one in ones), weights)


def _check_counts(d: int, zeros: int, ones: int, path: str) -> None:
    """Refuse a proof of too many features or sets, before a set is read and before one is written."""
    if d > MOST_FEATURES:
        raise InputError(f"{path}.d must be at most {MOST_FEATURES:,}, got {shown(d)}")
    for name, number in (("zeros_hold", zeros), ("ones", ones)):
        if number > MOST_SETS:
            raise InputError(f"{path}.{name} may have {MOST_SETS:,} entries, got {number:,}")
    if (zeros + ones) * d > MOST_BITS:
        raise InputError(
            f"{path} has too many sets of {d:,} features: {zeros + ones:,}, and may have {MOST_BITS // d:,}"
        )


def _whole_weights(weights: Sequence[float] | None) -> tuple[tuple[int, ...] | None, int]:
    """Read weights as the decimals they print as, and scale them to whole numbers, so that 0.1 + 0.2 equals 0.3.

    Returns the whole numbers and the factor by which they were scaled.
    """
    if weights is None:
        return None, 1
    exact: list[Fraction] = []
    for i, weight in enumerate(weights):
        if not isinstance(weight, Real) or isinstance(weight, bool) or not is_weight(weight):
            raise InputError(f"weights[{i}] of a proof is {shown(weight)}; expected a positive number, {WEIGHTS}")
        # Through text: people write 0.1 and mean a tenth, which no float is.
        exact.append(Fraction(str(weight)))
    scale = lcm(*(weight.denominator for weight in exact))
    return tuple(int(weight * scale) for weight in exact), scale


def _braces(flips: int) -> str:
    return "{" + ", ".join(map(str, members(flips))) + "}"


def _read_set(field: Field, d: int) -> int:
    """Read a list of different features, 0 to d-1, as a bitmask."""
    if not isinstance(field.value, list) or len(field.value) > d:
        field.items(d)  # raises the error
    # Marks are set in an array: adding bits to an integer one by one would take quadratic time. A `Field` for each
    # entry would take most of the time, so one is made for the error alone.
    if field.budget is not None:
        field.budget.spend(1 + len(field.value) + d // 4096)
    marks = bytearray((d + 7) // 8)
    for i, feature in enumerate(field.value):
        if not isinstance(feature, int) or isinstance(feature, bool) or not 0 <= feature < d:
            field.part(feature, i).refuse(f"a feature, 0 to {d - 1}")
        place, bit = feature >> 3, 1 << (feature & 7)
        if marks[place] & bit:
            field.part(feature, i).refuse("different from the entries before it")
        marks[place] |= bit
    return int.from_bytes(marks, "little")

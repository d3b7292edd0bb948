"""The words of a space: what people call its columns, their values, the score and the two outcomes.

Words change no answer. Names stay names in data, files and code; the text for people has the words. Explanations carry
the words of their space, so that a file can be shown as it was without the space.

A value is looked up among the labels by `label_key`, its plain text, so that TOML and JSON, whose keys are strings,
need no types: 1, 1.0 and True have one label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite
from numbers import Real
from typing import Any, Literal, TypeAlias, get_args

from flipset.errors import InputError

NumberFormat: TypeAlias = Literal["plain", "thousands", "percent"]
"""How numbers are written: 12000.5, 12,000.5, or 0.145 as 14.5 %."""

NumberType: TypeAlias = Literal["float64", "float32", "float16"]
"""The type of the floats of a column."""

MISSING = "missing"
"""The key, and the default label, of a missing value."""

YES_NO = (("0", "no"), ("1", "yes"))
"""The labels of a binary column that has none of its own."""


def label_key(value: Any) -> str:
    """Return the text by which the label of a value is looked up.

    Examples
    --------
    >>> label_key(1.0), label_key(True), label_key("flat"), label_key(0.5), label_key(None)
    ('1', '1', 'flat', '0.5', 'missing')
    """
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return str(int(value))
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True)
class FeatureWords:
    """What people call a column and its values.

    Attributes
    ----------
    label
        The name of the column for people.
    unit
        What follows a number: "thousand USD", "% of income".
    value_labels
        Pairs of a value, as `label_key` has it, and its label.
    number_format
        How numbers are written.
    number_type
        The type of a column of narrow floats: as many digits are written as tell its numbers apart, "0.3" for the
        float32 nearest to 0.3.
    """

    label: str
    unit: str = ""
    value_labels: tuple[tuple[str, str], ...] = ()
    number_format: NumberFormat = "plain"
    number_type: NumberType = "float64"

    def label_of(self, value: Any) -> str | None:
        """Return the label of a value; None if it has none."""
        if not self.value_labels:
            return None
        key = label_key(value)
        return next((label for own, label in self.value_labels if own == key), None)

    def is_last(self, value: Any, *, rising: bool) -> bool:
        """Say whether a value has a label, other numbers have labels, and none of them lies beyond it.

        Examples
        --------
        >>> words = FeatureWords("savings", value_labels=(("0", "none"), ("1", "some"), ("2", "much")))
        >>> words.is_last(2, rising=True), words.is_last(1, rising=True), words.is_last(0, rising=False)
        (True, False, True)
        """
        if self.label_of(value) is None or not isinstance(value, Real):
            return False
        own = float(value)
        others = [number for key, _ in self.value_labels if (number := _number(key)) is not None and number != own]
        return bool(others) and all(number < own if rising else number > own for number in others)

    def with_unit(self, number: str) -> str:
        """Return a number that is written already, followed by the unit."""
        return f"{number} {self.unit}" if self.unit else number


def _number(key: str) -> float | None:
    """Return the number that a key of a label stands for; None if it stands for a text."""
    try:
        return float(key)
    except ValueError:
        return None


def write_number(text: str, number_format: NumberFormat) -> str:
    """Write a number, given in digits, in a format; no digit is lost.

    Examples
    --------
    >>> write_number("12000.5", "thousands"), write_number("0.145", "percent"), write_number("0.07", "percent")
    ('12,000.5', '14.5 %', '7 %')
    """
    if number_format == "plain":
        return text
    number = Decimal(text)
    if not number.is_finite():
        return text
    if number_format == "percent":
        return f"{(number * 100).normalize():f} %"
    return f"{number:,f}"


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision that is made from a score, and the words for it.

    Attributes
    ----------
    threshold
        The score at which the decision changes; None leaves it to the model or to `Explainer`.
    favorable
        "above" if scores of at least the threshold are favorable, "below" if lower scores are, as with a probability
        of default.
    outcomes
        The words for the unfavorable and the favorable outcome.
    outcome_nouns
        The same as nouns, as in "no allowed change leads to approval". For outcomes of your own, the outcome itself in
        quotation marks unless nouns are given.
    score_label
        What the score is called.
    score_format
        How scores are written. By default as percentages where scores and threshold lie between 0 and 1.

    Examples
    --------
    >>> default = Decision(0.1, "below", score_label="probability of default")
    >>> default.outcome(True), default.outcome(False)  # True: the score is at or above the threshold
    ('declined', 'approved')
    """

    threshold: float | None = None
    favorable: Literal["above", "below"] = "above"
    outcomes: tuple[str, str] = ("declined", "approved")
    outcome_nouns: tuple[str, str] | None = None
    score_label: str = "score"
    score_format: NumberFormat | None = None

    def __post_init__(self) -> None:
        for name in ("outcomes", "outcome_nouns"):
            given = getattr(self, name)
            if name == "outcome_nouns" and given is None:
                continue
            pair = () if isinstance(given, str) or not hasattr(given, "__iter__") else tuple(given)
            if len(pair) != 2 or not all(isinstance(word, str) and word.strip() for word in pair) or len(set(pair)) < 2:
                raise InputError(
                    f"{name} of a decision must be two different words, the unfavorable one first, got {given!r}"
                )
            object.__setattr__(self, name, pair)
        given = self.threshold
        if given is not None and (isinstance(given, bool) or not isinstance(given, Real) or not isfinite(given)):
            raise InputError(f"threshold of a decision must be a finite number, got {given!r}")
        to_plain = getattr(given, "item", None)
        if to_plain is not None:  # a number of NumPy; files hold plain numbers
            object.__setattr__(self, "threshold", to_plain())
        if self.favorable not in ("above", "below"):
            raise InputError(f'favorable must be "above" or "below", got {self.favorable!r}')
        if not isinstance(self.score_label, str) or not self.score_label.strip():
            raise InputError(f"score_label must be a text that is not empty, got {self.score_label!r}")
        if self.score_format is not None:
            check_format("score_format", self.score_format)

    def is_favorable(self, decision: bool) -> bool:
        """Say whether a decision, True if the score is at or above the threshold, is the favorable one."""
        return decision == (self.favorable == "above")

    def outcome(self, decision: bool) -> str:
        """Return the word for a decision."""
        return self.outcomes[self.is_favorable(decision)]

    def noun(self, decision: bool) -> str:
        """Return the noun for a decision, or the word for it in quotation marks."""
        if self.outcome_nouns is not None:
            return self.outcome_nouns[self.is_favorable(decision)]
        if self.outcomes == DEFAULT_OUTCOMES:
            return DEFAULT_NOUNS[self.is_favorable(decision)]
        return f"“{self.outcome(decision)}”"


DEFAULT_OUTCOMES = ("declined", "approved")
DEFAULT_NOUNS = ("refusal", "approval")


def check_format(name: str, given: Any) -> None:
    """Refuse what is not one of the formats of numbers."""
    if given not in get_args(NumberFormat):
        raise InputError(f"{name} must be one of {', '.join(map(repr, get_args(NumberFormat)))}, got {given!r}")


def read_labels(given: Any) -> tuple[tuple[str, str], ...]:
    """Read labels of values, given as a mapping or as pairs; refuse what is neither, and two labels of one value."""
    if not isinstance(given, (Mapping, tuple, list)):
        raise InputError(f"value_labels must be a mapping from values to labels, got {given!r}")
    pairs = list(given.items()) if isinstance(given, Mapping) else list(given)
    if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[1], str) for pair in pairs):
        raise InputError(f"value_labels must be a mapping from values to labels, got {given!r}")
    labels = {label_key(value): label for value, label in pairs}
    if len(labels) < len(pairs):
        raise InputError(f"value_labels has two labels for one value: {given!r}")
    return tuple(labels.items())


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a space: its decision, and those of its columns, by name.

    Examples
    --------
    >>> words = Words(features={"inc": FeatureWords("income", "thousand USD")})
    >>> words.of("inc").label, words.of("debt").label
    ('income', 'debt')
    """

    decision: Decision = field(default_factory=Decision)
    features: Mapping[str, FeatureWords] = field(default_factory=dict)

    def of(self, name: str) -> FeatureWords:
        """Return the words of a column or a group; without any, its name."""
        found = self.features.get(name)
        return FeatureWords(name) if found is None else found

    @property
    def labels(self) -> dict[str, str]:
        """The labels of columns and groups that have words, by name."""
        return {name: one.label for name, one in self.features.items()}

    def label(self, name: str) -> str:
        """Return what people call a column or a group."""
        return self.of(name).label

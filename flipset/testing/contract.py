"""What all contracts share: cases from seeds, failures that name their case, and a way to run them without pytest."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, NamedTuple

from flipset.testing.functions import DRAWS, Predicate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Case(NamedTuple):
    """A monotone function of `d` features, with a random generator for whatever else the case needs."""

    name: str
    g: Predicate
    d: int
    rng: Random


class Contract:
    """A class of checks, each a method `test_…` that raises an `AssertionError` where something is not as it must be.

    Attributes
    ----------
    seeds
        The seeds of the random cases. More seeds find rarer faults and take longer.
    most_features
        How many features a random function has at most.
    """

    seeds: Iterable[int] = range(40)
    most_features: int = 7

    def cases(self) -> Iterator[Case]:
        """Draw functions: every kind of them in turn, of 1 to `most_features` features."""
        for seed in self.seeds:
            rng = Random(seed)
            d = max(rng.randint(1, self.most_features) for _ in range(2))  # small ones are soon exhausted
            draw = DRAWS[seed % len(DRAWS)]
            yield Case(f"{draw.__name__}, seed {seed}, {d} features", draw(rng, d), d, rng)


def check(holds: bool, problem: str) -> None:
    """Raise an `AssertionError` that says what is wrong; unlike `assert`, it is never compiled away."""
    if not holds:
        raise AssertionError(problem)


def run_contract(contract: Contract) -> list[str]:
    """Run all checks of a contract; return their names. The first that fails raises."""
    names = sorted(name for name in dir(contract) if name.startswith("test_"))
    for name in names:
        getattr(contract, name)()
    return names

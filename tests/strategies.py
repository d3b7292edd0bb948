"""Hypothesis strategies: monotone functions with their number of features."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from hypothesis import strategies as st

from flipset.testing import DRAWS, Predicate


class Function(NamedTuple):
    """A monotone predicate over `d` features; `name` reproduces it."""

    g: Predicate
    d: int
    name: str

    def __repr__(self) -> str:
        return self.name


def draw(kind: int, seed: int, d: int) -> Function:
    g = DRAWS[kind](Random(seed), d)
    return Function(g, d, f"draw(kind={kind}, seed={seed}, d={d})")


def functions(max_d: int = 8) -> st.SearchStrategy[Function]:
    return st.builds(
        draw,
        kind=st.integers(0, len(DRAWS) - 1),
        seed=st.integers(0, 2**32),
        d=st.integers(1, max_d),
    )

"""Eight families of monotone functions with few relevant features among many.

Each is drawn over r relevant features for a bound S on certificates and a size Δ, then its features are scattered among
d. The same seed gives the same function for every d. Where a function has a natural score, it answers with margins too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import TypeAlias

from flipset.protocol import Flips, features_of, flips_of

GRID = ((3, 1), (3, 3), (3, 5), (4, 2), (4, 4), (6, 3), (8, 1), (8, 2), (12, 2))

# A function over r relevant features: its margin, whether the margin says more than the sign, and r.
Core: TypeAlias = tuple[Callable[[Flips], float], bool, int]
Node: TypeAlias = "float | tuple[int, Node, Node]"


def dnf(rng: Random, S: int, delta: int) -> Core:
    """2S random terms of Δ to Δ+2 features, at least one of Δ, over max(2S, Δ+4)."""
    r = max(2 * S, delta + 4)
    terms = [flips_of(rng.sample(range(r), delta + (rng.randrange(3) if j else 0))) for j in range(2 * S)]
    return (lambda q: 1.0 if any(not term & ~q for term in terms) else -1.0), False, r


def cnf(rng: Random, S: int, delta: int) -> Core:
    """4Δ clauses of S features, all of them hit by a planted Δ-set."""
    r = S * delta + 2 * S
    planted = rng.sample(range(r), delta)
    clauses = []
    for j in range(4 * delta):
        others = rng.sample([i for i in range(r) if i != planted[j % delta]], S - 1)
        clauses.append(flips_of([planted[j % delta], *others]))
    return (lambda q: 1.0 if all(clause & q for clause in clauses) else -1.0), False, r


def thr(rng: Random, S: int, delta: int) -> Core:
    """At least Δ of S+Δ-1."""
    return (lambda q: q.bit_count() - delta + 0.5), True, S + delta - 1


def low(rng: Random, S: int, delta: int) -> Core:
    """The paper's lower-bound family: more than Δ of S+Δ, or one planted Δ-set."""
    planted = flips_of(rng.sample(range(S + delta), delta))
    return (lambda q: 1.0 if q.bit_count() > delta or q == planted else -1.0), False, S + delta


def andor(rng: Random, S: int, delta: int) -> Core:
    """Δ disjoint clauses of S features."""
    clauses = [flips_of(range(j * S, (j + 1) * S)) for j in range(delta)]
    return (lambda q: 1.0 if all(clause & q for clause in clauses) else -1.0), False, S * delta


def dlist(rng: Random, S: int, delta: int) -> Core:
    """A monotone decision list: Δ-1 features that must flip, one that settles it, and a random tail."""
    rules = [False] * (delta - 1) + [True] + [rng.random() < 0.5 for _ in range(S - 1)] + [False]

    def decide(q: Flips) -> float:
        for i, wants in enumerate(rules):
            if bool(q >> i & 1) == wants:
                return 1.0 if wants else -1.0
        return 1.0

    return decide, False, len(rules)


def ltf(rng: Random, S: int, delta: int) -> Core:
    """A linear threshold with log-normal weights over 4S features."""
    weights = sorted((rng.lognormvariate(0, 1) for _ in range(4 * S)), reverse=True)
    least, most = sum(weights[: delta - 1]), sum(weights[:delta])
    threshold = least + (most - least) * rng.uniform(0.3, 0.9)
    return (lambda q: sum(weights[i] for i in features_of(q)) - threshold), True, 4 * S


def trees(rng: Random, S: int, delta: int) -> Core:
    """Forty monotone trees of depth 4 over 4S features, used by Zipf's law."""
    r = 4 * S
    zipf = [1.0 / (i + 1) for i in range(r)]

    def build(depth: int, least: float, most: float) -> Node:
        if depth == 0:
            return rng.uniform(least, most)
        cut = rng.uniform(least, most)
        (feature,) = rng.choices(range(r), zipf)
        return 1 << feature, build(depth - 1, least, cut), build(depth - 1, cut, most)

    forest = [build(4, 0.0, 1.0) for _ in range(40)]

    def score(q: Flips) -> float:
        total = 0.0
        for node in forest:
            while isinstance(node, tuple):
                node = node[2] if q & node[0] else node[1]
            total += node
        return total

    def best(size: int) -> float:
        return max(score(flips_of(c)) for c in combinations(range(min(r, 14 if size > 2 else r)), size))

    least, most = best(delta - 1), best(delta)
    threshold = least + (most - least) * rng.uniform(0.3, 0.9)
    return (lambda q: score(q) - threshold), True, r


FAMILIES: dict[str, Callable[[Random, int, int], Core]] = {
    "dnf": dnf,
    "cnf": cnf,
    "thr": thr,
    "low": low,
    "andor": andor,
    "dlist": dlist,
    "ltf": ltf,
    "trees": trees,
}


@dataclass(frozen=True, slots=True)
class Instance:
    """A function over d features of which those in `places` matter; `margin` is that of the relevant ones."""

    d: int
    places: tuple[int, ...]
    margin: Callable[[Flips], float]
    has_margins: bool

    def relevant(self, query: Flips) -> Flips:
        """Return the relevant part of a query, renumbered."""
        chosen = 0
        for i, place in enumerate(self.places):
            if query >> place & 1:
                chosen |= 1 << i
        return chosen

    def label(self, query: Flips) -> float:
        """Answer with the sign alone."""
        return 1.0 if self.margin(self.relevant(query)) >= 0 else -1.0

    def answer(self, query: Flips) -> float:
        """Answer with the margin."""
        return self.margin(self.relevant(query))


def instance(family: str, S: int, delta: int, d: int, seed: int) -> Instance:
    """Draw a function and scatter its features among d."""
    core, has_margins, r = FAMILIES[family](Random(f"{family}/{S}/{delta}/{seed}"), S, delta)
    memory: dict[Flips, float] = {}

    def margin(query: Flips) -> float:
        if query not in memory:
            memory[query] = core(query)
        return memory[query]

    places = Random(f"place/{family}/{S}/{delta}/{seed}/{d}").sample(range(d), r)
    return Instance(d, tuple(places), margin, has_margins)

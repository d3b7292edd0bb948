"""Two checkers and brute force agree: `Proof.check`, the checker in one file, and all sets of up to six features."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from flipset.flipset_check import Findings, check_claims, check_proof, main, parse, read_explanation
from flipset.proof import Proof
from tests.hostile import hostile_explanation
from tests.test_flipset_check import with_sets, write


def draw_proof(rng: Random) -> Proof:
    """Draw the proof of a random monotone function, whole or broken."""
    d = rng.randint(1, 6)
    generators = [rng.randrange(1, 1 << d) for _ in range(rng.randint(0, 4))]
    weights = tuple(rng.choice([1, 2, 0.1, 0.2, 0.3]) for _ in range(d)) if rng.random() < 0.3 else None
    proof = Proof(d, (), (), weights)
    every = range(1 << d)
    flipping = {s for s in every if any(s & one == one for one in generators)}
    zeros = [s for s in every if s not in flipping and all(s >> i & 1 or s | 1 << i in flipping for i in range(d))]
    least = min(map(proof.weigh, flipping), default=None)
    ones = [s for s in flipping if proof.weigh(s) == least]
    for _ in range(rng.choice([0, 0, 1, 2])):  # break it, perhaps
        sets = rng.choice([zeros, ones])
        how = rng.choice(["lose", "change", "add"])
        if how == "add" or not sets:
            sets.append(rng.choice(every))
        elif how == "lose":
            sets.pop(rng.randrange(len(sets)))
        else:
            sets[rng.randrange(len(sets))] ^= 1 << rng.randrange(d)
    rng.shuffle(zeros)
    return replace(proof, zeros=tuple(zeros), ones=tuple(ones))


def filed(proof: Proof, **fields: Any) -> Any:
    """Return an explanation with this proof and these claims."""

    def units(flips: int) -> list[int]:
        return [i for i in range(proof.d) if flips >> i & 1]

    data = with_sets(hostile_explanation(proof.d), [*map(units, proof.ones)], [units(~zero) for zero in proof.zeros])
    for unit, weight in zip(data["moves"], proof.weights or (), strict=False):
        unit["weight"] = weight
    if proof.weights is not None:
        data["proof"]["weights"] = list(proof.weights)
    return data | {"upper": proof.upper()} | fields


def holds(data: Any) -> bool:
    found = Findings()
    e = read_explanation(parse(json.dumps(data).encode()))
    check_claims(e, found)
    if not found.problems:
        check_proof(e, found)
    return not found.problems


def leaves_open(proof: Proof, allowed: Any) -> bool:
    """Say by brute force whether a set of an allowed weight lies in no zero and is not a one."""
    return any(
        allowed(proof.weigh(s)) and s not in proof.ones and all(s & ~zero for zero in proof.zeros)
        for s in range(1 << proof.d)
    )


def test_verdicts_are_those_of_brute_force_and_of_flipset() -> None:
    counts = {True: 0, False: 0}
    for seed in range(3_000):
        proof = draw_proof(Random(f"proof/{seed}"))
        distinct = all(len(set(sets)) == len(sets) for sets in (proof.zeros, proof.ones))
        consistent = all(one & ~zero for one in proof.ones for zero in proof.zeros)
        least = min(map(proof.weigh, proof.ones), default=None)
        one_weight = {*map(proof.weigh, proof.ones)} <= {least}
        forced = consistent and one_weight and not leaves_open(proof, lambda w, most=least: most is None or w <= most)
        assert proof.check() == forced, seed
        if proof.ones:
            upper = proof.upper()
            answer = holds(filed(proof, status="optimal", size=upper, lower=upper))
        else:
            answer = holds(filed(proof, status="none", lower=None))
        assert answer == (forced and distinct), seed
        counts[answer] += 1
    assert min(counts.values()) > 500


def test_bounds_of_stopped_searches_are_those_of_brute_force() -> None:
    counts = {True: 0, False: 0}
    for seed in range(1_000):
        rng = Random(f"bound/{seed}")
        proof = draw_proof(rng)
        sound = all(one & ~zero for one in proof.ones for zero in proof.zeros)
        sound = sound and len({*map(proof.weigh, proof.ones)}) <= 1
        sound = sound and all(len(set(sets)) == len(sets) for sets in (proof.zeros, proof.ones))
        exact = [Fraction(str(weight)) for weight in proof.weights or [1] * proof.d]
        lower = float(sum(rng.sample(exact, rng.randint(0, proof.d))))
        scale = proof.weigh(1) / exact[0]
        bare = replace(proof, ones=())
        proved = not leaves_open(bare, lambda w, lower=lower, scale=scale: float(w / scale) < lower)
        assert holds(filed(proof, status="stopped", lower=lower)) == (sound and proved), seed
        counts[sound and proved] += 1
    assert min(counts.values()) > 100


def test_a_gap_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = filed(Proof(3, (0b110,), (0b111,)), status="optimal", size=3, lower=3)
    cells = dict.fromkeys(data["row"], 1)
    changes = [{"feature": name, "before": 0, "after": 1, "how": "at least"} for name in cells]
    one = {"flipset": list(cells), "changes": changes, "cost": 3, "cost_at_least": 3, "score": 1, "row": cells}
    data |= {"counterfactuals": [one], "objective": "size", "grids": dict.fromkeys(cells, "0 and 1")}
    assert main([write(tmp_path / "why.json", data)]) == 1
    assert capsys.readouterr().out == ("NOT CONFIRMED:\n  proof: it leaves open whether moving x0 flips the decision\n")

"""Measure the paper's bounds: queries against d, S and Δ, for ball search, the paper's search and the lower bounds.

Run it with `make theory`. It prints three tables and writes docs/figures/theory.svg. Counts are exact and the same on
every machine. The functions are `hidden_set`s, the family behind the lower bound, so no algorithm can do much better.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, comb, log2
from pathlib import Path
from typing import TYPE_CHECKING

from flipset import run
from flipset.layers import Tally, count, remember
from flipset.paper import ball_search, find_optimal
from flipset.paper.families import Member, hidden_set
from flipset.protocol import flips_of
from flipset.testing import asking

if TYPE_CHECKING:
    from collections.abc import Callable

    from flipset.protocol import Flips, Search

FIGURE = Path(__file__).parent.parent / "docs" / "figures" / "theory.svg"
MEASURED_UP_TO = 200_000  # beyond it ball search is computed from its formula, not run

Point = tuple[int, int, int]  # d, S, delta

AGAINST_D: list[Point] = [(d, 6, 2) for d in (8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384)]
AGAINST_S: list[Point] = [(200, S, 2) for S in (2, 3, 4, 6, 8, 12, 16, 24)]
AGAINST_DELTA: list[Point] = [(24, 8, delta) for delta in (1, 2, 3, 4, 5)]


@dataclass(frozen=True, slots=True)
class Measurement:
    """What finding all optimal flip sets of one function costs, and must cost."""

    d: int
    S: int
    delta: int
    lower: int
    paper: int
    ball: int
    ball_was_run: bool


def member(d: int, S: int, delta: int) -> Member:
    """Hide the set in the middle of the relevant features."""
    start = (S - delta) // 2
    return hidden_set(d, S, flips_of(range(start, start + delta)))


def measure(d: int, S: int, delta: int) -> Measurement:
    function = member(d, S, delta)
    ball = sum(comb(d, k) for k in range(delta + 1))
    if ball <= MEASURED_UP_TO:
        assert cost(ball_search, function) == ball
    return Measurement(
        d,
        S,
        delta,
        # To be right for certain an algorithm needs (q+1)/C(S, Δ) >= 1 and 2^q/d >= 1.
        lower=max(comb(S, delta) - 1, ceil(log2(d))),
        paper=cost(find_optimal, function),
        ball=ball,
        ball_was_run=ball <= MEASURED_UP_TO,
    )


def cost(search: Callable[[int], Search[tuple[Flips, ...]]], function: Member) -> int:
    tally = Tally()
    found = run(count(remember(search(function.d)), tally), asking(function.flips))
    assert found == (function.optimal,), "a search returned a wrong answer"
    return tally.queries


def table(title: str, measurements: list[Measurement]) -> None:
    print(f"\n{title}")
    print(f"{'d':>7} {'S':>4} {'Δ':>3} {'lower bound':>12} {'paper':>9} {'ball search':>15}")
    for m in measurements:
        computed = "" if m.ball_was_run else "  (computed)"
        print(f"{m.d:>7,} {m.S:>4} {m.delta:>3} {m.lower:>12,} {m.paper:>9,} {m.ball:>15,}{computed}")


def draw(panels: list[tuple[str, str, list[Measurement]]]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    # The same bytes for the same counts, so that the file only changes when a figure does.
    mpl.rcParams.update(
        {"svg.hashsalt": "flipset", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    )
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.5), layout="constrained")
    for axis, (title, attribute, measurements) in zip(axes, panels, strict=True):
        x = [getattr(m, attribute) for m in measurements]
        axis.plot(x, [m.ball for m in measurements], color="#D55E00", marker="s", ms=4, label="ball search")
        axis.plot(x, [m.paper for m in measurements], color="#0072B2", marker="o", ms=4, label="the paper's search")
        axis.plot(x, [m.lower for m in measurements], color="#666666", ls="--", label="lower bound, any algorithm")
        axis.set(
            yscale="log", title=title, xlabel={"d": "features d", "S": "sensitivity S", "delta": "size Δ"}[attribute]
        )
        if attribute == "d":
            axis.set_xscale("log")
        axis.grid(alpha=0.3, lw=0.5)
    axes[0].set_ylabel("queries")
    axes[0].legend(frameon=False, loc="upper left")
    FIGURE.parent.mkdir(exist_ok=True)
    figure.savefig(FIGURE, metadata={"Date": None})


def main() -> None:
    against_d = [measure(*point) for point in AGAINST_D]
    against_s = [measure(*point) for point in AGAINST_S]
    against_delta = [measure(*point) for point in AGAINST_DELTA]
    table("Queries against d (S = 6, Δ = 2): log d against d^Δ", against_d)
    table("Queries against S (d = 200, Δ = 2)", against_s)
    table("Queries against Δ (d = 24, S = 8)", against_delta)
    draw(
        [
            ("S = 6, Δ = 2", "d", against_d),
            ("d = 200, Δ = 2", "S", against_s),
            ("d = 24, S = 8", "delta", against_delta),
        ]
    )
    print(f"\nwrote {FIGURE.relative_to(FIGURE.parent.parent.parent)}")


if __name__ == "__main__":
    main()

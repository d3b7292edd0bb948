"""Rows of numbers in a box, by `find_counterfactuals`."""

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

from flipset import find_counterfactuals
from flipset.paper import find_optimal
from tests.pins.scores import draw_setting
from tests.pins.transcripts import Case, Seen, Transcript, numbered, of_flipsets, watched


def box(batch: int, i: int) -> Transcript:
    """Find the sets, replay the proof, sometimes with a budget, without reasons, or by the paper's search."""
    rng = Random(f"box/{i}")
    setting = draw_setting(rng, 3, 12)
    setting = setting.labels() if i % 3 == 0 else setting.wavy() if i % 11 == 5 else setting
    seen = Seen(setting.model)
    lower, upper = zip(*(sorted(scale) for scale in setting.model.scales), strict=True)
    row = [min(max(value, low), high) for value, low, high in zip(setting.rows[0], lower, upper, strict=True)]
    signs = [0 if feature.fixed else feature.direction or 0 for feature in setting.space.features]
    how: dict[str, Any] = {"batch": batch, "threshold": setting.threshold, "reasons": i % 5 != 4}
    if i % 4 == 3:
        how["max_queries"] = rng.randint(1, 40)
    if i % 7 == 6:
        how |= {"search": find_optimal, "max_queries": 500}

    def work() -> Transcript:
        found = find_counterfactuals(seen, row, lower, upper, directions=signs, **how)
        done = of_flipsets(found)
        done["answer"]["verified"] = found.verify(seen)
        return done

    return watched(work, seen)


def cases() -> Iterator[tuple[str, Case]]:
    for batch in (1, 8, 64):
        yield from numbered(f"boxes/batch{batch}", 30, partial(box, batch))

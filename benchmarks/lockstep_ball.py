"""Ball search of many rows in lock-step, through the calls of an explainer: the rival where a call takes long.

`benchmarks/ball.py` has the one for models in this process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flipset.drivers import calling, run_many
from flipset.models.scores import margins
from flipset.paper import ball_search
from flipset.protocol import relay
from flipset.space.moves import find_moves
from flipset.space.rows import check_rows, read_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset import Explainer
    from flipset.protocol import Flips, Flow
    from flipset.space.cells import Cells
    from flipset.space.moves import Moves


def ball_table(explainer: Explainer, frame: Any) -> list[tuple[set[frozenset[str]], int]]:
    """Return the smallest flip sets of each row of a frame, and its queries."""
    space, threshold = explainer.space, explainer.threshold
    rows = check_rows(space, read_rows(frame, space.names))
    scores = explainer._ask([(row, ()) for row in rows])
    counts = [0] * len(rows)
    flows = []
    moves_of = []
    for i, (row, score) in enumerate(zip(rows, scores, strict=True)):
        moves = find_moves(space, row, raise_score=score < threshold)
        moves_of.append(moves)

        def answer(
            batch: Sequence[Flips], i: int = i, moves: Moves = moves, rise: bool = score < threshold
        ) -> Flow[Cells, list[float]]:
            counts[i] += len(batch)
            scores = yield [moves.rows(flips)[0] for flips in batch]
            return margins(scores, threshold, rise=rise)

        flows.append((i, relay(ball_search(len(moves.units), batch=64), answer)))

    def ask(queries: Sequence[tuple[int, Cells]]) -> list[float]:
        return explainer._ask([(rows[i], cells) for i, cells in queries])

    found = dict(run_many(flows, calling(ask), width=lambda: 256))
    return [
        ({frozenset(moves.names(one)) for one in found[i]}, counts[i])  # type: ignore[union-attr]
        for i, moves in enumerate(moves_of)
    ]

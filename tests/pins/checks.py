"""Audits, and explanations that are verified: as they are, read from a file, and with a lie in them."""

import json
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

from flipset import Audit, Explanation, FlipsetError, Verification, Witness
from tests.pins.rows import MADE as ROWS
from tests.pins.tables import MADE as TABLES
from tests.pins.transcripts import ADDED, Case, Seen, Transcript, numbered, of_error, plain, transcript, watched


def of_audit(found: Audit) -> Transcript:
    """Return what an audit found."""
    parts = [[one.name, one.pairs, one.in_order, _of_witness(one.worst)] for one in (*found.features, found.chains)]
    answer = [parts, found.passed, found.one_value, found.not_compared, len(found.left_out)]
    return transcript(answer, cost=[found.queries, found.least_budget])


def _of_witness(worst: Witness | None) -> Any:
    if worst is None:
        return None
    rows = [{name: plain(cell) for name, cell in row.items()} for row in (worst.row, worst.better)]
    return [list(worst.features), rows, worst.score, worst.better_score]


def audited(made: str, i: int) -> Transcript:
    """Audit a model from the rows of a table."""
    table = TABLES[made](f"audit/{made}", i)
    seen = Seen(table.model)
    budget = (40, 300, 2_000)[i % 3]
    return watched(lambda: of_audit(table.explainer(seen).audit(table.rows[:8], budget=budget)), seen)


def of_verification(found: Verification) -> Transcript:
    """Return what was checked, and which fields are wrong; not the words."""
    wrong = [problem.partition(":")[0] for problem in found.problems]
    checked = [name for name in found.checked if name not in ADDED]
    answer = [bool(found), found.decided, wrong, checked, sorted({*found.not_checked} - {*ADDED})]
    steps = [[list(one.moved), one.expected, one.flips, one.score] for one in found.answers]
    return transcript(answer, proof=steps)


def lied(e: Explanation, rng: Random) -> Explanation:
    """Return an explanation of which one field is not true."""
    whole = json.loads(e.to_json())
    which = rng.choice(("score", "held_fixed", "flipsets", "reasons", "decision"))
    if which == "score":
        whole["score"] += 0.5
    elif which == "decision":
        whole["decision"] = not whole["decision"]
    else:
        whole[which] = whole[which][1:]
    return Explanation.from_json(json.dumps(whole))


def verified(made: str, what: str, i: int) -> Transcript:
    """Explain a row, and verify that; with the explainer, or with the model and its space alone."""
    explainer, row, seen = ROWS[made](f"verify/{made}", i)
    try:
        e = explainer.explain(row, batch=(None, 8)[i % 2])
    except FlipsetError as error:
        return of_error(error)
    seen.calls.clear()
    if what == "file":
        read = Explanation.from_json(e.to_json())
        space = explainer.space if i % 3 else None
        return watched(
            lambda: of_verification(read.verify(seen, space=space, threshold=explainer.threshold, cost=explainer.cost)),
            seen,
        )
    claim = lied(e, Random(f"lie/{i}")) if what == "lie" else e
    return watched(lambda: of_verification(explainer.verify(claim)), seen)


def cases() -> Iterator[tuple[str, Case]]:
    for made, count in {"ordered": 6, "wavy": 6, "loans": 4, "spoiled": 4}.items():
        yield from numbered(f"audit/{made}", count, partial(audited, made))
    for made in ("ordered", "mixed", "loans"):
        for what in ("own", "file", "lie"):
            if (made, what) != ("loans", "file"):
                yield from numbered(f"verify/{made}/{what}", 5, partial(verified, made, what))

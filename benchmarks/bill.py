"""Bills: how good `--estimate` is, and how many answers follow from others. `python -m benchmarks.bill --data DIR`.

The model stands in this process and is treated as an endpoint: it bills rows, answers each call 20 ms after it was
made, and counts what it is asked.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.cases import in_folder, shipped
from benchmarks.local_models import fit, rows_like
from benchmarks.pages import print_and_write
from flipset import Explainer, FlipsetError
from flipset.explain.threads import one_thread
from flipset.models.remote.bill import Bill
from flipset.models.remote.call_times import CallTimes
from flipset.results.statistics import total_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.cases import Table
    from benchmarks.local_models import LocalModel
    from flipset import Explanations

PAGE = Path(__file__).parent.parent / "docs" / "bill.md"
FURTHER = ("heloc", "give_me_some_credit", "taiwan_credit", "hmeq")
LIMITS = {"wdbc": 500}
"""The most queries for a row, for tables whose rows take thousands."""

SAMPLE = 100
DRAWS = 400


class Billed:
    """A model that is treated as an endpoint with a price per row; with labels, it answers 0 or 1."""

    in_flight, price_per_row, price_per_call, answered_as = 8, 0.001, 0.0, None

    def __init__(self, setting: LocalModel, *, labels: bool, latency: float = 0.02) -> None:
        self.model, self.labels, self.latency = setting.model, labels, latency
        self.bill, self.call_times = Bill(), CallTimes()

    def __call__(self, rows: Any, names: Any = None) -> Any:
        """Answer, and count."""
        bill = self.bill
        bill.calls, bill.rows, bill.sent = bill.calls + 1, bill.rows + len(rows), bill.sent + len(rows)
        bill.price += self.price_per_row * len(rows)
        self.call_times.note(len(rows), self.latency)
        scores = self.model.predict_proba(rows)[:, 1]
        return (scores >= 0.5).astype(float) if self.labels else scores

    async def ask(self, rows: Any, names: Any = None) -> Any:
        """Answer some time later."""
        await asyncio.sleep(self.latency)
        return self(rows)

    def fill(self) -> int:
        """Return how many rows a call should have."""
        return 256

    def identity(self) -> str:
        """Return the name of the model."""
        return "billed"

    def close(self) -> None:
        """Nothing is open."""


def explainer_for(setting: LocalModel, model: Billed, **how: Any) -> Explainer:
    """Return an explainer in the ranges of the population."""
    return Explainer(model, setting.space(0.0), threshold=0.5, **how)


def estimates(settings: Sequence[LocalModel], n: int) -> Iterator[str]:
    """Compare what was estimated with what was made, and count how often intervals hold the truth."""
    found = []
    yield f"| {n} rows, sample of {SAMPLE} | queries: estimated | made | requests: estimated | made |"
    yield "|---|--:|--:|--:|--:|"
    for setting in settings:
        rows = rows_like(setting.frame, n)
        limit: dict[str, Any] = {"max_queries": LIMITS.get(setting.name)}
        estimate = explainer_for(setting, Billed(setting, labels=False)).estimate_table(rows, sample=SAMPLE, **limit)
        model = Billed(setting, labels=False)
        whole = explainer_for(setting, model).explain_table(rows, **limit)
        figure = estimate.queries
        held = f"{figure.value:,.0f} ({figure.low:,.0f} to {figure.high:,.0f})"
        calls = f"{estimate.calls.value:,.0f} | {model.bill.calls:,}"
        yield f"| {setting.name} | {held} | {whole.queries:,} | {calls} |"
        found.append(np.array([e.queries for e in whole if not isinstance(e, FlipsetError)], dtype=np.float64))
    yield from (
        "",
        f"How often the interval of 95 % holds the true number of queries, in {DRAWS} samples drawn by chance, and",
        "half of its length as a share of the total (the median). The last column says how much the 1 % of rows that",
        "took the most queries took of all.",
        "",
        "| | 50 rows | 100 rows | 200 rows | heaviest 1 % |",
        "|---|--:|--:|--:|--:|",
    )
    for setting, queries in zip(settings, found, strict=True):
        cells = [_coverage(queries, size) for size in (50, 100, 200)]
        heaviest = np.sort(queries)[-max(1, len(queries) // 100) :].sum() / queries.sum()
        yield f"| {setting.name} | {' | '.join(cells)} | {100 * heaviest:.0f} % |"


def _coverage(queries: Any, size: int) -> str:
    rng = np.random.default_rng(0)
    held, halves, total = 0, [], queries.sum()
    for _ in range(DRAWS):
        low, high = total_interval(Counter(rng.permutation(queries)[:size].tolist()), len(queries))
        held += bool(low <= total <= high)
        halves.append((high - low) / 2 / total)
    return f"{100 * held / DRAWS:.0f} %, ± {100 * float(np.median(halves)):.0f} %"


def shared(settings: Sequence[LocalModel], n: int) -> Iterator[str]:
    """Count the rows that a model with labels is asked about, with and without answers that follow."""
    yield f"| {n} rows | features | rows asked: scores | labels | labels, shared | saved | second half of the table |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for setting in settings:
        rows, limit = rows_like(setting.frame, n), {"max_queries": LIMITS.get(setting.name)}
        scored = Billed(setting, labels=False, latency=0.0)
        explainer_for(setting, scored).explain_table(rows, **limit)
        plain, model = Billed(setting, labels=True, latency=0.0), Billed(setting, labels=True, latency=0.0)
        expected = explainer_for(setting, plain).explain_table(rows, **limit)
        explainer = explainer_for(setting, model, share_answers=True)
        first = explainer.explain_table(rows.iloc[: n // 2], **limit)
        memory = explainer.shared_answers
        assert memory is not None, "the explainer shares answers"
        asked, followed = memory.asked, memory.followed
        second = explainer.explain_table(rows.iloc[n // 2 :].reset_index(drop=True), **limit)
        assert _texts(first) + _texts(second) == _texts(expected), "sharing answers has changed a result"
        late = (memory.followed - followed) / (memory.followed - followed + memory.asked - asked)
        saved = 1 - model.bill.rows / plain.bill.rows
        counts = f"{scored.bill.rows:,} | {plain.bill.rows:,} | {model.bill.rows:,}"
        yield f"| {setting.name} | {rows.shape[1]} | {counts} | {100 * saved:.0f} % | {100 * late:.0f} % |"


def _texts(found: Explanations) -> list[str]:
    return [str(e) if isinstance(e, FlipsetError) else e.to_json() for e in found]


def page(tables: Sequence[Table], rows: int, shared_rows: int) -> Iterator[str]:
    """Measure, and write it down."""
    settings = sorted((fit("XGBoost", table) for table in tables), key=lambda one: one.name in LIMITS)
    yield from ("# Bills and estimates", "")
    yield from (
        "Written by `make bill` (`python -m benchmarks.bill`). XGBoost models of 200 trees that are treated as",
        "endpoints with a price per row, so `batch` is 4: 20 ms for a call, 8 calls at a time. Rows of wdbc, whose 30",
        "features take thousands of queries, are limited to 500.",
        "",
        "## What `--estimate` predicts",
        "",
    )
    yield from estimates(settings, rows)
    yield from (
        "",
        "The interval holds the truth about as often as it says, unless few rows take most of the queries: a sample",
        "without these rows cannot know of them. `max_queries` limits what one row can take.",
        "",
        "## Answers that follow from others",
        "",
        "The same models, answering 0 or 1, with and without `share_answers=True`. All results were compared and are",
        "the same to the last bit. The last column is the share of answers that followed in the second half of the",
        "table, when the answers of the first half were known.",
        "",
    )
    yield from shared(settings, shared_rows)
    yield from (
        "",
        "Where columns are few, or have few values, most answers follow. Where they are many, hardly any two rows can",
        "be compared, and sharing is not worth its time.",
    )


def main() -> None:
    """Read the command line, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--shared-rows", type=int, default=150)
    parser.add_argument("--data", type=Path, help="a folder with further tables")
    parser.add_argument("--output", type=Path, default=PAGE)
    given = parser.parse_args()
    tables = list(shipped())
    if given.data:
        tables += in_folder(given.data, FURTHER)
    with one_thread():
        print_and_write(page(tables, given.rows, given.shared_rows), given.output)


if __name__ == "__main__":
    main()

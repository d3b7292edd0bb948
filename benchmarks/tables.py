"""How fast whole tables are explained, as ratios in one run: `make tables` writes docs/tables.md.

Times are of one process on one thread. Every ratio compares two things measured right after each other on the same
rows, so that a busy machine slows both down. `--data DIR` adds tables of a folder; DiCE is compared where it is
installed (`flipset[peers]`, in an environment of its own, since it needs another build of XGBoost).
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.cases import TREES, in_folder, shipped
from benchmarks.pages import print_and_write
from flipset import Explainer, Space
from flipset.drivers import calling, run_many
from flipset.errors import FlipsetError
from flipset.explain.threads import one_thread
from flipset.models.scores import margins
from flipset.paper import ball_search
from flipset.protocol import relay
from flipset.space.moves import find_moves
from flipset.space.rows import check_rows, read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.cases import Table
    from flipset.protocol import Flips, Flow
    from flipset.space.cells import Cells
    from flipset.space.moves import Moves

PAGE = Path(__file__).parent.parent / "docs" / "tables.md"
NAMED = ("loanapp", "heloc")


@dataclass(frozen=True, slots=True)
class Setting:
    """A fitted model that keeps what it was asked, and a population."""

    name: str
    model: Recorder
    frame: Any

    @property
    def explainer(self) -> Explainer:
        """An explainer in the ranges of the population."""
        signs = dict(zip(self.frame.columns, self.model.directions, strict=True))
        space = Space.from_frame(
            self.frame,
            increasing=[name for name, sign in signs.items() if sign > 0],
            decreasing=[name for name, sign in signs.items() if sign < 0],
        )
        return Explainer(self.model, space)


class Recorder:
    """A model that keeps every batch it is asked while `calls` is a list."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.calls: list[Any] | None = None
        self.classes_ = model.classes_
        self.feature_names_in_ = tuple(model.feature_names_in_)
        self.directions = model.directions

    def predict_proba(self, rows: Any) -> Any:
        """Answer as the model does."""
        if self.calls is not None:
            self.calls.append(rows)
        return self.model.predict_proba(rows)


def fit(library: str, table: Table) -> Setting:
    """Fit 200 trees with the table's directions."""
    import pandas as pd

    frame = pd.DataFrame(table.rows, columns=[f"x{i}" for i in range(table.rows.shape[1])])
    signs = list(table.directions)
    model: Any
    if library == "XGBoost":
        from xgboost import XGBClassifier

        model = XGBClassifier(n_estimators=TREES, max_depth=6, monotone_constraints=tuple(signs), n_jobs=1)
    elif library == "LightGBM":
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(n_estimators=TREES, monotone_constraints=signs, n_jobs=1, verbose=-1)
    else:
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(
            monotonic_cst=signs, max_iter=TREES, early_stopping=False, random_state=0
        )
    model.fit(frame, table.good)
    model.directions = signs
    return Setting(f"{table.name}, {library}", Recorder(model), frame.dropna())


def rows_like(frame: Any, n: int) -> Any:
    """Return n different rows: those of the table, then crossings of two of them."""
    import pandas as pd

    rng = np.random.default_rng(0)
    real = frame.to_numpy()[rng.permutation(len(frame))]
    while len(real) < n:
        mothers, fathers = rng.integers(0, len(frame), (2, n))
        mixed = np.where(rng.random((n, real.shape[1])) < 0.5, real[mothers], real[fathers])
        real = np.unique(np.vstack([real, mixed]), axis=0)
        real = real[rng.permutation(len(real))]
    return pd.DataFrame(real[:n], columns=frame.columns)


def timed(work: Callable[..., Any], *args: Any, **how: Any) -> tuple[float, Any]:
    """Return the seconds something takes, and its result."""
    start = time.perf_counter()
    result = work(*args, **how)
    return time.perf_counter() - start, result


def against_bare(model: Recorder, work: Callable[..., Any], *args: Any, **how: Any) -> tuple[float, float, Any]:
    """Return the seconds something takes, how many times that is what the model alone needs for it, and its result."""
    calls: list[Any] = []
    model.calls = calls
    whole, result = timed(work, *args, **how)
    model.calls = None
    bare, _ = timed(lambda: [model.predict_proba(batch) for batch in calls])
    return whole, whole / bare, result


# --- what is measured -------------------------------------------------------------------------------------------------


def overhead(settings: Sequence[Setting], n: int) -> Iterator[str]:
    """All of `explain_table` against the bare model on the same batches."""
    yield "| table, model | features | queries a row | ms a row | all ÷ bare model | sets alone ÷ bare model |"
    yield "|---|--:|--:|--:|--:|--:|"
    for setting in settings:
        rows, explainer = rows_like(setting.frame, n), setting.explainer
        whole, ratio, t = against_bare(setting.model, explainer.explain_table, rows)
        _, sets, _ = against_bare(setting.model, explainer.explain_table, rows, values=False, reasons=False)
        queries, each = t.queries / n, whole / n * 1e3
        shape = setting.frame.shape[1]
        yield f"| {setting.name} | {shape} | {queries:.0f} | {each:.1f} | {ratio:.1f} | {sets:.1f} |"


def growth(setting: Setting, n: int) -> Iterator[str]:
    """Ten times the rows against ten times the time, and the memory that took."""
    explainer = setting.explainer
    small, _ = timed(explainer.explain_table, rows_like(setting.frame, n))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    large, _ = timed(explainer.explain_table, rows_like(setting.frame, 10 * n))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield f"{setting.name}: {10 * n:,} rows take {large / small:.1f} times as long as {n:,}, and the process grows by"
    yield f"{(after - before) / 1024:.0f} MB, {(after - before) / (10 * n):.0f} KB a row: the explanations themselves."


def one_row(settings: Sequence[Setting], n: int = 30) -> Iterator[str]:
    """One row at a time, warm, against the calls it makes."""
    yield "| table, model | calls | ms | all ÷ bare calls |"
    yield "|---|--:|--:|--:|"
    for setting in settings:
        explainer, frame = setting.explainer, rows_like(setting.frame, n)
        explainer.explain(frame.iloc[0])
        found = []
        for i in range(n):
            whole, ratio, e = against_bare(setting.model, explainer.explain, frame.iloc[i])
            found.append((e.rounds, whole * 1e3, ratio))
        calls, each, ratio = (statistics.median(column) for column in zip(*found, strict=True))
        yield f"| {setting.name} | {calls:.0f} | {each:.1f} | {ratio:.1f} |"


def against_ball_search(settings: Sequence[Setting], n: int) -> Iterator[str]:
    """The smallest sets alone, both in the same lock-step."""
    yield "| table, model | ball search: queries a row | ours | time, ball search ÷ ours |"
    yield "|---|--:|--:|--:|"
    for setting in settings:
        explainer, frame = setting.explainer, rows_like(setting.frame, n)
        ours, t = timed(explainer.explain_table, frame, values=False, reasons=False)
        balls, found = timed(_ball_table, explainer, frame)
        for e, (sets, _) in zip(t, found, strict=True):
            assert not isinstance(e, FlipsetError)
            assert {frozenset(names) for names in e.flipsets} == sets
        asked = sum(queries for _, queries in found)
        yield f"| {setting.name} | {asked / n:.0f} | {t.queries / n:.0f} | {balls / ours:.1f} |"


def _ball_table(explainer: Explainer, frame: Any) -> list[tuple[set[frozenset[str]], int]]:
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


def against_dice(setting: Setting, n: int = 50) -> Iterator[str]:
    """A plain loop over rows, one counterfactual each, as its documentation shows it."""
    if find_spec("dice_ml") is None:
        yield "(DiCE is not installed here.)"
        return
    import dice_ml

    frame = setting.frame.assign(label=(setting.model.predict_proba(setting.frame)[:, 1] > 0.5).astype(int))
    names = list(setting.frame.columns)
    data = dice_ml.Data(dataframe=frame, continuous_features=names, outcome_name="label")
    dice = dice_ml.Dice(data, dice_ml.Model(model=setting.model.model, backend="sklearn"), method="random")
    rows, explainer = rows_like(setting.frame, n), setting.explainer
    ours, t = timed(explainer.explain_table, rows)
    hits = found = 0
    start = time.perf_counter()
    for i, e in enumerate(t):
        row = rows.iloc[[i]]
        try:
            other = dice.generate_counterfactuals(
                row, total_CFs=1, desired_class="opposite", random_seed=0, verbose=False
            )
        except Exception:  # it found none
            continue
        new = other.cf_examples_list[0].final_cfs_df
        if new is None or not len(new):
            continue
        found += 1
        changed = sum(float(new.iloc[0][name]) != float(row.iloc[0][name]) for name in names)
        hits += changed == e.size
    theirs = time.perf_counter() - start
    yield f"{setting.name}, {n} rows: DiCE (random, one counterfactual each) takes {theirs / ours:.0f} times as long,"
    yield f"finds one on {found / n:.0%} of the rows, and one of the smallest size on {hits / n:.0%}; flipset finds all"
    yield "of them, with a proof, on every row."


# --- the page ---------------------------------------------------------------------------------------------------------


def page(tables: Sequence[Table], n: int) -> Iterator[str]:
    """Measure everything, and write it down."""
    libraries = [name for name, module in _LIBRARIES if find_spec(module)]
    settings = [fit(library, table) for table in tables for library in libraries]
    yield from ("# How fast tables are explained", "")
    yield from (
        "Written by `make tables` (`python -m benchmarks.tables`). Models of 200 trees with declared directions,",
        f"ranges as seen in the table, {n:,} different rows, one process, one thread. Machines differ and are noisy:",
        "look at the ratios.",
        "",
    )
    for title, words, lines in (
        ("Whole tables", "All of `explain_table`, and its sets alone (`values=False, reasons=False`), each divided by "
         "the time that the bare model takes for the same rows in the same batches.", overhead(settings, n)),
        ("Growth", "", growth(settings[0], n)),
        ("One row", "`explain`, warm, divided by the calls of the model that it makes; medians.", one_row(settings)),
        ("Against ball search", "All sets of size 0, 1, 2, ... in the same lock-step, 64 a round: the rival where rows "
         "are cheap and sizes small. Its sets are the same; it has no proof, no reasons and no values.",
         against_ball_search(settings, n)),
        ("Against DiCE", "", against_dice(settings[-1])),
    ):  # fmt: skip
        yield from (f"## {title}", "")
        if words:
            yield from (words, "")
        yield from lines
        yield ""


_LIBRARIES = (("XGBoost", "xgboost"), ("LightGBM", "lightgbm"), ("HistGradientBoosting", "sklearn"))


def main() -> None:
    """Read the command line, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000, help="rows of each table")
    parser.add_argument("--data", type=Path, help="a folder with further tables")
    parser.add_argument("--output", type=Path, default=PAGE)
    given = parser.parse_args()
    tables = [table for table in shipped() if table.name in NAMED]
    if given.data:
        tables += in_folder(given.data, NAMED)
    with one_thread():
        print_and_write(page(tables, given.rows), given.output)


if __name__ == "__main__":
    main()

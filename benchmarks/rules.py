"""What rules between columns cost, and what they prevent: `make rules` writes docs/rules.md.

    python -m benchmarks.rules --data DIR

DIR is a folder of tables: CSV files with a JSON card each that names features, directions, codes and label. For each
table and model, the same declined rows are explained with and without the rules, by turns, so that a busy machine slows
both down. Times are processor seconds of one process on one thread. Whether a suggestion keeps the rules is computed
here with pandas, which shares nothing with the code that applies them.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.cases import TREES
from benchmarks.pages import print_and_write
from flipset import Explainer, Explanation, Space
from flipset.explain.threads import one_thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PAGE = Path(__file__).parent.parent / "docs" / "rules.md"
MOST_TRAINING_ROWS = 30_000
REPEATS = 3


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a table, as they were accepted."""

    constraints: tuple[str, ...]
    derived: Mapping[str, str]


TABLES: Mapping[str, tuple[str, Rules]] = {
    "heloc": (
        "heloc",
        Rules(
            (
                "MSinceMostRecentTradeOpen <= AverageMInFile <= MSinceOldestTradeOpen",
                "NumTrades90Ever2DerogPubRec <= NumTrades60Ever2DerogPubRec",
                "NumInqLast6Mexcl7days <= NumInqLast6M",
                "NumSatisfactoryTrades <= NumTotalTrades",
                "NumBank2NatlTradesWHighUtilization <= NumRevolvingTradesWBalance",
                "MSinceMostRecentTradeOpen == 0 implies NumTradesOpeninLast12M > 0",
                "NumTradesOpeninLast12M == 0 implies MSinceMostRecentTradeOpen >= 12",
                "NumTrades90Ever2DerogPubRec == 0 implies MaxDelq2PublicRecLast12M > 0",
            ),
            {},
        ),
    ),
    "give_me_some_credit": (
        "give_me_some_credit",
        Rules(
            (
                "NumberRealEstateLoansOrLines <= NumberOfOpenCreditLinesAndLoans",
                "RevolvingUtilizationOfUnsecuredLines == 0 implies NumberOfOpenCreditLinesAndLoans > 0",
                "DebtRatio == 0 implies NumberRealEstateLoansOrLines == 0",
                "if MonthlyIncome moves then DebtRatio moves",
            ),
            {},
        ),
    ),
    "give_me_some_credit, ratio computed": (
        "give_me_some_credit",
        Rules(
            ("RevolvingUtilizationOfUnsecuredLines == 0 implies NumberOfOpenCreditLinesAndLoans > 0",),
            {"DebtRatio": "MonthlyDebt / MonthlyIncome"},
        ),
    ),
    "german_credit": (
        "german_credit",
        Rules(
            (
                "credit_amount <= 1000 * duration_months",
                "credit_amount >= 35 * duration_months",
                "employment_years == 4 implies age >= 23",
                "employment_years >= 3 implies age >= 20",
                "employment_years > 0 implies job > 0",
            ),
            {},
        ),
    ),
    "lending_club_2016": (
        "lending_club_2016",
        Rules(
            (
                "inq_last_6mths <= inq_last_12m",
                "acc_now_delinq <= delinq_2yrs",
                "open_il_12m <= open_il_24m <= num_il_tl",
                "delinq_2yrs == 0 implies delinq_amnt == 0",
                "total_bal_il == 0 implies open_il_6m == 0",
            ),
            {},
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A model, declined rows of its table, and the rules."""

    name: str
    model: Any
    rows: Any
    spaces: tuple[Space, Space]
    rules: Rules


def read(folder: Path, name: str) -> tuple[Any, Any, dict[str, int]]:
    """Return the columns of numbers of a table, the good outcome, and the directions; codes are missing."""
    import pandas as pd

    card = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    table = pd.read_csv(folder / card["file"])
    features = [one for one in card["features"] if pd.api.types.is_numeric_dtype(table[one["name"]])]
    frame = table[[one["name"] for one in features]].copy()
    for one in features:
        if one["special_values"]:
            frame[one["name"]] = frame[one["name"]].astype(float)
            frame.loc[frame[one["name"]].isin(one["special_values"]), one["name"]] = np.nan
    return frame, table[card["label"]].to_numpy() == 1, {one["name"]: one["direction"] for one in features}


def with_debt(frame: Any, good: Any, directions: dict[str, int]) -> tuple[Any, Any, dict[str, int]]:
    """Add the debt that the ratio was computed from, where the income is known."""
    known = (frame["MonthlyIncome"] > 0).to_numpy()
    frame = frame[known].copy()
    frame["MonthlyDebt"] = (frame["DebtRatio"] * frame["MonthlyIncome"]).round()
    frame["DebtRatio"] = frame["MonthlyDebt"] / frame["MonthlyIncome"]
    return frame, good[known], directions | {"MonthlyDebt": -1}


def fit(library: str, frame: Any, good: Any, directions: Mapping[str, int]) -> Any:
    """Fit 200 trees with the directions of the table."""
    signs = tuple(directions[name] for name in frame.columns)
    chosen = np.random.default_rng(0).permutation(len(frame))[:MOST_TRAINING_ROWS]
    model: Any
    if library == "XGBoost":
        from xgboost import XGBClassifier

        model = XGBClassifier(n_estimators=TREES, max_depth=4, monotone_constraints=signs, n_jobs=1)
    else:
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(n_estimators=TREES, monotone_constraints=list(signs), n_jobs=1, verbose=-1)
    return model.fit(frame.iloc[chosen], good[chosen])


def cases(folder: Path, rows: int) -> Iterator[Case]:
    """Fit the models and choose declined rows."""
    for name, (table, rules) in TABLES.items():
        frame, good, directions = read(folder, table)
        if rules.derived:
            frame, good, directions = with_debt(frame, good, directions)
        for library in ("XGBoost", "LightGBM"):
            model = fit(library, frame, good, directions)
            declined = np.flatnonzero(model.predict_proba(frame)[:, 1] < 0.5)
            chosen = np.random.default_rng(1).permutation(declined)[:rows]
            moving = {one: sign for one, sign in directions.items() if sign}
            free = _space(frame, moving)
            moving = {one: sign for one, sign in moving.items() if one not in rules.derived}
            bound = _space(frame, moving, constraints=rules.constraints, derived=rules.derived)
            yield Case(f"{name}, {library}", model, frame.iloc[chosen], (free, bound), rules)


def _space(frame: Any, directions: Mapping[str, int], **rules: Any) -> Space:
    increasing = [name for name, sign in directions.items() if sign > 0]
    decreasing = [name for name, sign in directions.items() if sign < 0]
    return Space.from_frame(frame, increasing=increasing, decreasing=decreasing, **rules)


# --- whether rows keep rules ------------------------------------------------------------------------------------------


def broken(rules: Rules, before: Any, after: Any) -> Any:
    """Return for each row whether it breaks a rule that the row before keeps, or breaks it by more."""
    wrong = np.zeros(len(after), dtype=bool)
    for text in rules.constraints:
        wrong |= _breaks(text, before, after)
    for name, formula in rules.derived.items():
        own, new = before.eval(formula), after.eval(formula)
        is_new = ~np.isclose(own, new) & own.notna() & new.notna()
        wrong |= (is_new & ~np.isclose(after[name], new)).to_numpy()
        wrong |= (~is_new & ~np.isclose(after[name], before[name], equal_nan=True)).to_numpy()
    return wrong


def _breaks(text: str, before: Any, after: Any) -> Any:
    if text.startswith("if "):
        mover, needs = re.fullmatch(r"if (\S+) moves then (\S+) moves", text).groups()  # type: ignore[union-attr]
        moved = {name: _differs(before[name], after[name]) for name in (mover, needs)}
        return moved[mover] & ~moved[needs]
    if " implies " in text:
        return ~_keeps(text, after) & _keeps(text, before)
    excess = [np.maximum.reduce(list(_excesses(text, frame))) for frame in (before, after)]
    return excess[1] > np.maximum(0, excess[0]) + 1e-9


def _keeps(text: str, frame: Any) -> Any:
    if_, then = text.split(" implies ")
    known = frame[[part.split()[0] for part in (if_, then)]].notna().all(axis=1)
    return (~(known & frame.eval(if_)) | frame.eval(then)).to_numpy()


def _excesses(text: str, frame: Any) -> Iterator[Any]:
    """Yield by how much each comparison of a chain is broken; nothing is, where a value is missing."""
    parts = re.split(r"(<=|>=)", text)
    sides = [frame.eval(side.strip()) for side in parts[::2]]
    for (left, right), relation in zip(pairwise(sides), parts[1::2], strict=True):
        yield ((left - right) * (1 if relation == "<=" else -1)).fillna(-np.inf).to_numpy()


def _differs(one: Any, other: Any) -> Any:
    return ((one != other) & ~(one.isna() & other.isna())).to_numpy()


# --- what is measured -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Run:
    """What explaining the rows of a case took, and what came out."""

    seconds: float
    queries: int
    explanations: Sequence[Any]


def run(case: Case, space: Space) -> Run:
    """Explain all rows of a case, with a new explainer."""
    explainer = Explainer(case.model, space)
    start = time.process_time()
    t = explainer.explain_table(case.rows)
    return Run(time.process_time() - start, t.queries, list(t))


def suggestions(found: Sequence[Any], rows: Any, *, cheapest: bool) -> tuple[Any, Any]:
    """Return rows and what is suggested for them: the cheapest counterfactual of each, or all."""
    import pandas as pd

    pairs = [
        (i, one.row)
        for i, e in enumerate(found)
        if isinstance(e, Explanation)
        for one in e.counterfactuals[: 1 if cheapest else None]
    ]
    before = rows.iloc[[i for i, _ in pairs]].astype(float).reset_index(drop=True)
    after = pd.DataFrame([row for _, row in pairs], columns=list(rows.columns)).astype(float)
    return before, after


def measure(case: Case) -> str:
    """Return a line of the table."""
    free, bound = both(case)
    without = broken(case.rules, *suggestions(free.explanations, case.rows, cheapest=True)).mean()
    kept = broken(case.rules, *suggestions(bound.explanations, case.rows, cheapest=False))
    none = [sum(e.status == "none" for e in one.explanations) for one in (free, bound)]
    alike = np.array([e.size == f.size for e, f in zip(free.explanations, bound.explanations, strict=True)])
    cells = [
        case.name,
        f"{without:.1%}".replace("%", " %"),
        f"{kept.sum()} of {len(kept):,}",
        f"{none[0]} / {none[1]}",
        *_compared(free, bound),
        f"{alike.mean():.0%}".replace("%", " %"),
        *_compared(*both(replace(case, rows=case.rows[alike]))),
    ]
    return f"| {' | '.join(cells)} |"


def both(case: Case) -> tuple[Run, Run]:
    """Explain the rows without and with rules, by turns; return the fastest run of each."""
    runs: tuple[list[Run], list[Run]] = ([], [])
    for _ in range(REPEATS):
        for space, done in zip(case.spaces, runs, strict=True):
            done.append(run(case, space))
    free, bound = (min(done, key=lambda one: one.seconds) for done in runs)
    return free, bound


def _compared(free: Run, bound: Run) -> Iterator[str]:
    n = len(free.explanations)
    yield f"{free.queries / n:.0f} / {bound.queries / n:.0f} = {bound.queries / free.queries:.2f}"
    ms = [one.seconds / n * 1e3 for one in (free, bound)]
    yield f"{ms[0]:.1f} / {ms[1]:.1f} = {ms[1] / ms[0]:.2f}"


HEAD = """# Rules between columns, measured

Written by `make rules` (`python -m benchmarks.rules --data DIR`). {rows} declined rows of each table (all of them where
there are fewer) are explained without and with the [rules](howto/rules.md) of the table, by turns. The models have 200
trees and follow the directions of the table, and columns may move over the whole range of the table. Pairs of figures
are without / with rules.

- *Broken, without*: the share of rows whose cheapest suggestion breaks a rule, if flipset is not told the rules.
- *Broken, with*: the suggestions that break a rule, of all that are listed. This is computed with pandas from the rows
  as they are reported.
- *None*: rows for which no allowed change leads to approval.
- *Queries*, *ms*: queries, and milliseconds of processor time of `explain_table` on one thread (the least of {repeats}
  runs), for a row, with their ratio.
- *Same size*: the share of rows that need as many changes with the rules as without, and the figures for these rows
  alone. They show what the rules themselves cost. The other rows have another answer, which takes more queries in any
  space: where a suggestion of one change is impossible, two to four changes may be needed.

| table, model | broken, without | broken, with | none | queries | ms | same size | queries | ms |
|---|--:|--:|--:|--:|--:|--:|--:|--:|"""


def page(folder: Path, rows: int) -> Iterator[str]:
    """Yield the lines of the page."""
    yield from HEAD.format(rows=rows, repeats=REPEATS).splitlines()
    for case in cases(folder, rows):
        yield measure(case)
    yield from ("", "The rules:", "")
    for name, (_, rules) in TABLES.items():
        yield f"**{name}**"
        yield ""
        yield "```text"
        yield from rules.constraints
        yield from (f"{column} = {formula}" for column, formula in rules.derived.items())
        yield from ("```", "")


def main() -> None:
    """Read the command line, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder with tables")
    parser.add_argument("--rows", type=int, default=300, help="declined rows of each table")
    parser.add_argument("--output", type=Path, default=PAGE)
    given = parser.parse_args()
    with one_thread():
        print_and_write(page(given.data, given.rows), given.output)


if __name__ == "__main__":
    main()

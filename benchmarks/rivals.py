"""Other tools behind one interface: each is asked about one row, and says what it found and whether that is proved.

All get the same model, bounds, directions, grids and costs, as far as they take them. Each library is imported only
when its tool is made, so that the comparison runs with those that are installed.
"""

from __future__ import annotations

import warnings
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset import Explainer, range_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.local_models import LocalModel
    from flipset import Space

LIMIT = 5.0
"""Seconds after which a tool stops, where it has a limit."""

FOR_EACH_CHANGE = 1_000.0
"""What a change costs where the fewest changes are wanted: more than all values together."""


@dataclass(frozen=True, slots=True)
class Contest:
    """A model, a space and a threshold: what every tool is given.

    Attributes
    ----------
    columns
        How many columns may move, from the first; the others are fixed.
    spans
        What each column's moves are divided by, to give their cost.
    """

    model: LocalModel
    columns: int
    space: Space
    threshold: float
    spans: dict[str, float]

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self.model.frame.columns)

    def at(self, threshold: float) -> Contest:
        """Return the same with another threshold."""
        return Contest(self.model, self.columns, self.space, threshold, self.spans)

    def cost(self, before: Any, after: Any) -> float:
        """Return the cost of moving from one row to another."""
        moved = np.abs(np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64))
        return float(sum(moved[i] / self.spans[name] for i, name in enumerate(self.names)))

    def is_allowed(self, before: Any, after: Any) -> bool:
        """Say whether a row keeps the fixed columns, the bounds and the directions, and is approved."""
        allowed = all(
            after[i] == before[i]
            or (i < self.columns and (after[i] - before[i]) * sign > 0 and low <= after[i] <= high)
            for i, (sign, (low, high)) in enumerate(zip(self.model.directions, bounds_of(self.space), strict=True))
        )
        return allowed and bool(self.model.scores(self.frame(after))[0] >= self.threshold)

    def frame(self, row: Any) -> Any:
        """Return a row as a frame."""
        import pandas as pd

        return pd.DataFrame([row], columns=self.names)


def bounds_of(space: Space) -> list[tuple[float, float]]:
    """Return the bounds of each column."""
    return [
        (0.0, 1.0) if one.kind == "binary" else (float(one.lower or 0), float(one.upper or 0)) for one in space.features
    ]


def contest(model: LocalModel, columns: int, declined: float) -> Contest:
    """Return what the tools are given: the ranges of the table, so that every row of it is within the bounds."""
    space = model.space(0.0, columns)
    spans = {one.name: high - low or 1.0 for one, (low, high) in zip(space.features, bounds_of(space), strict=True)}
    return Contest(model, columns, space, model.threshold(declined), spans)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says about a row.

    Attributes
    ----------
    sets
        The sets of columns that it found; none means that it found nothing.
    cost
        The cost of the cheapest counterfactual found, or None.
    is_proved
        Whether the tool says that its answer is proved.
    is_allowed
        Whether the counterfactual is approved, and keeps what is fixed, the bounds and the directions.
    calls, queries
        How often the model was called, and for how many rows; None where the tool does not say it.
    """

    sets: frozenset[frozenset[str]]
    cost: float | None = None
    is_proved: bool = False
    is_allowed: bool = True
    calls: int | None = None
    queries: int | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """One way to ask a tool: from a row, a series, and the number of changes that are enough, to an answer."""

    name: str
    ask: Callable[[Any, int], Answer]


NOTHING = Answer(frozenset())


# --- flipset ----------------------------------------------------------------------------------------------------------


def flipset_tools(given: Contest) -> dict[str, Tool]:
    """Return flipset's answer to each question."""
    explainer = Explainer(given.model.model, given.space, threshold=given.threshold, cost=range_share)

    def ask(row: Any, _: int, **how: Any) -> Answer:
        e = explainer.explain(row, **how)
        least = min(e.counterfactuals, key=lambda one: one.cost, default=None)
        sets = frozenset(map(frozenset, e.flipsets))
        is_proved = e.status in ("optimal", "none") and (
            least is None or how.get("values") is False or least.cost_at_least >= least.cost - 1e-9
        )
        return Answer(sets, least and least.cost, is_proved, calls=e.rounds, queries=e.queries)

    sets: dict[str, Any] = {"reasons": False, "values": False}
    cheapest: dict[str, Any] = {
        "reasons": False, "objective": "cost", "max_changes": given.columns, "max_seconds": LIMIT
    }  # fmt: skip
    return {
        "explain": Tool("flipset", ask),
        "sets": Tool("flipset, all sets", partial(ask, **sets)),
        "values": Tool("flipset", partial(ask, reasons=False)),
        "cheapest": Tool("flipset", partial(ask, **cheapest)),
        "none": Tool("flipset", partial(ask, **sets)),
    }


# --- treecf -----------------------------------------------------------------------------------------------------------


def treecf_tools(given: Contest) -> dict[str, Tool]:
    """Return treecf's exact answers: one set, a menu of sets, the cheapest counterfactual."""
    if find_spec("treecf") is None:
        return {}
    import treecf

    limits: list[Any] = []
    grids: dict[str, Any] = {}
    each = zip(given.space.features, given.model.directions, bounds_of(given.space), strict=True)
    for i, (feature, sign, (low, high)) in enumerate(each):
        if i >= given.columns:
            limits.append(treecf.Freeze(feature.name))
            continue
        limits += [
            treecf.Range(feature.name, low, high),
            treecf.Monotone(feature.name, "increase" if sign > 0 else "decrease"),
        ]
        is_whole = feature.kind in ("binary", "integer")
        grids[feature.name] = "integer" if is_whole else treecf.Grid(float(feature.step or 1))
    explainer = treecf.Explainer(
        given.model.model, constraints=limits, normalizers=given.spans, value_policy=grids,
        background=given.model.frame.to_numpy()[:200],
    )  # fmt: skip
    target = treecf.Target.probability(op=">=", value=given.threshold)
    # Without its default warm start, which takes longer here and gave values off the grid.
    exact: dict[str, Any] = {"backend": "exact", "warm_start": False, "time_budget_s": LIMIT}

    def one(row: Any, _: int, **how: Any) -> Answer:
        before = row.to_numpy(dtype=np.float64)
        found = explainer.explain(before, target, **exact, **how)
        if isinstance(found, treecf.Infeasible):
            return Answer(frozenset(), is_proved=found.proof == "certified")
        changed = frozenset([frozenset(found.changes)])
        is_allowed = given.is_allowed(before, found.x_cf)
        return Answer(changed, found.distance, found.proof == "optimal", is_allowed)

    def menu(row: Any, size: int) -> Answer:
        before = row.to_numpy(dtype=np.float64)
        found = explainer.recourse_menu(before, target, max_levers=size, **exact, total_budget_s=LIMIT)
        plans = [found.entries[key] for key in found.minimal]
        least = [plan for plan in plans if isinstance(plan, treecf.Counterfactual) and plan.n_changed == size]
        costs = [plan.distance for plan in least]
        return Answer(frozenset(frozenset(plan.changes) for plan in least), min(costs, default=None), found.complete)

    return {
        "sets": Tool("treecf, one set", partial(one, sparsity_weight=FOR_EACH_CHANGE)),
        "values": Tool("treecf, told the size", menu),
        "cheapest": Tool("treecf", one),
        "none": Tool("treecf", one),
    }


# --- searches without proofs ------------------------------------------------------------------------------------------


def dice_tools(given: Contest) -> dict[str, Tool]:
    """Return DiCE's random search, asked for one counterfactual as its documentation shows it."""
    if find_spec("dice_ml") is None:
        return {}
    import dice_ml

    frame = given.model.frame
    labelled = frame.assign(label=(given.model.scores(frame) >= given.threshold).astype(int))
    data = dice_ml.Data(dataframe=labelled, continuous_features=given.names, outcome_name="label")
    dice = dice_ml.Dice(data, dice_ml.Model(model=given.model.model, backend="sklearn"), method="random")

    def ask(row: Any, _: int) -> Answer:
        ranges = {}
        each = zip(given.names[: given.columns], given.model.directions, bounds_of(given.space), strict=False)
        for name, sign, (low, high) in each:
            ranges[name] = [row[name], high] if sign > 0 else [low, row[name]]
        try:
            with redirect_stderr(StringIO()):  # it shows a bar of its progress
                found = dice.generate_counterfactuals(
                    given.frame(row.to_numpy()), total_CFs=1, desired_class=1, random_seed=0, verbose=False,
                    features_to_vary=list(ranges), permitted_range=ranges, stopping_threshold=given.threshold,
                )  # fmt: skip
        except Exception:  # it has several for "none found"
            return NOTHING
        table = found.cf_examples_list[0].final_cfs_df
        if table is None or not len(table):
            return NOTHING
        return _as_answer(given, row, table.iloc[0][given.names].to_numpy(dtype=np.float64))

    return {"heuristic": Tool("DiCE, random", ask)}


def nice_tools(given: Contest) -> dict[str, Tool]:
    """Return NICE, which starts from the nearest row of the table; it takes neither bounds nor fixed columns."""
    if find_spec("nice") is None:
        return {}
    from nice import NICE

    bar = np.log(given.threshold / (1 - given.threshold))

    def predict(rows: Any) -> Any:
        # NICE decides at one half, so scores are moved to have their threshold there.
        score = np.clip(given.model.scores(given.model.matrix(rows)).astype(np.float64), 1e-12, 1 - 1e-12)
        moved = 1 / (1 + np.exp(bar - np.log(score / (1 - score))))
        return np.column_stack([1 - moved, moved])

    cells = given.model.frame.to_numpy(dtype=np.float64)
    labels = (predict(cells)[:, 1] > 0.5).astype(int)
    nice = NICE(predict, cells.copy(), cat_feat=[], y_train=labels, optimization="sparsity")

    def ask(row: Any, _: int) -> Answer:
        before = row.to_numpy(dtype=np.float64)
        try:
            after = nice.explain(before[None].copy())[0]
        except Exception:  # it may run out of candidates
            return NOTHING
        return _as_answer(given, row, after)

    return {"heuristic": Tool("NICE, sparsity", ask)}


def _as_answer(given: Contest, row: Any, after: Any) -> Answer:
    before = row.to_numpy(dtype=np.float64)
    changed = frozenset(name for name, a, b in zip(given.names, before, after, strict=True) if a != b)
    return Answer(frozenset([changed]), given.cost(before, after), is_allowed=given.is_allowed(before, after))


def tools_for(question: str, given: Contest) -> Iterator[Tool]:
    """Yield the tools that answer a question, flipset first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about versions, names of columns, degenerate columns
        if question == "heuristic":
            yield flipset_tools(given)["explain"]
        for make in (flipset_tools, treecf_tools, dice_tools, nice_tools):
            if question in (made := make(given)):
                yield made[question]

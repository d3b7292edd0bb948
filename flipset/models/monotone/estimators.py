"""Which reader is for which model. Libraries are recognised by name, so that none has to be imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flipset.models.monotone import catboost_models, lightgbm_models, scikit_linear, scikit_trees, xgboost_models
from flipset.models.monotone.scikit_steps import scikit_name, through, through_selection
from flipset.models.monotone.show import Reading, structure_of
from flipset.models.monotone.shown import NotRead, Structure

if TYPE_CHECKING:
    from collections.abc import Callable

    from flipset.models.monotone.inputs import Inputs


@dataclass(frozen=True, slots=True)
class Output:
    """Which output of an estimator is the score.

    Attributes
    ----------
    columns
        The classes whose probabilities are added up, or the class that a margin above 0 means; none for a regressor.
    classes
        The number of classes.
    is_margin
        Whether the score is a margin (`decision_function`) rather than a probability.
    """

    columns: tuple[int, ...] = ()
    classes: int = 0
    is_margin: bool = False

    @property
    def sign(self) -> int:
        """+1 if the score rises with the probability of the second of two classes, or is a value; else -1."""
        if self.classes > 2:
            raise NotRead("several classes go through one function together")
        return -1 if self.columns == (0,) else 1

    @property
    def column(self) -> int | None:
        """The one class whose probability is the score; None for a regressor."""
        if len(self.columns) > 1:
            raise NotRead("the probabilities of several classes are added up")
        return self.columns[0] if self.columns else None


def estimator_structure(model: Any, output: Output) -> Structure:
    """Return the structure of an estimator with scikit-learn's interface."""

    def steps(inputs: Inputs) -> Inputs:
        return _unwrapped(model, inputs)[1]

    return structure_of(lambda: _read(_unwrapped(model, None)[0], output), steps)


def _unwrapped(model: Any, inputs: Inputs | None) -> tuple[Any, Inputs]:
    """Return the model inside pipelines, searches and selections, and what the inputs are when they get to it.

    Without inputs, only the model is of interest.
    """
    name = scikit_name(model)
    if name == "Pipeline":
        for label, step in model.steps[:-1]:
            inputs = None if inputs is None else through(step, inputs, label)
        return _unwrapped(model.steps[-1][1], inputs)
    if name in ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"):
        return _unwrapped(model.best_estimator_, inputs)
    if name == "FrozenEstimator":
        return _unwrapped(model.estimator, inputs)
    if name in ("FixedThresholdClassifier", "TunedThresholdClassifierCV", "SelfTrainingClassifier"):
        return _unwrapped(model.estimator_, inputs)
    if name in ("RFE", "RFECV"):
        return _unwrapped(model.estimator_, None if inputs is None else through_selection(model, inputs))
    return model, () if inputs is None else inputs


def _read(model: Any, output: Output) -> Reading:
    """Read a model that is not wrapped into another."""
    library, name = type(model).__module__.split(".")[0], type(model).__name__
    if library == "xgboost":
        return _xgboost(model, output)
    if library == "lightgbm":
        return lightgbm_models.read_booster(model.booster_, sign=output.sign, settings=model.get_params())
    if library == "catboost":
        return catboost_models.read_model(model, sign=output.sign)
    if scikit_name(model) in SCIKIT_TREES:
        return SCIKIT_TREES[name](model, output)
    if scikit_name(model) in scikit_linear.MODELS:
        return scikit_linear.read_linear(model, output.sign, is_margin=output.is_margin)
    raise NotRead(f"the structure of {name} is not read")


def _xgboost(model: Any, output: Output) -> Reading:
    booster = model.get_booster()
    stopped = getattr(model, "booster", None) != "gblinear" and booster.attr("best_iteration") is not None
    rounds = int(booster.attr("best_iteration")) + 1 if stopped else None
    missing = float("nan") if model.missing is None else float(model.missing)
    return xgboost_models.read_booster(booster, rounds=rounds, sign=output.sign, missing=missing)


SCIKIT_TREES: dict[str, Callable[[Any, Output], Reading]] = {
    **dict.fromkeys(
        ("DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor"),
        lambda model, output: scikit_trees.read_tree(model, output.column),
    ),
    **dict.fromkeys(
        ("RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor"),
        lambda model, output: scikit_trees.read_forest(model, output.column),
    ),
    **dict.fromkeys(
        ("GradientBoostingClassifier", "GradientBoostingRegressor"),
        lambda model, output: scikit_trees.read_boosting(model, output.sign),
    ),
    **dict.fromkeys(
        ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor"),
        lambda model, output: scikit_trees.read_histogram_boosting(model, output.sign),
    ),
}

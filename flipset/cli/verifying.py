"""Opening what an explanation is verified with, once for all explanations of a file: model, space, table, threshold."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from math import inf, nextafter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from flipset import Explanation, InputError, OracleError, Verification
from flipset.cli.files import must_exist
from flipset.cli.options import ModelOptions, SpaceOptions
from flipset.cli.printing import print_lines

if TYPE_CHECKING:
    from flipset import Space
    from flipset.models import Scorer
    from flipset.results.verifying import Terms

Verifier: TypeAlias = Callable[[Explanation], Verification]
Predict: TypeAlias = Callable[[Any], Any]

SPACE = SpaceOptions()


def open_verifier(
    model: str | None,
    data: str | None,
    model_options: ModelOptions,
    space_options: SpaceOptions,
    limits: Terms,
    in_time: Callable[[Predict], Predict],
    explanation: Explanation,
) -> Verifier:
    """Return the function that verifies explanations with the columns of this one; `in_time` limits each call."""
    from flipset.cli.inputs import fingerprint, open_model, positive_of
    from flipset.models.fingerprints import model_fingerprints

    fitted = None if model is None else open_model(model, model_options)
    positive = positive_of(fitted, model_options)
    identity = None if model is None or hasattr(fitted, "identity") else fingerprint(model, fitted)
    own_model = () if model is None else model_fingerprints(fitted, positive, identity)
    limits = replace(limits, own_model=own_model)
    if model_options.journal is not None:
        identity = None if model is None else fingerprint(model, fitted)
        fitted = _recorded(model_options.journal, list(explanation.row), identity, positive)
        positive = None  # the recorded scores are those of the class already
    verified = _verifier(explanation, fitted, positive, data, model_options, space_options, limits, in_time)
    asked = model is not None and model_options.journal is None
    hint = "; a model that takes frames needs --data" if asked and data is None else ""

    def verify(e: Explanation) -> Verification:
        try:
            return verified(e)
        except OracleError as error:
            raise InputError(f"{error}{hint}") from None

    return verify


@dataclass(frozen=True, slots=True)
class _Model:
    """The model that explanations are verified with, and what is known about it.

    `terms` has the threshold and the limits; `in_time` limits each call. What the model shows about a space is read
    once.
    """

    scorer: Scorer
    terms: Terms
    in_time: Callable[[Predict], Predict]
    of_space: Callable[[Space], Terms]

    def verify(
        self, e: Explanation, space: Space | None, table: Any = None, *, knows_values: bool = True
    ) -> Verification:
        """Verify an explanation in a space. Without one, the columns are those of the explanation, in its order."""
        from flipset.explain.monotonicity import read_for_moves
        from flipset.models import in_order_of, settle
        from flipset.results.verifying import verify_by

        # The same rounding rule as when the row was explained.
        predict = in_order_of(settle(self.scorer, e.threshold), tuple(e.row) if space is None else space.names)
        if space is None:
            own = replace(self.terms, monotonicity=read_for_moves(e, self.scorer))
        else:
            own = self.of_space(space)
        return verify_by(e, self.in_time(predict), replace(own, knows_values=knows_values), table)


def _verifier(
    first: Explanation,
    model: Any,
    positive: Any,
    data: str | None,
    model_options: ModelOptions,
    space_options: SpaceOptions,
    limits: Terms,
    in_time: Callable[[Predict], Predict],
) -> Verifier:
    """Return how to verify with the space, the table and the threshold that were given."""
    from flipset.cli.inputs import read_data
    from flipset.cli.space_inputs import make_space, read_space
    from flipset.models import read_model
    from flipset.space.reference import Reference

    scorer = read_model(model, positive)
    terms = _with_threshold(limits, scorer, model_options.threshold, space_options.space)
    by = _Model(scorer, terms, in_time, cache(partial(_known, terms, scorer, in_time)))
    if data is None:
        _refuse_without_data(space_options)
        bare = None if space_options.space is None else read_space(space_options.space)
        return lambda e: by.verify(e, bare, knows_values=False)
    frame = read_data(data, space_options.id)
    if replace(space_options, id=None) != SPACE:
        space = make_space(model, frame, positive, space_options)
        return lambda e: by.verify(e, space, space.reference)
    table = Reference.of(table_like(first, frame))
    if not scorer.with_names_of(list(first.row)).directions:
        return lambda e: by.verify(e, None, table)
    return _if_likely(by, make_space(model, frame, positive, space_options), table)


def _with_threshold(limits: Terms, scorer: Scorer, given: float | None, space: Path | None) -> Terms:
    """Return terms with the threshold of the model, of the space file, or of the option: the last that has one."""
    from flipset.cli.space_inputs import read_space

    terms = replace(limits, threshold=scorer.threshold if scorer.has_own_threshold else None, whose="the model has")
    own = None if space is None else read_space(space).decision.threshold
    if own is not None:
        terms = replace(terms, threshold=own, whose="the space has")
    # "More than 0.5", the usual threshold of classifiers, is the number next to 0.5: nobody would type that.
    if given is not None and nextafter(given, inf) != terms.threshold:
        terms = replace(terms, threshold=given, whose="--threshold says")
    return terms


def _refuse_without_data(space_options: SpaceOptions) -> None:
    """Refuse options that change what is read from a table: without one, they would be ignored in silence."""
    given = [one.name for one in fields(space_options) if getattr(space_options, one.name) and one.name != "space"]
    if given:
        raise InputError(f"--{given[0].replace('_', '-')} needs --data, the table that the row was explained with")


OF_SPACE = (
    "moves:",
    "held_fixed:",
    "held_because:",
    "own_bounds:",
    "row:",
    "basis:",
    "fingerprints.space:",
    "fingerprints.reference:",
)
"""How problems begin that another space would explain."""


def _if_likely(by: _Model, likely: Space, table: Any) -> Verifier:
    """Return how to verify with the space that follows from the model and the table, where it is the right one.

    It may be the one that the row was explained with. Where it is not, the explanation is not wrong, but its space
    remains unchecked.
    """

    def verify(e: Explanation) -> Verification:
        checked = by.verify(e, likely, likely.reference)
        if not any(problem.startswith(OF_SPACE) for problem in checked.problems):
            return checked
        return by.verify(e, None, table)

    return verify


def _known(terms: Terms, scorer: Scorer, in_time: Callable[[Predict], Predict], space: Space) -> Terms:
    """Return terms with the space, and what this model shows about its directions."""
    from flipset.explain.monotonicity import read_with_witnesses
    from flipset.results.basis import Fingerprints
    from flipset.space.fingerprints import space_fingerprint

    table = None if space.reference is None else space.reference.fingerprint
    prints = Fingerprints(space=space_fingerprint(space), reference=table)
    known = read_with_witnesses(space, scorer, in_time)
    return replace(terms, space=space, monotonicity=known, contradicted=known.contradicted, fingerprints=prints)


def table_like(e: Explanation, frame: Any) -> Any:
    """Return the columns of an explanation from the data; a column that is a number in the explanation is one there."""
    from flipset.cli.space_inputs import columns_of
    from flipset.cli.textcells import numbers_of

    scales = [name for name, cell in e.row.items() if isinstance(cell, (int, float)) and not isinstance(cell, bool)]
    return numbers_of(columns_of(frame, list(e.row), "the explanation is about"), scales)


def _recorded(path: Path, columns: list[str], identity: str | None, positive: Any) -> Any:
    """Return the recorded model of a journal, which must be about this model and these columns."""
    from flipset.journal import FORMAT, Journal

    # SQLite would make a new, empty journal of a mistyped name.
    must_exist(path)
    kept = Journal(path, model="")
    about = {part: kept.kept(part) for part in ("format", "columns", "model", "positive")}
    if about["format"] != FORMAT:
        raise InputError(f"{path} is not a flipset journal: its format is {about['format']}, expected {FORMAT}")
    # Rows are looked up by their cells in order, so other columns would find the answers of other rows.
    if about["columns"] != json.dumps(columns):
        raise InputError(f"the journal {path} has the columns {about['columns']}, not {json.dumps(columns)}")
    expected = {} if identity is None else {"model": identity, "positive": repr(positive)}
    for part, value in expected.items():
        if about[part] != value:
            raise InputError(f"the journal {path} is about another {part}: {about[part]}, not {value}")
    print_lines([f"Scores are taken from the journal {path}, recorded for the model {about['model']}."])
    return kept.model()

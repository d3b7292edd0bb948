"""Running a verification: the model scores the rows that the flow asks for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flipset.drivers import run
from flipset.models.scores import read_scores
from flipset.models.tables import ask_rows
from flipset.results.column_order import in_columns
from flipset.results.verifying.flow import verifying
from flipset.results.verifying.rules import computed_columns
from flipset.space.identity import each_row_once
from flipset.space.reference import Reference
from flipset.space.rows import read_row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.results.data import ExplanationData
    from flipset.results.verification import Verification
    from flipset.results.verifying.findings import Terms
    from flipset.space.cells import Cells


def verify_by(
    e: ExplanationData, predict: Callable[[Any], Any], terms: Terms, reference: Reference | None
) -> Verification:
    """Verify an explanation against a model.

    Parameters
    ----------
    e
        The explanation. If it has the columns of the space in another order, it is checked in the order of the space.
    predict
        The model: a function from rows, with the types of the reference, to scores.
    terms
        What the verifier knows independently of the explanation.
    reference
        The table with the types of the columns; None if the model takes arrays.
    """
    names = tuple(e.row)
    # JSON objects have no order, so a program may have written the columns in another one.
    if terms.space is not None and names != terms.space.names and {*names} == {*terms.space.names}:
        return verify_by(in_columns(e, terms.space.names), predict, terms, reference)
    if reference is not None and reference.names != names and terms.space is None:
        reference = Reference.of(reference.only(names))
    row = read_row(e.row, names)
    score = each_row_once(partial(read_scores, predict))
    computed = computed_columns(e, terms.space, reference)

    def oracle(changes: Sequence[Cells]) -> list[float]:
        whole = changes if computed is None else [computed.complete(row, cells) for cells in changes]
        return ask_rows(score, len(names), reference, [(row, cells) for cells in whole])

    return run(verifying(e, terms), oracle)

"""Runs a verification: the model is asked what the flow in `verifying` asks, and the result is returned."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flipset.drivers import run
from flipset.models.scores import read_scores
from flipset.models.tables import ask_rows
from flipset.results.verifying.flow import verifying
from flipset.results.written import in_columns
from flipset.space.identity import each_row_once
from flipset.space.reference import Reference
from flipset.space.rows import read_row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.results.data import ExplanationData
    from flipset.results.verification import Verification
    from flipset.results.verifying.findings import Terms
    from flipset.space.moves import Cells


def verify_by(
    e: ExplanationData, predict: Callable[[Any], Any], terms: Terms, reference: Reference | None
) -> Verification:
    """Verify an explanation by a function of rows.

    Parameters
    ----------
    e
        The explanation. Where its columns are those of the space in another order, it is checked in the space's order.
    predict
        The model: it is given rows with the types of the reference, and returns one score each.
    terms
        What is known without the explanation.
    reference
        The table that has the types of the columns; None where rows are given as arrays.
    """
    names = tuple(e.row)
    if terms.space is not None and names != terms.space.names and {*names} == {*terms.space.names}:
        return verify_by(in_columns(e, terms.space.names), predict, terms, reference)
    if reference is not None and reference.names != names and terms.space is None:
        reference = Reference.of(reference.only(names))
    row = read_row(e.row, names)
    score = each_row_once(partial(read_scores, predict))

    def oracle(changes: Sequence[Cells]) -> list[float]:
        return ask_rows(score, len(names), reference, [(row, cells) for cells in changes])

    return run(verifying(e, terms), oracle)

"""`Scorer`: what every adapter makes of a model. It is a function from rows to scores, and what the model declares."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, nextafter
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import InputError
from flipset.models.most_likely import MostLikely, margin_of
from flipset.models.scores import as_array

if TYPE_CHECKING:
    from flipset.models.monotone.shown import Structure
    from flipset.models.remote.remote_model import RemoteModel


@dataclass(frozen=True, slots=True)
class Scorer:
    """A model that is ready to score rows.

    Attributes
    ----------
    predict
        The function from rows to scores, one for each row.
    names
        The names of the columns it was fitted on, in order; None if it does not know them.
    directions
        The monotone directions it was fitted with, by name.
    numbered
        Names such as "0" and "1", which may be those of a table, or numbers that a library gave to the columns of an
        array. They count where a table has columns of all these names; otherwise, columns are taken by their place.
    signs
        The monotone directions by the place of the column, of a model without `names`.
    threshold
        The score from which the decision changes; None if there is none, as for a regressor.
    takes_names
        Whether `predict` takes the names of the columns as a keyword argument.
    endpoint
        The remote model, if the model is not in this process.
    has_own_threshold
        Whether `threshold` is the model's own rather than a usual default.
    decides
        The function from rows to whether the model's own decision is the positive one; None if it makes none.
    apredict
        `predict` as a coroutine function; None if the model cannot be awaited.
    structure
        The function from declared directions to what the model's own structure shows about them; None if nothing but
        the model's scores is known. Nothing is read from the model before the function is called.
    gives_probabilities
        Whether all scores are known to lie between 0 and 1.
    """

    predict: Callable[..., Any]
    names: tuple[str, ...] | None = None
    directions: Mapping[str, int] = field(default_factory=dict)
    threshold: float | None = 0.5
    takes_names: bool = False
    endpoint: RemoteModel | None = None
    has_own_threshold: bool = True
    decides: Callable[[Any], Any] | None = None
    apredict: Callable[..., Awaitable[Any]] | None = None
    structure: Structure | None = None
    gives_probabilities: bool = False
    numbered: tuple[str, ...] | None = None
    signs: tuple[int, ...] = ()

    def then(self, read: Callable[[Any], Any]) -> Scorer:
        """Return a copy that passes its answers through a function, both in `predict` and in `apredict`.

        The function must not change the order of scores: `structure` stays as it is.
        """
        predict, apredict = self.predict, self.apredict

        async def read_awaited(rows: Any, **how: Any) -> Any:
            assert apredict is not None, "used only where the model can be awaited"
            return read(await apredict(rows, **how))

        return replace(
            self,
            predict=lambda rows, **how: read(predict(rows, **how)),
            apredict=None if apredict is None else read_awaited,
        )

    def with_names_of(self, columns: Sequence[str]) -> Scorer:
        """Return a copy with the names that the columns have in the table."""
        if self.names is None:
            if self.numbered is not None and set(self.numbered) <= set(columns):
                return replace(self, names=self.numbered, directions=_signed(self.numbered, self.signs))
            return replace(self, directions=_signed(columns, self.signs)) if self.signs else self
        # LightGBM replaces white space in names: "mean radius" becomes "mean_radius".
        written = {re.sub(r"\s", "_", column): column for column in columns}
        in_table = {name: name if name in columns else written.get(name, name) for name in self.names}
        directions = {in_table.get(name, name): direction for name, direction in self.directions.items()}
        return replace(self, names=tuple(in_table.values()), directions=directions)


ABOVE_HALF = nextafter(0.5, inf)
"""The usual threshold of a probability: libraries decide for the second class only above one half."""


def no_positive(model: Any, positive: Any) -> None:
    """Refuse `positive` for a model that has no classes."""
    if positive is not None:
        raise InputError(f"positive is for classifiers; {type(model).__name__} gives scores: use threshold")


def columns_known(names: Iterable[Any] | None, signs: Sequence[int]) -> dict[str, Any]:
    """Return what a scorer knows about its columns, from the names and the constraints of the fitted model."""
    if names is None:
        return {"signs": tuple(signs)}
    known = tuple(map(str, names))
    if any(known == tuple(f"{start}{i}" for i in range(len(known))) for start in ("", "Column_")):
        return {"numbered": known, "signs": tuple(signs)}
    return {"names": known, "directions": _signed(known, signs)}


def _signed(names: Sequence[str], signs: Sequence[int]) -> dict[str, int]:
    return {name: sign for name, sign in zip(names, signs, strict=False) if sign}


def one_score_each(answers: Any, positive: Any = None) -> Any:
    """Return one score per row from the answers of a model.

    A single column is the score. Of several columns, `positive` names the one, or those whose sum is the score; of two
    columns it is the second by default. Where the model returns labels, `positive` is the label that counts.
    """
    table = as_array(answers)
    if table.ndim == 2 and table.shape[1] == 1:
        table = table[:, 0]
    if table.ndim == 2 and isinstance(positive, MostLikely):
        return margin_of(table, _columns(table.shape[1], positive.classes))
    if isinstance(positive, MostLikely):
        raise InputError('decide="argmax" is for models that return a column for each class; this one returns one')
    if table.ndim == 2:
        return sum_of(table, _columns(table.shape[1], positive))
    if positive is None:
        return table
    labels = list(positive) if isinstance(positive, (list, tuple, set, frozenset)) else [positive]
    are_numbers = [isinstance(label, (int, float, np.number, np.bool_)) for label in labels]
    # NumPy would compare numbers and text as text, and find none equal: say so instead.
    if (table.dtype.kind in "biuf") != all(are_numbers) and table.dtype.kind != "O":
        kind = "numbers" if table.dtype.kind in "biuf" else "text"
        raise InputError(
            f"the model answers {kind} such as {table[:1].tolist()}; positive={positive!r} is none of them"
        )
    if table.dtype.kind == "O":
        return np.array([cell in labels for cell in table.tolist()])
    return np.isin(table, labels)


def sum_of(table: Any, columns: Sequence[int]) -> Any:
    """Return one column as it is, or the sum of several."""
    return table[:, columns[0]] if len(columns) == 1 else table[:, columns].sum(axis=1, dtype=np.float64)


def _columns(width: int, positive: Any) -> list[int]:
    if positive is None and width == 2:
        return [1]
    wanted = list(positive) if isinstance(positive, Iterable) and not isinstance(positive, str) else [positive]
    if not wanted or not all(isinstance(i, (int, np.integer)) and 0 <= i < width for i in wanted):
        raise InputError(
            f"the model returns {width} columns; say which is the score: positive=0 to {width - 1}, got {positive!r}"
        )
    if len(set(wanted)) < len(wanted):
        raise InputError(f"positive={positive!r} names a column twice")
    return [int(i) for i in wanted]


def in_order_of(scorer: Scorer, names: Sequence[str]) -> Callable[[Any], Any]:
    """Return the model as a function of rows with these columns; it gets its own columns, in its own order."""
    scorer = scorer.with_names_of(names)
    wanted = scorer.names
    if scorer.takes_names:
        return partial(scorer.predict, names=tuple(names))
    if wanted is None:
        _refuse_other_places(scorer.numbered or (), names)
        return scorer.predict
    missing = [name for name in wanted if name not in names]
    if missing:
        raise InputError(f"the model was fitted with a column {missing[0]!r} that the space does not have")
    places = [names.index(name) for name in wanted]

    def predict(rows: Any) -> Any:
        if not hasattr(rows, "columns"):
            import pandas as pd  # a model with named columns was fitted on a frame, so pandas is there

            # An array of objects would give columns of objects; the model was fitted on numbers.
            rows = pd.DataFrame(rows[:, places], columns=list(wanted)).infer_objects()
        elif tuple(rows.columns) != wanted:
            rows = rows[list(wanted)]
        return scorer.predict(rows)

    return predict


def _refuse_other_places(numbered: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a table that has some of a model's columns by name, at other places: which order is meant is not known."""
    for i, name in enumerate(numbered):
        if name in names and names.index(name) != i:
            raise InputError(
                f"the model has the column {name!r} at place {i + 1:,}, and the table has it at place "
                f"{names.index(name) + 1:,}; the table must have all columns of the model ({_some(numbered)}), or none "
                "of these names"
            )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")


def awaited_in_order_of(scorer: Scorer, names: Sequence[str]) -> Callable[[Any], Awaitable[Any]] | None:
    """Return `in_order_of` for coroutines; None where the model cannot be awaited."""
    # Models that can be awaited are endpoints, which take the names of the columns with the rows.
    return None if scorer.apredict is None else partial(scorer.apredict, names=tuple(names))

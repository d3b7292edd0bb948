"""`flipset verify` and `flipset journal`: what was proved, and the answers it rests on."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from flipset import Explanation, InputError, OracleError
from flipset.cli.options import ModelOptions
from flipset.cli.telling import print_lines
from flipset.plural import count

MODEL = ModelOptions()


def verify(
    proof: Path,
    model: str | None = None,
    *,
    data: str | None = None,
    how: ModelOptions = MODEL,
) -> None:
    """Replay a proof: check what an explanation claims, and ask the model its questions again. Exit code 1 if it fails.

    Without a model, but with --journal, the answers come from the journal.

    Example: flipset verify explanation.json model.ubj

    Parameters
    ----------
    proof
        A file that `flipset explain --proof` or `--json` wrote.
    model
        A model file, or python:package.module:object.
    data
        A table with the types of the columns, for models that need frames with particular types.
    """
    from flipset.cli.inputs import open_model, positive_of, read_data
    from flipset.words import claim

    if model is not None and how.endpoint.url is not None:
        raise InputError("say what to ask once: MODEL or --url")
    try:
        text = proof.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{proof} cannot be read: {error}") from None
    found = Explanation.from_json(text)
    model = model or how.endpoint.url
    if model is None:
        fitted, positive = _recorded(how), None
    else:
        fitted = open_model(model, how)
        positive = positive_of(fitted, how.positive)
    if data is None:
        try:
            holds = found.verify(fitted, positive=positive)
        except OracleError as error:
            hint = "; a model that takes frames needs --data" if model is not None else ""
            raise InputError(f"{error}{hint}") from None
    else:
        holds = _typed(found, fitted, positive, read_data(data))
    rows = count(len(found.counterfactuals), "counterfactual")
    asked = f"{count(len(found.proof.questions), 'question')} of the proof, {rows}."
    print_lines([f"Claim: {claim(found)}.", asked])
    print_lines(["PROVED: the model answers all of them as claimed." if holds else "NOT CONFIRMED."])
    if not holds:
        sys.exit(1)


def _recorded(how: ModelOptions) -> Any:
    """Return the model of a journal that is there."""
    from flipset import Journal

    if how.journal is None:
        raise InputError("say which model to ask, or with --journal where its answers are written")
    _must_exist(how.journal)
    return Journal(how.journal, model="").model()


def _must_exist(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"there is no file {path}")


def journal(path: Path, *, forget_before: datetime | None = None) -> None:
    """Show what a journal is about and how much is in it, or forget old answers.

    Example: flipset journal answers.db --forget-before 2026-01-31

    Parameters
    ----------
    path
        The file that --journal named.
    forget_before
        Forget answers that were written before this day.
    """
    from flipset import Journal

    _must_exist(path)
    kept = Journal(path, model="")
    if forget_before is not None:
        print_lines([f"Forgotten: {count(kept.prune(forget_before.timestamp()), 'answer')}."])
    about = list(kept.about())
    width = max(len(part) for part, _ in about)
    print_lines(f"{part:<{width}}  {value}" for part, value in about)


def _typed(found: Explanation, model: Any, positive: Any, frame: Any) -> bool:
    """Verify with frames of the types that the data have."""
    from flipset import Explainer, Feature, Space
    from flipset.cli.inputs import columns_of

    table = columns_of(frame, list(found.row), "the explanation is about")
    space = Space([Feature(name, fixed=True) for name in found.row], reference=table)
    return Explainer(model, space, threshold=found.threshold, positive=positive).verify(found)

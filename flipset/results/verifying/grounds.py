"""Comparing what an explanation rests on with what the verifier knows: the model, the space, the table, the directions.

A claim that is weaker than what the verifier knows is true, too: another version of flipset may show more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.models.fingerprints import is_known_by_name_alone, is_same_model
from flipset.results.basis import BASES, Grounds
from flipset.results.verifying.findings import same
from flipset.version import __version__

if TYPE_CHECKING:
    from flipset.results.data import ExplanationData
    from flipset.results.verifying.findings import Findings, Terms


BY_NAME = "the model has the same name; whether its content is the same cannot be said"


def check_model(e: ExplanationData, terms: Terms, findings: Findings) -> None:
    """Say whether the explanation is about this model, this space and this table."""
    claimed, own = e.fingerprints, terms.fingerprints
    findings.same_model = is_same_model(claimed.model, terms.own_model)
    if findings.same_model is None:
        why = (
            "the explanation does not name its model" if claimed.model is None else "this model has no such fingerprint"
        )
        findings.not_checked["fingerprints"] = f"whether this is the same model: {why}"
    elif findings.same_model and is_known_by_name_alone(claimed.model, terms.own_model):
        findings.not_checked["fingerprints"] = BY_NAME
    # Another version may write what this one would not. That is said, and every claim is checked all the same.
    if claimed.flipset not in (None, __version__):
        findings.other_version = claimed.flipset
    this = next(iter(terms.own_model), None)
    problem = f"fingerprints.model: the explanation is about {claimed.model}, and this model is {this}"
    findings.check(findings.same_model is not False, problem)
    for name in ("space", "reference"):
        theirs, ours = getattr(claimed, name), getattr(own, name)
        if theirs is not None and ours is not None:
            called = {"space": "space", "reference": "table"}[name]
            problem = (
                f"fingerprints.{name}: the explanation was made with the {called} {theirs}, and this {called} is "
                f"{ours}; give the {called} that it was made with"
            )
            findings.check(theirs == ours, problem)
    findings.checked.append("fingerprints")


def check_basis(e: ExplanationData, terms: Terms, findings: Findings) -> None:
    """Compare why the score is taken to follow the directions with what this model shows."""
    names = [unit.name for unit in e.moves.units]
    findings.check(list(e.basis) == names, "basis: it must have the features that could move, in order")
    is_audited = "audited" in e.basis.values()
    findings.check(same(e.audited_pairs is not None, is_audited), "audited_pairs: a number where a basis is 'audited'")
    if findings.is_over:
        return
    if terms.monotonicity is None:
        findings.not_checked["basis"] = "taken from the explanation; no space was given"
    else:
        all_columns = list(e.row)
        known = Grounds(terms.monotonicity).basis(e.moves, all_columns)
        columns = {unit.name: [all_columns[i] for i in unit.columns] for unit in e.moves.units}
        for name, claimed in e.basis.items():
            # Without a space, the directions of some columns are not known.
            if claimed != "audited" and all(column in terms.monotonicity for column in columns[name]):
                problem = f"basis: {name!r} is {claimed!r} in the explanation, and {known[name]!r} for this model"
                findings.check(BASES.index(claimed) >= BASES.index(known[name]), problem)
        findings.checked.append("basis")
    findings.check(set(e.contradicted) <= set(names), "contradicted: it names features that could not move")
    _check_contradicted(e, terms, findings)
    if is_audited:
        findings.not_checked["audited_pairs"] = "an audit is not repeated; flipset audit does that"
    else:
        findings.checked.append("audited_pairs")


def _check_contradicted(e: ExplanationData, terms: Terms, findings: Findings) -> None:
    """Say which directions this model does not follow, although the explanation does not name them.

    That is no problem: which rows are tried depends on the version of flipset, and on bounds for one row.
    """
    columns = list(e.row)
    own = terms.contradicted or ()
    findings.also_contradicted = tuple(
        unit.name
        for unit in e.moves.units
        if unit.name not in e.contradicted and any(columns[i] in own for i in unit.columns)
    )
    if e.contradicted:
        findings.not_checked["contradicted"] = "the rows that show it are not on file; flipset audit finds such rows"
    elif terms.contradicted is None:
        findings.not_checked["contradicted"] = "rows that contradict the directions were not looked for"
    else:
        findings.checked.append("contradicted")

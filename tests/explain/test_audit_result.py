"""What an audit says about itself, from its data alone."""

from flipset.explain.audit_result import Audit, Finding, Witness, witness_text

WORST = Witness(("debt",), {"income": 3.0, "debt": 9}, {"income": 3.0, "debt": 4}, 0.75, 0.5)
CLEAN = Finding("income", 10, 10, None)
NO_CHAINS = Finding("several together", 0, 0, None)


def test_an_audit_without_a_contradiction_says_how_sure_it_is() -> None:
    audit = Audit((CLEAN,), NO_CHAINS, 20)
    assert (audit.passed, audit.pairs, audit.wrong) == (True, 10, 0)
    text = str(audit)
    assert text.startswith("20 queries: no contradiction found")
    assert "0 of 10 pairs in the wrong order: at 95 % confidence, at most 30 % of such pairs are." in text


def test_a_contradiction_is_shown_with_its_values() -> None:
    finding = Finding("debt", 4, 3, WORST, reversed=True)
    audit = Audit((CLEAN, finding), NO_CHAINS, 20)
    assert (audit.passed, audit.wrong, finding.held, WORST.fall) == (False, 1, 0.75, 0.25)
    assert witness_text(WORST) == "debt 9 → 4: the score falls from 0.75 to 0.5"
    assert "20 queries: NOT MONOTONE" in str(audit)
    assert "debt: no pair that differs is in order: did you mean increasing?" in str(audit)


def test_a_feature_that_was_not_compared_is_not_passed() -> None:
    audit = Audit((CLEAN, Finding("debt", 0, 0, None)), NO_CHAINS, 20, least_budget=30)
    assert (audit.passed, audit.not_compared) == (False, ("debt",))
    assert "no contradiction found, but 1 of 2 features was not compared" in str(audit)
    assert str(audit).endswith("Not compared: debt. The budget must be at least 30 queries.")


def test_an_audit_of_which_everything_is_proved_has_passed() -> None:
    audit = Audit((), NO_CHAINS, 0, proved=("income",))
    assert audit.passed
    assert str(audit).splitlines()[0] == "Proved from the model itself: income"
    assert not Audit((), NO_CHAINS, 0).passed

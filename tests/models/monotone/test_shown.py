"""What is shown is data."""

from flipset.models.monotone.shown import Declared, nothing_shown, unread


def test_nothing_shown_has_one_reason_for_all() -> None:
    shown = nothing_shown(Declared(("a", "b"), {"a": 1, "b": -1}), "it is a secret")
    assert shown.proved == frozenset()
    assert shown.why_not == {"a": "it is a secret", "b": "it is a secret"}


def test_models_that_are_never_read_say_why() -> None:
    assert unread("graphs are not read")(Declared(("a",), {"a": 1})).why_not == {"a": "graphs are not read"}

"""The result of a verification is true exactly when all that was checked holds and nothing was left undecided."""

from flipset.results.verification import Verification

HOLDS = Verification((), ("score",), {"moves": "no space was given", "grids": "no space was given"}, True, ())
FAILS = Verification(("score: it is 1.0, and the model says 0.0",), ("score",), {}, True, ())
OPEN = Verification((), (), {"proof": "not decided in 9 steps"}, False, ())


def test_it_is_true_only_if_it_holds_and_is_decided() -> None:
    assert [bool(one) for one in (HOLDS, FAILS, OPEN)] == [True, False, False]


def test_problems_and_what_was_not_checked_are_told() -> None:
    assert "score: it is 1.0, and the model says 0.0" in str(FAILS)
    assert "moves, grids: no space was given" in str(HOLDS)  # fields with one reason share a line
    assert "not decided in 9 steps" in str(OPEN)
    assert "\n" not in repr(HOLDS)
    assert len({repr(one) for one in (HOLDS, FAILS, OPEN)}) == 3


def test_lines_are_no_wider_than_wanted() -> None:
    long = Verification(("field: " + "word " * 60,), (), {}, True, ())
    assert max(map(len, long.lines(width=50))) <= 50

"""The changes of an option, and what follows from them."""

from flipset.show.change_lines import change_lines
from flipset.space.words import FeatureWords
from flipset.values.change import Change, Consequence, Counterfactual


def test_consequences_follow_the_changes() -> None:
    words = FeatureWords("debt to income", "%")
    one = Counterfactual(
        ("debt",),
        (Change("debt", 30.0, 20.0, "at most"),),
        0.1,
        0.1,
        0.7,
        {"debt": 20.0, "dti": 31.25},
        (Consequence("dti", 50.0, 31.25, words),),
    )
    assert list(change_lines(one, 80)) == ["      debt: 30 → at most 20", "      (then debt to income: 50 → 31.2 %)"]

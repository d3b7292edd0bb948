"""What the columns of explanations hold, before any row is explained."""

from flipset import Feature, Space
from flipset.results.kinds import result_kinds


def test_new_values_are_of_the_kind_of_their_column_unless_they_may_be_fractions() -> None:
    space = Space(
        [
            Feature("whole", "integer", direction=+1, lower=0, upper=9),
            Feature("scale", direction=+1, lower=0, upper=9),
            Feature("held", fixed=True),
            Feature("kind", "categorical", options=("a", "b")),
        ]
    )
    given = {"whole": "int", "scale": "int", "held": "int", "kind": "text"}
    kinds = result_kinds(space, given)
    assert [kinds[f"new_{name}"] for name in given] == ["int", "float", "int", "text"]
    assert (kinds["size"], kinds["decision"], kinds["score"]) == ("int", "bool", "float")
    assert not any(name.startswith("new_") for name in result_kinds(space, {}))


def test_weights_make_sizes_fractions() -> None:
    space = Space([Feature("x", direction=+1, lower=0, upper=9, weight=1.5)])
    assert result_kinds(space, {})["size"] == "float"


def test_a_computed_column_may_be_a_fraction() -> None:
    features = [Feature("debt", direction=-1, lower=0, upper=9), Feature("ratio"), Feature("income", fixed=True)]
    space = Space(features, derived={"ratio": "debt / income"})
    kinds = result_kinds(space, dict.fromkeys(space.names, "int"))
    assert (kinds["new_ratio"], kinds["new_income"]) == ("float", "int")

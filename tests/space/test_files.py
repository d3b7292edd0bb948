"""Files hold features and groups, without knowing spaces; a space checks that they belong together."""

from types import SimpleNamespace
from typing import Any

import pytest

from flipset import Decision, Feature, Group, InputError, Space
from flipset.space.files import FORMAT, read_json, read_toml, write_json, write_toml

FEATURES = [
    Feature(
        "income",
        "integer",
        direction=+1,
        lower=0,
        upper=10**19,
        step=5,
        label="the income",
        unit="USD",
        description="before taxes",
        number_format="thousands",
    ),
    Feature("rent", "binary", group="housing", value_labels={0: "no", 1: 'yes, "rent"'}),
    Feature("own \x7f\u2028", "binary", group="housing"),
    Feature("grade", "ordinal", direction=-1, options=("A", "B", 'C "+"'), may_fall=False),
]
GROUPS = [Group("housing", one_hot=True, may_be_empty=True, label="the home")]
DECISION = Decision(0.1, "below", ("refused", "granted"), ("a refusal", "a grant"), "default risk", "percent")
FILES: dict[str, Any] = {"json": (write_json, read_json), "toml": (write_toml, read_toml)}


def parts(features: list[Feature], groups: list[Group], decision: Decision, **rules: Any) -> dict[str, Any]:
    """Return the parts of a space, whether or not they belong together."""
    nothing: dict[str, Any] = {"constraints": [], "derived": {}, "follows": {}}
    return {"features": features, "groups": groups, "decision": decision, **nothing, **rules}


@pytest.mark.parametrize("kind", FILES)
def test_parts_come_back(kind: str) -> None:
    write, read = FILES[kind]
    rules = {"constraints": ['a <= "b"', "x\ny"], "derived": {"d t i": "a / b"}, "follows": {"age": "age + 1"}}
    for given in (
        parts(FEATURES, GROUPS, DECISION),
        parts(FEATURES[:1], [], Decision()),
        parts(FEATURES, GROUPS, DECISION, **rules),
    ):
        assert read(write(SimpleNamespace(**given))) == given


@pytest.mark.parametrize("kind", FILES)
def test_a_function_is_not_written(kind: str) -> None:
    write, _ = FILES[kind]
    given = parts(FEATURES[:1], [], Decision(), derived={"dti": lambda row: 1})
    with pytest.raises(InputError, match="'dti' is a function, which cannot be written to a file"):
        write(SimpleNamespace(**given))


@pytest.mark.parametrize("kind", FILES)
def test_a_space_writes_its_parts(kind: str) -> None:
    write, _ = FILES[kind]
    space = Space(FEATURES, GROUPS, decision=DECISION)
    text = getattr(space, f"to_{kind}")()
    assert text == write(space)
    assert getattr(Space, f"from_{kind}")(text) == space


@pytest.mark.parametrize("kind", FILES)
def test_only_a_space_refuses_parts_that_do_not_belong_together(kind: str) -> None:
    write, read = FILES[kind]
    given = parts(FEATURES[:1], GROUPS, Decision())
    text = write(SimpleNamespace(**given))
    assert read(text) == given
    with pytest.raises(InputError, match="group 'housing' has no columns"):
        getattr(Space, f"from_{kind}")(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a space must be JSON"),
        ("[]", "a space must say format"),
        (
            f'{{"format": "{FORMAT}", "features": []}}',
            "the space has 'features', which is not one of its fields",
        ),
        (f'{{"format": "{FORMAT}", "feature": 1}}', "feature must be a list, got 1"),
        (f'{{"format": "{FORMAT}", "feature": [1]}}', r"feature\[0\] must be an object, got 1"),
        (f'{{"format": "{FORMAT}", "feature": [{{}}]}}', r"feature\[0\] has no 'name'"),
        (
            f'{{"format": "{FORMAT}", "group": [{{"name": "g", "hot": 1}}]}}',
            r"group\['g'\] has 'hot', which",
        ),
    ],
)
def test_other_files_are_refused_with_reasons(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_json(text)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("step = true", r"feature\['x'\].step must be a number, got True"),
        ("direction = true", "direction must be a number, got True"),
        ("weight = '1e100000000'", "weight must be a number, got '1e100000000'"),
        ("weight = 1e200", "weight must be a positive number, between 1e-100 and 1e100"),
        ("upper = [1]", "upper must be a number, got a list"),
        ("upper = 2026-01-31", "upper must be a number, got datetime"),
        ("lower = nan", "lower must be a finite number"),
        ("fixed = 1", "fixed must be true or false, got 1"),
        ("options = 'abc'", "options must be a list, got 'abc'"),
        ("options = [['a']]", r"options\[0\] must be a number, got a list"),
        ("kind = 'number'", "kind must be one of 'numeric'"),
        ("group = ''", "group must be a name"),
        (f"upper = {'9' * 400}", "a whole number of more than 300 digits"),
        (f"upper = {'9' * 5_000}", "a space must be TOML"),
        (f"options = {'[' * 5_000}", "not nested so deeply"),
        ("a" + ".a" * 100 + " = 1", "may have 64 dots"),
    ],
)
def test_c12_values_of_the_wrong_type_are_named(line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_toml(f'format = "{FORMAT}"\n[[feature]]\nname = "x"\n{line}\n')


def test_c12_a_name_of_null_is_no_name() -> None:
    with pytest.raises(InputError, match=r"feature\[0\].name must be a string, got None"):
        read_json(f'{{"format": "{FORMAT}", "feature": [{{"name": null}}]}}')

"""Groups are printed: with the words of their column, in one line as `repr`, and as HTML in a notebook."""

import pandas as pd

from flipset import Explainer, Feature, Space
from flipset.show.group_tables import tell_groups

TABLE = pd.DataFrame({"income": [1, 2, 3, 8], "owner": [0, 0, 1, 1]})
SPACE = Space(
    [
        Feature("income", "integer", direction=+1, lower=0, upper=9),
        Feature("owner", "binary", fixed=True, label="home owner", value_labels={0: "no", 1: "yes"}),
    ]
)


def test_print_shows_the_words_of_the_column() -> None:
    found = Explainer(lambda rows: rows[:, 0] >= 7, SPACE).explain_table(TABLE)
    groups = found.summary_by(TABLE["owner"], reference=1)
    assert str(groups).startswith("Groups by home owner, declined rows.")
    assert "to the group “yes”" in " ".join(str(groups).split())
    assert "\n  no *" in str(groups)
    assert repr(groups) == "<Groups: groups: 2, reference: 1>"
    assert "home owner" in groups._repr_html_()
    # A list has no name, and its values are themselves.
    plain = found.summary_by(TABLE["owner"].tolist(), reference=1)
    assert str(plain) == "\n".join(tell_groups(plain))
    assert plain == groups
    assert dict(plain) == plain.summaries


def test_no_groups_are_printed_too() -> None:
    groups = Explainer(lambda rows: rows[:, 0] >= 7, SPACE).explain_table(TABLE.head(0)).summary_by([])
    assert str(groups) == "no groups"
    assert "<div" in groups._repr_html_()

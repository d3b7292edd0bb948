"""Plots show what was found."""

from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest

from flipset import Explainer, InputError, Space
from flipset.show.plots import ChangesDisplay, DualityDisplay, FrontierDisplay, SummaryDisplay


@pytest.fixture(autouse=True)
def _no_screen() -> Any:
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    yield
    plt.close("all")


def approve(rows: Any) -> Any:
    return rows["income"] - rows["debt"] + 5 * rows["years"] >= 45


def made() -> tuple[Explainer, pd.DataFrame]:
    table = pd.DataFrame({"income": range(10, 70, 5), "debt": range(40, 16, -2), "years": [0, 1, 2] * 4})
    space = Space.from_frame(table, increasing=["income", "years"], decreasing=["debt"])
    return Explainer(approve, space), table


def test_changes_are_drawn_on_their_scales() -> None:
    explainer, table = made()
    e = explainer.explain(table.iloc[0])
    drawn = e.plot(space=explainer.space)
    assert isinstance(drawn, ChangesDisplay)
    assert len(drawn.lines) == sum(len(one.changes) for one in e.counterfactuals[:7])
    for _, name, start, end, _ in drawn.lines:
        assert 0 <= start <= 1
        assert 0 <= end <= 1
        assert (end > start) == (name != "debt")
    assert [text.get_text() for text in drawn.ax_.get_yticklabels()] == [name for _, name, *_ in drawn.lines]


def test_every_option_shares_a_feature_with_every_reason() -> None:
    explainer, table = made()
    drawn = DualityDisplay.from_explanation(explainer.explain(table.iloc[0])).plot()
    assert drawn.shared
    assert all(names for row in drawn.shared for names in row)


def with_long_labels() -> tuple[Explainer, pd.DataFrame]:
    table = made()[1]
    labels = {
        "income": "gross income of all applicants together, without benefits",
        "debt": "number of bank or national trades with a high utilization ratio",
        "years": "months since the most recent inquiry, excluding the last 7 days",
    }
    space = Space.from_frame(
        table, increasing=["income", "years"], decreasing=["debt"], labels=labels, units={"income": "thousand USD"}
    )
    return Explainer(lambda rows: rows["income"] - rows["debt"] + 20 * rows["years"] >= 5, space), table


def are_apart(texts: list[Any]) -> bool:
    boxes = [text.get_window_extent() for text in texts]
    return not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])


@pytest.mark.filterwarnings("error")
def test_long_labels_are_broken_into_lines_and_hide_nothing() -> None:
    explainer, table = with_long_labels()
    e = explainer.explain(table.iloc[0])
    assert len(e.flipsets) > 1
    for drawn in (e.plot(space=explainer.space), DualityDisplay.from_explanation(e).plot()):
        drawn.figure_.draw_without_rendering()
        ax = drawn.ax_
        assert are_apart([*ax.texts, *ax.get_xticklabels()])
        assert are_apart(ax.get_yticklabels())
        assert ax.get_window_extent().width > drawn.figure_.bbox.width / 4


def test_axes_of_the_frontier_have_labels_and_units() -> None:
    explainer, table = with_long_labels()
    ax = FrontierDisplay.from_frontier(explainer.frontier(table.iloc[0], ["income", "debt"])).plot().ax_
    assert ax.get_xlabel() == "gross income of all applicants together, without\nbenefits, thousand USD"
    assert ax.get_ylabel() == "number of bank or national trades with a\nhigh utilization ratio"


def test_the_frontier_and_what_cannot_be_plotted() -> None:
    explainer, table = made()
    frontier = explainer.frontier(table.iloc[0], ["income", "debt"])
    drawn = FrontierDisplay.from_frontier(frontier).plot()
    assert [text.get_text() for text in (drawn.ax_.xaxis.label, drawn.ax_.yaxis.label)] == ["income", "debt"]
    other = type(frontier)(("a", "b"), ("x", 1), (("y", 2),), 3)
    with pytest.raises(InputError, match="two columns of numbers"):
        FrontierDisplay.from_frontier(other)


def test_a_table_by_group() -> None:
    explainer, table = made()
    t = explainer.explain_table(table)
    drawn = t.plot(["a", "b"] * 6)
    assert isinstance(drawn, SummaryDisplay)
    heights = [patch.get_height() for patch in drawn.ax_[0].patches]
    assert sum(heights) == pytest.approx(2.0)  # the shares of each group
    assert t.plot().figure_ is not None


def test_declined_and_approved_rows_are_drawn_apart() -> None:
    explainer, table = made()
    t = explainer.explain_table(table)
    summary = t.summary()
    for side, one in (("declined", summary.declined), ("approved", summary.approved)):
        drawn = t.plot(side=side)  # type: ignore[arg-type]
        assert [patch.get_height() for patch in drawn.ax_[0].patches] == [n / one.rows for n in one.sizes.values()]
        assert [patch.get_width() for patch in drawn.ax_[1].patches] == list(one.in_some.values())
        assert drawn.ax_[0].get_title(loc="left").startswith(f"{side.capitalize()}: {one.rows} row")
    with pytest.raises(InputError, match="side must be"):
        t.plot(side="both")  # type: ignore[arg-type]


def test_a_side_without_rows_is_drawn_all_the_same() -> None:
    explainer, table = made()
    t = explainer.explain_table(table.head(2))
    assert t.summary().approved.rows == 0
    assert t.plot(side="approved").ax_[0].get_title(loc="left").startswith("Approved: 0 rows")
    t.plot(["a", "b"], side="approved")


def test_plots_say_what_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    explainer, table = made()
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(InputError, match=r"plots need matplotlib: pip install 'flipset\[plot\]'"):
        explainer.explain(table.iloc[0]).plot()

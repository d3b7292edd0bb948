"""A table on this machine: which rows, what is written and printed, and how the command ends."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from flipset import Explainer, Feature, InputError, Space
from flipset.cli.exits import FAILED
from flipset.cli.inputs import Opened
from flipset.cli.local_tables import LocalTable, estimate_here, explain_here
from flipset.cli.options import SearchOptions

FRAME = pd.DataFrame({"income": [1, 2, 7, 3], "debt": [5, 6, 1, 6], "region": ["north", "south", "south", "north"]})
SPACE = Space([Feature("income", direction=+1, lower=0, upper=9), Feature("debt", direction=-1, lower=0, upper=9)])
SETTINGS = {"workers": 1, "width": 256, "max_table_queries": None, "max_table_seconds": None}


def opened(predict: Any = lambda rows: rows[:, 0] - rows[:, 1], frame: pd.DataFrame = FRAME) -> Opened:
    return Opened(Explainer(predict, SPACE, threshold=0), frame, "python:mine:score", "rows.csv")


def explain(output: Path, about: Opened | None = None, **options: Any) -> None:
    request = SearchOptions().request()
    explain_here(LocalTable(output, SETTINGS, **options), about or opened(), None, request)


def test_rows_are_written_and_summarized(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    explain(tmp_path / "out.csv", by="region")
    assert len(pd.read_csv(tmp_path / "out.csv")) == len(FRAME)
    out = capsys.readouterr().out
    assert "north" in out
    assert f"Written to {tmp_path / 'out.csv'}." in out
    assert not (tmp_path / "out.csv.part").exists()


def test_groups_are_compared_with_the_one_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    explain(tmp_path / "out.csv", by="region", reference_group="south")
    assert "to the group “south”" in " ".join(capsys.readouterr().out.split())


def test_only_the_rows_at_the_top(tmp_path: Path) -> None:
    explain(tmp_path / "out.csv", limit=3)
    assert len(pd.read_csv(tmp_path / "out.csv")) == 3


def test_a_report_is_written(tmp_path: Path) -> None:
    explain(tmp_path / "out.csv", html=tmp_path / "report.html")
    assert "rows.csv" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "city"}, "--by city: .* income, debt, region"),
        ({"by": "region", "reference_group": "east"}, "the reference group 'east' is not among the groups: .*north"),
        ({"limit": 0}, "--limit 0: expected at least 1"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_any_query(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    def never(rows: Any) -> Any:
        raise AssertionError("asked")

    with pytest.raises(InputError, match=message):
        explain(tmp_path / "out.csv", opened(never), **options)
    assert not list(tmp_path.iterdir())


def test_a_row_that_fails_shows_in_the_exit_code(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        explain(tmp_path / "out.csv", opened(frame=FRAME.assign(income=[1, None, 7, 3])))
    assert ended.value.code == FAILED
    assert pd.read_csv(tmp_path / "out.csv")["error"].notna().sum() == 1


def thresholds(output: Path, given: str, **options: Any) -> None:
    request = SearchOptions(thresholds=given).request()
    explain_here(LocalTable(output, SETTINGS, **options), opened(), None, request)


def test_a_table_for_each_threshold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    thresholds(tmp_path / "out.csv", "0,3", by="region")
    out = capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out-0.csv", "out-3.csv"]
    for threshold in (0, 3):
        alone = Explainer(lambda rows: rows[:, 0] - rows[:, 1], SPACE, threshold=threshold)
        expected = alone.explain_table(FRAME[["income", "debt"]]).to_frame()
        found = pd.read_csv(tmp_path / f"out-{threshold}.csv")
        assert found["flipsets"].tolist() == expected["flipsets"].tolist()
        assert found["advice"].tolist() == expected["advice"].tolist()
        assert f"Written to {tmp_path / f'out-{threshold}.csv'}." in out
        assert f"Threshold {threshold}\n\n" in out
    assert "for all thresholds together; one by one, they take" in out


def test_the_report_is_named_among_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, html = tmp_path / "out.csv", tmp_path / "out.html"
    explain_here(LocalTable(output, SETTINGS, html=html), opened(), None, SearchOptions().request())
    assert html.exists()
    assert f"Written to {output} and {html}." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        ("0,x", {}, "separated by commas"),
        ("0,0", {}, "there twice"),
        ("0,3", {"resume": True}, "--resume cannot be combined"),
        ("0,3", {"html": Path("page.html")}, "--html cannot be combined"),
        ("0,3", {"output": "out.txt"}, "expected a file ending in"),
        ("0,3", {"output": "out.jsonl", "long": True}, "--long needs a table"),
    ],
)
def test_thresholds_that_cannot_be_written(given: str, options: dict[str, Any], words: str, tmp_path: Path) -> None:
    output = tmp_path / options.pop("output", "out.csv")
    with pytest.raises(InputError, match=words):
        thresholds(output, given, **options)
    assert list(tmp_path.iterdir()) == []


# --- estimates --------------------------------------------------------------------------------------------------------


def estimate(output: Path | None, about: Opened, sample: int = 2, **options: Any) -> None:
    request = SearchOptions().request()
    estimate_here(LocalTable(output, SETTINGS, **options), about, None, request, sample)


def test_an_estimate_needs_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    estimate(None, opened())
    out = capsys.readouterr().out
    assert out.startswith("Estimated from 2 of 4 rows, with intervals of 95 %:\n  queries ")
    assert "kept for" not in out


def test_an_estimate_is_about_the_rows_that_would_be_explained(capsys: pytest.CaptureFixture[str]) -> None:
    estimate(None, opened(), limit=3)
    assert "from 2 of 3 rows" in capsys.readouterr().out


def test_a_run_goes_on_from_the_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = 0

    def predict(rows: Any) -> Any:
        nonlocal asked
        asked += len(rows)
        return rows[:, 0] - rows[:, 1]

    output = tmp_path / "out.csv"
    about = opened(predict)
    estimate(output, about)
    assert (tmp_path / "out.csv.part").exists()
    assert "with --resume" in " ".join(capsys.readouterr().out.split())
    of_sample = asked
    explain(output, about, resume=True)
    of_rest, asked = asked - of_sample, 0
    assert not (tmp_path / "out.csv.part").exists()
    explain(tmp_path / "whole.csv", about)
    assert 0 < of_rest < asked
    assert output.read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_an_estimate_refuses_what_the_run_would(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a file ending in"):
        estimate(tmp_path / "out.txt", opened())


def test_answers_that_followed_are_on_the_bill(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    explainer = Explainer(lambda rows: rows[:, 0] >= rows[:, 1], SPACE, share_answers=True)
    explain(tmp_path / "out.csv", Opened(explainer, FRAME, "python:mine:decide", "rows.csv"))
    assert explainer.shared_answers is not None
    assert explainer.shared_answers.followed > 0
    assert (
        f"{explainer.shared_answers.followed:,} answers followed from that on another row." in capsys.readouterr().out
    )

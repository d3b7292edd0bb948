"""Reports: everything is said, and what a table holds stays text."""

import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from flipset import Explainer, Feature, Space
from flipset.show.report import explanation_html, report, report_table
from tests.patience import PATIENCE

HOSTILE = "<script>alert(1)</script>"


def explainer() -> Explainer:
    table = pd.DataFrame(
        {"income": [10.0, 20.0, 30.0, 60.0], HOSTILE: [1.0, 5.0, 3.0, 2.0], "city": ["a", HOSTILE, "b", "c"]}
    )
    space = Space.from_frame(table, increasing=["income", HOSTILE], categorical=["city"])
    return Explainer(lambda rows: rows["income"] + rows[HOSTILE] * 4 + (rows["city"] == HOSTILE) * 30 >= 60, space)


def test_what_a_table_holds_stays_text() -> None:
    made = explainer()
    e = made.explain([10.0, 1.0, "a"])
    assert e.flipsets
    t = made.explain_table(pd.DataFrame({"income": [10.0], HOSTILE: [1.0], "city": [HOSTILE]}))
    pages = [
        report(e, asked=HOSTILE, model=HOSTILE, identity="sha256:0", space=made.space),
        report_table(t, asked=HOSTILE, model=HOSTILE, identity="sha256:0", groups=t.summary_by([HOSTILE])),
        e._repr_html_(),
        t._repr_html_(),
    ]
    for page in pages:
        assert "<script" not in page
        assert "&lt;script&gt;" in page


def test_a_report_says_what_was_found_and_how_to_replay_it() -> None:
    made = explainer()
    e = made.explain([10.0, 1.0, "a"])
    page = report(e, asked="row 0", model="model.ubj", identity="sha256:0", space=made.space)
    for word in ("Decision:", "Option", "Reasons", "Allowed ranges", "Proof", "flipset verify", "<svg"):
        assert word in page
    stuck = Explainer(lambda rows: rows[:, 0] > 99, Space([Feature("a", direction=+1, lower=0, upper=9)])).explain([1])
    assert "No allowed change leads to approval" in stuck._repr_html_()


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
def test_a_browser_shows_a_report_without_a_complaint(tmp_path: Path) -> None:
    made = explainer()
    e = made.explain([10.0, 1.0, "a"])
    page, picture = tmp_path / "report.html", tmp_path / "report.png"
    page.write_text(report(e, asked="row 0", model="m", identity="sha256:0", space=made.space), encoding="utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
    command = ["chromium", *options, "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'profile'}"]
    shot = [f"--screenshot={picture}", "--window-size=1000,1200", page.as_uri()]
    done = subprocess.run([*command, *shot], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert "CONSOLE" not in done.stderr
    assert picture.stat().st_size > 20_000


def test_the_ends_of_a_scale_have_labels_and_formats() -> None:
    levels = {0: "none", 1: "up to 500", 2: "500 or more"}
    space = Space(
        [
            Feature("savings", "ordinal", direction=+1, lower=0, upper=2, value_labels=levels),
            Feature("income", "integer", direction=+1, lower=0, upper=90_000, step=500, number_format="thousands"),
        ]
    )
    e = Explainer(lambda rows: rows[:, 0] / 2 + rows[:, 1] / 90_000 >= 0.9, space).explain([0, 20_000])
    html = "".join(explanation_html(e, space))
    assert ">none</text>" in html
    assert ">500 or more</text>" in html
    assert ">90,000</text>" in html

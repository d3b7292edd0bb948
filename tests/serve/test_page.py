"""The page in a real browser: what a person does, and that the answers are the library's.

The browser is the system's Chromium; where there is none, these tests are left out.
"""

import json
import re
import shutil
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from threading import Semaphore
from typing import Any

import pytest

from flipset import Explanation
from flipset.cli.opening import opened_privately
from flipset.serve import Served
from tests.patience import PATIENCE
from tests.ruled import ruled_explainer, table
from tests.serve.running import (
    COLUMNS,
    EXPLAINER,
    FRAME,
    Running,
    applications,
    approve,
    cells_of,
    explainer,
    running,
    serving_applications,
    touchy,
)

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here (Debian: apt-get install chromium)")

playwright = pytest.importorskip("playwright.sync_api")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving_applications() as where:
        yield where


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Person:
    """Somebody at the page. Complaints of the console, and requests to elsewhere, are kept."""

    def __init__(self, browser: Any, server: Running, **how: Any) -> None:
        self.context = browser.new_context(
            accept_downloads=True, **{"viewport": {"width": 1600, "height": 1000}, **how}
        )
        self.context.set_default_timeout(1_000 * PATIENCE)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type != "log" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda asked: self._elsewhere(asked.url, server.address))
        self.page.goto(server.entrance)
        self.page.wait_for_selector("tr[data-row]")
        self.page.locator("#progress", has_text=re.compile("^all")).wait_for()

    def _elsewhere(self, url: str, address: str) -> None:
        if not url.startswith((address, "blob:", "data:")):
            self.complaints.append(f"asked {url}")

    def open(self, row: int) -> None:
        self.page.get_by_role("searchbox").fill(f"file {row}")
        self.page.locator(f"tr[data-row='{row}']").click()
        self.page.get_by_role("heading", name=f"Row {row}", exact=True).wait_for()
        self.settle()

    def settle(self) -> None:
        """Wait until the answer on the page is the one to the question on the page."""
        self.page.locator("#case:not([data-asking])").wait_for(state="attached")

    def counts(self, rows: int) -> None:
        """Wait until the table says that it has so many rows."""
        words = f"{rows:,} row{'s' * (rows != 1)}"
        self.page.locator(".count", has_text=re.compile(f"^{words}$")).wait_for()

    def options(self) -> list[list[str]]:
        cards = self.page.locator(".card").all()
        return sorted(sorted(json.loads(card.get_attribute("data-names"))) for card in cards)

    def reasons(self) -> list[list[str]]:
        return sorted(
            sorted(json.loads(one.get_attribute("data-names"))) for one in self.page.locator(".reasons li").all()
        )


@pytest.fixture
def person(browser: Any, server: Running) -> Iterator[Person]:
    person = Person(browser, server)
    yield person
    assert person.complaints == []
    person.context.close()


def explain(row: int, **limits: Any) -> Explanation:
    values = limits.pop("values", {})
    e: Explanation = EXPLAINER.explain(cells_of(row) | values, **limits)
    return e


def of_size(size: int) -> int:
    return next(i for i in range(4, len(FRAME)) if explain(i).size == size and not explain(i).decision)


def same(person: Person, e: Explanation) -> None:
    assert person.options() == sorted(sorted(names) for names in e.flipsets)
    assert person.reasons() == sorted(sorted(names) for names in e.reasons)
    assert person.page.locator("#decision").inner_text() == e.outcome
    for one in e.counterfactuals:
        for change in one.changes:
            text = str(change)
            assert person.page.locator(".card", has_text=text).count() >= 1, text


def test_filter_open_lock_move_and_come_back(person: Person) -> None:
    page = person.page
    page.get_by_role("button", name="declined", exact=True).click()
    page.get_by_label("Changes needed").select_option("1")
    expected = [i for i in range(len(FRAME)) if explain(i).size == 1 and not explain(i).decision]
    person.counts(len(expected))
    row = expected[0]
    page.locator("tr[data-row]").first.click()
    page.get_by_role("heading", name=f"Row {row}", exact=True).wait_for()
    person.settle()
    same(person, explain(row))
    locked = explain(row).flipsets[0][0]
    page.get_by_role("button", name=f"Hold {locked} fixed").click()
    page.get_by_role("button", name=f"Hold {locked} fixed", pressed=True).wait_for()
    person.settle()
    same(person, explain(row, fixed=[locked]))
    slider = page.get_by_role("slider", name="savings", exact=True)
    slider.focus()
    for _ in range(5):
        slider.press("ArrowRight")
    person.settle()
    moved = int(FRAME["savings"].iloc[row]) + 5
    assert page.get_by_label("savings, exactly").input_value() == str(moved)
    same(person, explain(row, fixed=[locked], values={"savings": moved}))
    page.get_by_label("Largest number of changes").select_option("1")
    person.settle()
    same(person, explain(row, fixed=[locked], values={"savings": moved}, max_changes=1))
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    page.get_by_role("heading", name=f"Row {row}", exact=True).wait_for()
    person.settle()
    same(person, explain(row, fixed=[locked], values={"savings": moved}, max_changes=1))
    page.get_by_role("button", name="Reset all").click()
    person.settle()
    same(person, explain(row))


def test_a_row_that_cannot_be_explained_shows_no_others_answer(browser: Any) -> None:
    with running(Served(explainer(touchy), FRAME, "approve", "applications.csv")) as server:
        person = Person(browser, server)
        person.open(of_size(1))
        assert person.page.locator(".card").count() > 0
        person.page.evaluate("location.hash = 'row=5'")
        person.page.get_by_role("heading", name="Row 5", exact=True).wait_for()
        person.settle()
        assert "not this age" in person.page.locator("#case").inner_text()
        assert person.page.locator(".card").count() == 0
        person.context.close()


def test_no_option_with_so_few_changes_is_not_called_no_option(person: Person) -> None:
    person.open(of_size(2))
    person.page.get_by_label("Largest number of changes").select_option("1")
    person.page.get_by_text("No allowed single change leads to approval").first.wait_for()
    assert person.page.get_by_text("No allowed change leads to approval").count() == 0


def test_an_address_edited_by_hand_breaks_nothing(person: Person, server: Running) -> None:
    for mess in ("row=zzz", "row=1&values=5&fixed=3&bounds=[1]&most=x&query=7&view=none", "row=99999999"):
        person.page.goto(f"{server.address}/#{mess}")
        person.page.reload()
        person.page.locator("tr[data-row]").first.wait_for(state="attached")
        person.settle()
    assert all("400 (Bad Request)" in said for said in person.complaints)
    person.complaints.clear()


def test_a_slider_is_dragged(person: Person) -> None:
    row = of_size(1)
    person.open(row)
    box = person.page.get_by_role("slider", name="income", exact=True).bounding_box()
    middle = box["y"] + box["height"] / 2
    person.page.mouse.move(box["x"] + box["width"] * 0.3, middle)
    person.page.mouse.down()
    person.page.mouse.move(box["x"] + box["width"] * 0.97, middle, steps=6)
    person.page.mouse.up()
    person.page.get_by_text("changed", exact=True).wait_for()
    person.settle()
    income = int(person.page.get_by_label("income, exactly").input_value())
    assert income > 80
    same(person, explain(row, values={"income": income}))


def test_a_range_is_narrowed(person: Person) -> None:
    row = of_size(1)
    person.open(row)
    item = person.page.locator("[data-feature=income]")
    item.get_by_text("range").click()
    item.get_by_label("income, at most").fill("50")
    item.get_by_label("income, at most").press("Enter")
    person.settle()
    same(person, explain(row, bounds={"income": (None, 50)}))
    item.get_by_label("income, at most").fill("1")
    item.get_by_label("income, at most").press("Enter")
    person.page.get_by_role("alert").filter(has_text="income").wait_for()  # said, and the last answer stays
    assert person.page.locator(".card").count() > 0
    assert all("400 (Bad Request)" in said for said in person.complaints)  # as browsers put it
    person.complaints.clear()


def test_two_features_move_along_their_frontier(person: Person) -> None:
    row = of_size(2)
    person.open(row)
    person.page.get_by_role("button", name="Show all combinations").first.click()
    handle = person.page.get_by_role("slider", name=re.compile("Smallest values of"))
    handle.wait_for()
    a, b = re.search("Smallest values of (.+) and (.+)", handle.get_attribute("aria-label")).groups()  # type: ignore[union-attr]
    points = EXPLAINER.frontier(cells_of(row), [a, b]).points
    handle.press("Home")
    for point in points[:4]:
        text = handle.get_attribute("aria-valuetext")
        assert re.findall(r"(?:least|most) (\S+?)(?:,|$)", text) == [f"{value:g}" for value in point]
        handle.press("ArrowRight")
    box = person.page.locator("svg.chart").bounding_box()
    person.page.mouse.move(box["x"] + 60, box["y"] + 30)
    person.page.mouse.down()
    person.page.mouse.move(box["x"] + box["width"] - 20, box["y"] + box["height"] - 40, steps=8)
    person.page.mouse.up()
    at = int(handle.get_attribute("aria-valuenow"))
    assert at > 0
    person.page.get_by_role("button", name="Try these values").click()
    person.page.get_by_text("changed", exact=True).wait_for()
    person.settle()
    same(person, explain(row, values={a: points[at][0], b: points[at][1]}))
    assert person.page.locator("#decision").inner_text() != explain(row).outcome


def test_an_option_highlights_the_features_it_shares_with_reasons(person: Person) -> None:
    row = of_size(2)
    person.open(row)
    card = person.page.locator(".card").first
    card.focus()
    names = json.loads(card.get_attribute("data-names"))
    for reason in person.page.locator(".reasons li").all():
        lit = {one.inner_text() for one in reason.locator(".name.met").all()}
        assert lit == set(names) & set(json.loads(reason.get_attribute("data-names")))
        assert lit  # every option shares a feature with every reason


def test_the_proof_is_replayed_and_downloaded(person: Person, tmp_path: Path) -> None:
    row = of_size(2)
    person.open(row)
    person.page.get_by_role("button", name="Replay the proof").click()
    person.page.get_by_text("Confirmed: the model gave the same answers").wait_for()
    e = explain(row)
    assert person.page.locator("#replay tbody tr").count() == len(e.proof.questions)
    with person.page.expect_download() as got:
        person.page.get_by_role("button", name="Download JSON").click()
    text = Path(got.value.path()).read_text(encoding="utf-8")
    assert EXPLAINER.verify(Explanation.from_json(text))
    with person.page.expect_download() as got:
        person.page.get_by_role("button", name="Download report").click()
    assert f"row {row} of applications.csv" in Path(got.value.path()).read_text(encoding="utf-8")


def test_the_whole_table_filters_the_table(person: Person) -> None:
    person.page.get_by_role("button", name="Whole table").click()
    summary = EXPLAINER.explain_table(FRAME[COLUMNS]).summary()
    person.page.get_by_role("button", name=re.compile("^2 changes")).click()
    person.counts(summary.declined.sizes[2])
    person.page.get_by_role("button", name="in a reason").click()
    person.page.locator("#whole").get_by_role("button", name=re.compile("^late")).click()
    declined = [i for i in range(len(FRAME)) if not explain(i).decision]
    person.counts(sum(any("late" in names for names in explain(i).reasons) for i in declined))
    person.page.get_by_role("button", name=re.compile("Stop filtering by late")).click()
    person.counts(len(declined))
    person.page.get_by_label("Compare by").select_option("region")
    person.page.locator("#whole").get_by_role("button", name="south").first.click()
    south = [region == "south" for region in FRAME["region"]]
    person.counts(sum(south[i] for i in declined))
    person.page.get_by_label("Reference group").select_option("south")
    person.page.locator("#whole", has_text="to the group “south”").wait_for()
    person.page.locator("#whole").get_by_role("button", name="approved rows").click()
    person.page.locator("#whole").get_by_role("button", name="south").first.click()
    person.counts(sum(south) - sum(south[i] for i in declined))


def test_the_keyboard_is_enough(person: Person) -> None:
    page = person.page
    page.get_by_role("button", name="score").focus()
    page.keyboard.press("Enter")
    page.locator("th[aria-sort=ascending]", has_text="score").wait_for()
    lowest = min(range(len(FRAME)), key=lambda i: explain(i).score)
    page.locator(f"tr[data-row='{lowest}'][data-i='0']").wait_for()
    page.locator("tr[tabindex='0']").focus()
    for key in ("End", "Home", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    page.locator("tr[data-i='2']:focus").wait_for()
    third = int(page.locator("tr:focus").get_attribute("data-row"))
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=f"Row {third}", exact=True).wait_for()
    scores = sorted((explain(i).score, i) for i in range(len(FRAME)))
    assert third == scores[2][1]


def test_a_cell_with_markup_stays_text(person: Person) -> None:
    page = person.page
    page.get_by_role("searchbox").fill("onerror")
    person.counts(1)
    assert page.locator("tr[data-row] td", has_text="<b>bold</b>").count() == 1
    assert page.locator("tr[data-row] b").count() == 0
    assert page.title() == "flipset: approve"


WIDTHS = [(360, 740), (1280, 800), (3840, 2160)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", WIDTHS, ids=lambda size: str(size[0]))
def test_nothing_keeps_anybody_out(browser: Any, server: Running, size: tuple[int, int], scheme: str) -> None:
    """No serious complaint of axe-core, nothing wider than the window, in every view."""
    from axe_playwright_python.sync_playwright import Axe

    viewport = {"width": size[0], "height": size[1]}
    person = Person(browser, server, viewport=viewport, color_scheme=scheme, bypass_csp=True)
    for view in ("table", "case", "whole"):
        person.page.goto(f"{server.address}/#view={view}&row={of_size(2)}")
        person.page.reload()
        person.page.locator("#case-title", has_text="Row").wait_for(state="attached")
        person.page.locator(".barlist").first.wait_for(state="attached")
        person.settle()
        if view == "case":
            person.page.get_by_role("button", name="Show all combinations").first.click()
            person.page.locator("svg.chart").wait_for()
            person.page.get_by_role("button", name="Replay the proof").click()
            person.page.get_by_text("Confirmed").wait_for()
        found = Axe().run(person.page).response["violations"]
        serious = [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]
        assert serious == [], view
        assert person.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
    assert person.complaints == []
    person.context.close()


def test_a_hundred_thousand_rows_are_there_at_once(browser: Any) -> None:
    n = 100_000
    with running(Served(explainer(n=n), applications(n), "approve", "large.csv")) as server:
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        context.set_default_timeout(1_000 * PATIENCE)
        page = context.new_page()
        page.goto(server.entrance)
        page.locator("tr[data-row='0']").wait_for()
        page.locator("#scroll").evaluate("element => { element.scrollTop = element.scrollHeight; }")
        page.locator(f"tr[data-row='{n - 1}']").wait_for()
        assert page.locator("#scroll tbody tr").count() < 100
        page.get_by_role("searchbox").fill("file 77777")
        page.locator("tr[data-row='77777']").click()
        page.get_by_role("heading", name="Row 77777", exact=True).wait_for()
        context.close()


def test_c11_the_token_leaves_the_address_and_is_in_no_cookie(person: Person) -> None:
    assert "token" not in person.page.url
    assert person.context.cookies() == []
    person.page.reload()
    person.page.wait_for_selector("tr[data-row]")
    assert person.page.evaluate("Object.keys(localStorage).length") == 0


def test_c11_a_copied_link_opens_in_a_new_tab_beside_the_first(person: Person) -> None:
    row = of_size(1)
    person.open(row)
    tab = person.context.new_page()
    tab.goto(person.page.url)
    tab.get_by_role("heading", name=f"Row {row}", exact=True).wait_for()


def test_c11_without_the_token_the_page_says_where_it_is(browser: Any, server: Running) -> None:
    context = browser.new_context()
    context.set_default_timeout(1_000 * PATIENCE)
    page = context.new_page()
    page.goto(server.address)
    page.get_by_role("alert").filter(has_text="Open the address that the command printed").wait_for()
    page.goto(server.entrance)  # the printed address, in the same tab
    page.wait_for_selector("tr[data-row]")
    context.close()


def test_c11_the_private_file_opens_the_page(browser: Any, server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    context = browser.new_context()
    context.set_default_timeout(1_000 * PATIENCE)
    with opened_privately(server.entrance):
        page = context.new_page()
        page.goto(opened[0])
        page.wait_for_selector("tr[data-row]")
        assert page.url.startswith(server.address)
    context.close()


def test_c11_the_background_is_stopped_by_a_button(browser: Any) -> None:
    permits = Semaphore(3)

    def slow(rows: Any) -> Any:
        assert permits.acquire(timeout=PATIENCE)
        return approve(rows)

    n = 2_000
    with running(Served(explainer(slow, n), applications(n), "approve", "applications.csv")) as server:
        context = browser.new_context()
        context.set_default_timeout(1_000 * PATIENCE)
        page = context.new_page()
        page.goto(server.entrance)
        page.get_by_role("button", name="Stop explaining all rows").click()
        page.get_by_role("button", name="Explain all rows").wait_for()
        permits.release(1_000_000)
        page.get_by_role("button", name="Explain all rows").click()
        page.locator("#progress", has_text=re.compile("^all")).wait_for()
        assert page.locator("#background").is_hidden()
        context.close()


def test_computed_columns_follow_and_broken_rules_are_told(browser: Any) -> None:
    frame = table().assign(note=[f"file {i}" for i in range(10)])
    with running(Served(ruled_explainer(), frame)) as server:
        person = Person(browser, server)
        page = person.page
        person.open(8)
        first = page.locator(".card").first
        assert first.locator(".follows").inner_text() == "(then debt-to-income ratio: 0.75 → 0)"
        assert "late_90 <= late_60; satisfactory <= total" in page.locator("#rules").inner_text()
        assert page.locator("#broken").count() == 0
        for name in ("dti", "age"):
            computed = page.locator(f"[data-feature={name}]")
            assert "computed: " in computed.inner_text()
            assert computed.locator("input, button, select").count() == 0
        for name, value in (("income", "50"), ("years", "5"), ("late_90", "5")):
            page.get_by_label(f"{name}, exactly").fill(value)
            page.get_by_label(f"{name}, exactly").press("Enter")
            person.settle()
        page.locator("#broken").wait_for()
        assert page.locator("#broken").inner_text().endswith("worse: late_90 <= late_60.")
        values = [page.locator(f"[data-feature={name}] .computed").inner_text() for name in ("dti", "age")]
        assert values == ["0.6", "34"]
        assert page.locator("[data-feature=dti] .was").inner_text() == "was 0.75"
        assert person.complaints == []
        person.context.close()

"""Pieces of HTML: what is passed in stays text."""

from flipset.show.html import facts, fragment, page, table

HOSTILE = "<script>alert('1')</script>&"


def test_everything_is_escaped() -> None:
    for made in (facts([(HOSTILE, HOSTILE)]), table([HOSTILE], [[HOSTILE]]), page(HOSTILE, [])):
        assert "<script" not in made
        assert "&lt;script&gt;" in made


def test_a_page_is_whole_and_loads_nothing() -> None:
    made = page("one", ["<p>text</p>"])
    assert made.startswith("<!doctype html>")
    assert made.endswith("</html>\n")
    assert "<p>text</p>" in made
    assert "http" not in made
    assert fragment(["<p>text</p>"]).endswith("<p>text</p></div>")


def test_a_percentage_is_not_broken_across_lines() -> None:
    assert "<td>50&nbsp;%</td>" in table(["score"], [["50 %"]])

"""Reports to be read, printed and filed: one HTML file each, with no script and nothing fetched from elsewhere."""

from __future__ import annotations

import json
from html import escape
from math import inf
from typing import TYPE_CHECKING, Any

from flipset.plural import count
from flipset.results.table import summarize, wide_columns
from flipset.results.written import dump
from flipset.show.text import needed_score, proved, tell_summary
from flipset.values.change import show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flipset.results.data import ExplanationData
    from flipset.results.summary import Summary
    from flipset.results.table import Results
    from flipset.space import Feature, Space
    from flipset.values.change import Change, Counterfactual

# Blue and orange that are told apart by everybody, and in print by their shades.
STYLE = """
.flipset{font:15px/1.5 system-ui,sans-serif;color:#1c2430;max-width:60rem;margin:0 auto}
.flipset h1{font-size:1.6rem;margin:.2em 0}.flipset h2{font-size:1.15rem;margin:1.6em 0 .4em}
.flipset table{border-collapse:collapse;margin:.4em 0}.flipset td,.flipset th{padding:.25em .7em;text-align:left;
border-bottom:1px solid #d5dbe3;vertical-align:top}.flipset th{font-weight:600}
.flipset .decision{font-size:1.25rem;margin:.3em 0}.flipset .yes{color:#0b5c9e}.flipset .no{color:#a34700}
.flipset .way{border:1px solid #d5dbe3;border-radius:6px;padding:.5em .9em;margin:.6em 0;break-inside:avoid}
.flipset .way h3{font-size:1rem;margin:0 0 .3em}.flipset .muted{color:#5a6675}.flipset code{font-size:.9em}
.flipset pre{white-space:pre-wrap;word-break:break-all;background:#f4f6f9;padding:.8em;font-size:.8em}
.flipset svg{display:block;max-width:100%;height:auto}
@media print{.flipset{max-width:none;font-size:11pt}.flipset details{display:block}}
"""


def report(e: ExplanationData, *, asked: str, model: str, identity: str, space: Space) -> str:
    """Write the report on one explanation: what was asked of which model, the answer, and the proof."""
    proof = json.dumps(dump(e), ensure_ascii=False)
    body = [
        "<h1>Why this decision, and the least that turns it</h1>",
        _facts([("Asked about", asked), ("Model", model), ("Identity of the model", identity)]),
        *explanation_html(e, space),
        "<h2>The row</h2>",
        _table(("column", "value", "may it change?"), [(n, _show(v), _may(e, n)) for n, v in e.row.items()]),
        "<h2>What may change, and how far</h2>",
        _space_table(space),
        "<h2>Proof</h2>",
        f"<p>{escape(proved(e))} Anybody can check this without the model, by combinatorics, and confirm it with "
        f"{count(len(e.proof.questions), 'question')}: save the text below as <code>explanation.json</code> "
        f"and run <code>flipset verify explanation.json {escape(model)}</code>.</p>",
        f"<details><summary>The explanation with its proof, as JSON</summary><pre>{escape(proof)}</pre></details>",
    ]
    return _page("flipset: one decision", body)


def report_table(
    found: Results, *, asked: str, model: str, identity: str, groups: Mapping[Any, Summary] | None = None
) -> str:
    """Write the report on a table of explanations."""
    body = [
        "<h1>The least that turns each decision</h1>",
        _facts([("Asked about", asked), ("Model", model), ("Identity of the model", identity)]),
        *table_html(found, groups or {}),
    ]
    return _page("flipset: a table of decisions", body)


def explanation_html(e: ExplanationData, space: Space | None = None) -> Iterator[str]:
    """Yield the answer: decision, ways out, reasons, and which way out breaks which reason."""
    word = "yes" if e.decision else "no"
    yield (
        f'<p class="decision">Decision: <strong class="{word}">{word}</strong> '
        f'<span class="muted">(score {e.score:.4g}, yes needs {needed_score(e.threshold)})</span></p>'
    )
    yield f"<p>{escape(proved(e))}</p>"
    ways = sorted(e.counterfactuals, key=lambda one: one.cost)
    if ways:
        yield "<h2>Ways out, cheapest first</h2>"
        for n, one in enumerate(ways, start=1):
            yield _way(n, one, space)
    if any(e.reasons):
        yield "<h2>Reasons</h2><p>While all features of one line stay as they are, nothing else helps. Every way out "
        yield "breaks every line: the dots show with what.</p>"
        yield _duality(e)
    if e.contradictions:
        yield "<h2>Contradictions</h2><p>The first row is turned; the second, at least as far, is not.</p>"
        yield _table(("turned", "not turned"), [(_row(a), _row(b)) for a, b in e.contradictions])


def table_html(found: Results, groups: Mapping[Any, Summary], most: int = 200) -> Iterator[str]:
    """Yield the summary, groups side by side, and the first rows."""
    yield f"<pre>{escape(chr(10).join(tell_summary(summarize(found))))}</pre>"
    if groups:
        yield "<h2>By group</h2>"
        yield _table(
            ("group", "rows", "no way out", "mean changes"),
            [
                (show(g), f"{s.rows:,}", f"{s.no_way_out:.1%}", f"{s.mean_size:.2f}" if s.sizes else "")
                for g, s in groups.items()
            ],
        )
    yield f"<h2>{'The first ' + str(most) if len(found) > most else 'All'} rows</h2>"
    wide = wide_columns(found, ())  # no new values: the advice says them
    columns = ["decision", "score", "size", "ways", "advice", *(["error"] if any(wide["error"]) else [])]
    rows = list(zip(*(wide[name] for name in columns), strict=True))[:most]
    shown = [(str(i), *(_show(value) for value in row)) for i, row in enumerate(rows)]
    yield _table(("row", *columns), shown)


# --- pieces -----------------------------------------------------------------------------------------------------------


def _page(title: str, body: Sequence[str]) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>body{{margin:1.5rem}}{STYLE}</style></head>"
        f'<body><main class="flipset">\n{chr(10).join(body)}\n</main></body></html>\n'
    )


def fragment(body: Iterator[str]) -> str:
    """Return a piece of HTML for a notebook."""
    return f'<div class="flipset"><style>{STYLE}</style>{"".join(body)}</div>'


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts)
    return f"<table>{rows}</table>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _way(n: int, one: Counterfactual, space: Space | None) -> str:
    bound = "" if one.cost_at_least == one.cost else f", proved to be at least {one.cost_at_least:.3g}"
    changes = "".join(_change(change, space) for change in one.changes)
    return (
        f'<div class="way"><h3>{n}. {escape(" and ".join(one.flipset))} '
        f'<span class="muted">cost {one.cost:.3g}{bound}; score {one.score:.4g}</span></h3>{changes}</div>'
    )


def _change(change: Change, space: Space | None) -> str:
    feature = space[change.feature] if space is not None and change.feature in space.names else None
    picture = "" if feature is None else _scale(change, feature, space)
    return f"<p>{escape(str(change))}</p>{picture}"


def _scale(change: Change, feature: Feature, space: Space | None) -> str:
    """Draw a change on its feature's scale, over where the population lies."""
    ends = [change.before, change.after, feature.lower, feature.upper]
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in ends):
        return ""
    low, high = min(ends), max(ends)
    if low == high:
        return ""

    def x(value: Any) -> float:
        return round(20 + 560 * _share(value, low, high), 1)

    before, after = x(change.before), x(change.after)
    tip = 6 if after > before else -6
    return (
        f'<svg viewBox="0 0 600 56" width="600" height="56" role="img" aria-label="{escape(str(change), quote=True)}">'
        f"{_population(feature, space, low, high)}"
        '<line x1="20" y1="38" x2="580" y2="38" stroke="#8592a3"/>'
        f'<line x1="{before}" y1="38" x2="{after - tip}" y2="38" stroke="#a34700" stroke-width="4"/>'
        f'<polygon points="{after},38 {after - tip},32 {after - tip},44" fill="#a34700"/>'
        f'<circle cx="{before}" cy="38" r="5" fill="#0b5c9e"/>'
        f'<text x="20" y="54" font-size="11" fill="#5a6675">{escape(_show(low))}</text>'
        f'<text x="580" y="54" font-size="11" fill="#5a6675" text-anchor="end">{escape(_show(high))}</text></svg>'
    )


def _share(value: float, low: float, high: float) -> float:
    """Return which share of the range lies below a value; bounds near the largest float have no difference."""
    if high - low == inf:
        value, low, high = value / 2, low / 2, high / 2
    return float((value - low) / (high - low))


def _population(feature: Feature, space: Space | None, low: float, high: float, bins: int = 56) -> str:
    seen = [] if space is None else space.seen(feature.name)
    if not seen:
        return ""
    counts = [0] * bins
    for value in seen:
        if low <= value <= high:
            counts[min(bins - 1, int(_share(value, low, high) * bins))] += 1
    top = max(counts) or 1
    return "".join(
        f'<rect x="{20 + i * 10}" y="{38 - 32 * n / top:.1f}" width="9" height="{32 * n / top:.1f}" fill="#d5dbe3"/>'
        for i, n in enumerate(counts)
        if n
    )


def _duality(e: ExplanationData) -> str:
    """Draw which feature of each way out breaks each reason."""
    ways = [set(names) for names in e.flipsets[:12]]
    head = ["reason", *(" + ".join(names) for names in e.flipsets[:12])]
    rows = []
    for reason in e.reasons:
        dots = ["● " + ", ".join(sorted(way & set(reason))) for way in ways]
        rows.append([", ".join(reason), *dots])
    return _table(head, rows)


def _space_table(space: Space) -> str:
    rows = []
    for feature in space.features:
        way = {1: "more raises the score", -1: "more lowers the score", None: "no direction"}[feature.direction]
        bounds = "" if feature.lower is None else f"{_show(feature.lower)} to {_show(feature.upper)}"
        options = ", ".join(map(_show, feature.options))
        rows.append((feature.name, "held fixed" if feature.fixed else way, bounds or options))
    return _table(("column", "direction", "from, to"), rows)


def _may(e: ExplanationData, column: str) -> str:
    return "held fixed" if column in e.held_fixed else ""


def _row(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_show(value)}" for name, value in row.items())


def _show(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)

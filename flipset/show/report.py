"""HTML for people: reports on one explanation or a table, and what a notebook shows.

A report is one file that can be printed and filed. It has no script, loads nothing from elsewhere, and escapes
everything that comes from a table.
"""

from __future__ import annotations

import json
from html import escape
from math import inf
from typing import TYPE_CHECKING, Any

from flipset.errors import FlipsetError
from flipset.plural import count
from flipset.results.data import ExplanationData
from flipset.results.table import feature_labels, summarize, wide_columns
from flipset.results.to_json import dump
from flipset.show.change_lines import consequence_text
from flipset.show.group_tables import groups_html
from flipset.show.html import facts, page, table
from flipset.show.more_options import LARGER_TITLE, curve_end_text, larger_end_text
from flipset.show.summaries import tell_summary
from flipset.show.text import (
    REASONS_TITLE,
    broken_rules,
    headline,
    option_facts,
    proved,
    reasons_note,
    told_rules,
)
from flipset.show.words import joined, labels, losing_text, score_text, scores_text
from flipset.space.row_id import case_text, cell_text, is_known
from flipset.values.change import show, show_as, show_brief

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flipset.results.groups import GroupSummaries
    from flipset.results.table import Results
    from flipset.space import Feature, Space
    from flipset.space.row_id import RowId
    from flipset.space.words import FeatureWords
    from flipset.values.change import Change, Counterfactual


def report(e: ExplanationData, *, asked: str, model: str, identity: str, space: Space) -> str:
    """Return the report on one explanation: the row, the model, the answer, and the proof."""
    # The whole explanation is in the report, because the report may outlive the files beside it.
    proof = json.dumps(dump(e), ensure_ascii=False)
    confirm = count(len(e.proof.questions), "query")
    case = [("Case", case_text(e.id))] if is_known(e.id) and e.id is not None else []
    body = [
        "<h1>One decision, explained</h1>",
        facts([*case, ("Row", asked), ("Model", model), ("Model identity", identity)]),
        *explanation_html(e, space),
        "<h2>The row</h2>",
        table(
            ("column", "value", ""), [(_column(space, n), _cell(v, space, n), _held(e, n)) for n, v in e.row.items()]
        ),
        "<h2>Allowed ranges</h2>",
        _space_table(space),
        *_rules_html(e),
        "<h2>Proof</h2>",
        "<p>Anyone can check the proof without the model, and confirm it against the model "
        f"with {confirm}. Save the text below as <code>explanation.json</code> and run "
        f"<code>flipset verify explanation.json {escape(model)}</code>.</p>",
        f"<details><summary>The explanation and its proof as JSON</summary><pre>{escape(proof)}</pre></details>",
    ]
    return page(f"flipset: {case[0][1] if case else 'one decision'}", body)


def report_table(
    results: Results,
    *,
    asked: str,
    model: str,
    identity: str,
    groups: GroupSummaries | None = None,
    by: FeatureWords | None = None,
    ids: Sequence[RowId] | None = None,
) -> str:
    """Return the report on a table of explanations; `by` are the words of the column that makes the groups."""
    body = [
        "<h1>A table of decisions, explained</h1>",
        facts([("Table", asked), ("Model", model), ("Model identity", identity)]),
        *table_html(results, groups, by, ids=ids),
    ]
    return page("flipset: a table of decisions", body)


def explanation_html(e: ExplanationData, space: Space | None = None) -> Iterator[str]:
    """Yield the answer: decision, proof in words, options, reasons, and which option changes which reason."""
    css = "approved" if e.is_favorable else "declined"
    yield (
        f'<p class="decision">Decision: <strong class="{css}">{escape(e.outcome)}</strong> '
        f'<span class="muted">({escape(scores_text(e))})</span></p>'
    )
    if e.flipsets:
        yield f"<p>{escape(headline(e))}.</p>"
    yield f"<p>{escape(proved(e))}</p>"
    if e.rules is not None and e.rules.broken:
        yield f"<p>{escape(broken_rules(e.rules.broken))}</p>"
    options = e.counterfactuals
    if options:
        yield f"<h2>{escape(_options_title(e))}</h2>"
        if space is not None:
            yield '<p class="muted">Dot: the value in the row. Arrow: the value to reach. Bars: the population.</p>'
        for n, one in enumerate(options, start=1):
            yield _option(f"{n}.", one, e, space)
    yield from _more_options(e, space)
    if any(e.reasons):
        yield f"<h2>Reasons</h2><p>{REASONS_TITLE}. Every option therefore changes at least one feature of every "
        yield "reason; the table shows which.</p>"
        yield _shared_features(e)
        if note := reasons_note(e):
            yield f'<p class="muted">{escape(note)}</p>'
    if e.contradictions:
        other = e.words.decision.outcome(not e.decision)
        yield "<h2>Contradictions</h2><p>In each pair, the second row is at least as good in every direction as the "
        yield f"first. The model nevertheless says “{escape(other)}” only to the first.</p>"
        yield table(("first row", "second row"), [(_row(a), _row(b)) for a, b in e.contradictions])


def _answer(e: ExplanationData) -> str:
    """Say the answer in a cell: the cheapest option, or what would lose a favorable decision."""
    if not e.counterfactuals:
        return headline(e)
    option = str(e.counterfactuals[0])
    return f"would {losing_text(e)}: {option}" if e.is_favorable else option


def _options_title(e: ExplanationData) -> str:
    one = len(e.counterfactuals) == 1
    if e.is_favorable:
        losing = losing_text(e)
        return f"What would {losing}{'' if one else ', closest first'}"
    return "Option" if one else "Options, cheapest first"


TABLE_HEADS = {"size": "changes", "ways": "options", "advice": "cheapest option"}
"""Names for people of columns that a table of explanations has."""


def table_html(
    results: Results,
    groups: GroupSummaries | None = None,
    by: FeatureWords | None = None,
    most: int = 200,
    ids: Sequence[RowId] | None = None,
) -> Iterator[str]:
    """Yield the summary, the groups side by side, and the first rows."""
    summary = tell_summary(summarize(results), labels=feature_labels(results))
    yield f"<pre>{escape(chr(10).join(summary))}</pre>"
    if groups:
        yield f"<h2>Groups{'' if by is None else f' by {escape(by.label)}'}</h2>"
        yield from groups_html(groups, by)
    yield f"<h2>{f'The first {most:,}' if len(results) > most else 'All'} rows</h2>"
    first = results[:most]
    # Only the rows that are shown: the table may have a million.
    wide = wide_columns(first, ())  # the text of the cheapest option has the new values
    for i, one in enumerate(first):
        if isinstance(one, ExplanationData):
            wide["decision"][i], wide["score"][i] = one.outcome, score_text(one.score, one)
            wide["advice"][i] = _answer(one)
    has_errors = any(str(one) for one in results if isinstance(one, FlipsetError))
    columns = ["decision", "score", "size", "ways", "advice", *(["error"] if has_errors else [])]
    rows = zip(*(wide[name] for name in columns), strict=True)
    named = [() if ids is None else tuple(cell_text(cell) for cell in ids[i].values()) for i in range(len(first))]
    shown = [
        (str(i), *named[i], *("" if value is None else show_brief(value) for value in row))
        for i, row in enumerate(rows)
    ]
    heads = ("row", *(ids[0] if ids else ()), *(TABLE_HEADS.get(name, name) for name in columns))
    yield table(heads, shown)


# --- pieces -----------------------------------------------------------------------------------------------------------


def _more_options(e: ExplanationData, space: Space | None) -> Iterator[str]:
    """Yield larger options, and the cheapest one by the number of changes."""
    if e.larger_end is not None:
        yield f"<h2>Larger options</h2><p>{LARGER_TITLE}.</p>"
        for one in e.larger:
            yield _option("+", one, e, space)
        yield f"<p>{escape(larger_end_text(e))}</p>"
    if e.curve:
        yield "<h2>The cheapest option by the number of changes</h2>"
        rows = [
            (f"at most {point.changes:,}", _lines(point.counterfactual), option_facts(point.counterfactual, e))
            for point in e.curve
        ]
        yield table(("changes", "option", "cost"), rows)
        yield f"<p>{escape(curve_end_text(e))}</p>"


def _lines(one: Counterfactual) -> str:
    """Return an option as lines of a cell."""
    return "\n".join([str(one), *map(consequence_text, one.consequences)])


def _option(mark: str, one: Counterfactual, e: ExplanationData, space: Space | None) -> str:
    changes = "".join(_change(change, space) for change in one.changes)
    changes += "".join(f'<p class="muted">{escape(consequence_text(each))}</p>' for each in one.consequences)
    return (
        f'<div class="option"><h3>{mark} {escape(joined(labels(e.words, one.flipset)))} '
        f'<span class="muted">{escape(option_facts(one, e)).replace(" %", "&nbsp;%")}</span></h3>{changes}</div>'
    )


def _change(change: Change, space: Space | None) -> str:
    feature = space[change.feature] if space is not None and change.feature in space.names else None
    picture = "" if feature is None else _scale(change, feature, space)
    return f"<p>{escape(str(change))}</p>{picture}"


def _scale(change: Change, feature: Feature, space: Space | None) -> str:
    """Draw a change on the scale of its feature, above a histogram of the population."""
    ends = [change.before, change.after, feature.lower, feature.upper]
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in ends):
        return ""
    # The row may lie outside of the allowed range, and must be on the picture all the same.
    low, high = min(ends), max(ends)
    if low == high:
        return ""

    def x(value: Any) -> float:
        return round(20 + 560 * _share(value, low, high), 1)

    first, last = (escape(show_as(end, feature.words, brief=True)) for end in (low, high))
    before, after = x(change.before), x(change.after)
    tip = 6 if after > before else -6
    return (
        f'<svg viewBox="0 0 600 56" width="600" height="56" role="img" aria-label="{escape(str(change), quote=True)}">'
        f"{_population(feature, space, low, high)}"
        '<line x1="20" y1="38" x2="580" y2="38" stroke="#8592a3"/>'
        f'<line x1="{before}" y1="38" x2="{after - tip}" y2="38" stroke="#a34700" stroke-width="4"/>'
        f'<polygon points="{after},38 {after - tip},32 {after - tip},44" fill="#a34700"/>'
        f'<circle cx="{before}" cy="38" r="5" fill="#0b5c9e"/>'
        f'<text x="20" y="54" font-size="11" fill="#5a6675">{first}</text>'
        f'<text x="580" y="54" font-size="11" fill="#5a6675" text-anchor="end">{last}</text></svg>'
    )


def _share(value: float, low: float, high: float) -> float:
    """Return the share of the range that lies below a value."""
    if high - low == inf:  # the difference of two floats near the largest one is infinite; that of their halves is not
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


def _shared_features(e: ExplanationData) -> str:
    """Return a table of reasons by options, with the features that both have."""
    shown = e.flipsets[:12]
    rows = [
        [_listed(e, reason), *(_listed(e, [n for n in names if n in reason]) for names in shown)]
        for reason in e.reasons
    ]
    return table(["reason", *(joined(labels(e.words, names)) for names in shown)], rows)


def _listed(e: ExplanationData, names: Sequence[str]) -> str:
    return ", ".join(labels(e.words, names))


def _space_table(space: Space) -> str:
    rows = []
    for feature in space.features:
        rows.append((_column(space, feature.name), _direction(feature, space), _allowed(feature), feature.description))
    heads = ("column", "direction", "allowed values", "description")
    described = any(feature.description for feature in space.features)
    return table(heads, rows) if described else table(heads[:-1], [row[:-1] for row in rows])


def _direction(feature: Feature, space: Space) -> str:
    if space.computed is not None and feature.name in space.computed.names:
        return "computed"
    if feature.fixed or feature.direction is None:
        return "held fixed" if feature.fixed else "no direction"
    return f"more {'raises' if feature.direction == 1 else 'lowers'} the {space.decision.score_label}"


def _allowed(feature: Feature) -> str:
    if feature.lower is None:
        return ", ".join(show_as(value, feature.words) for value in feature.options)
    lower, upper = (show_as(bound, feature.words, brief=True) for bound in (feature.lower, feature.upper))
    return feature.words.with_unit(f"{lower} to {upper}")


def _rules_html(e: ExplanationData) -> Iterator[str]:
    """Yield the constraints between columns, and how columns are computed."""
    for title, texts in told_rules(e.rules):
        yield f"<h2>{escape(title)}</h2>"
        yield f"<ul>{''.join(f'<li><code>{escape(text)}</code></li>' for text in texts)}</ul>"


def _column(space: Space, name: str) -> str:
    """Return the label of a column, followed by its name in the table where the two differ."""
    label = space.words.label(name)
    return name if label == name else f"{label} ({name})"


def _held(e: ExplanationData, column: str) -> str:
    if e.rules is not None and column in e.rules.computed:
        return "computed"
    if column not in e.held_fixed:
        return ""
    return f"held fixed ({e.held_because[column]})" if column in e.held_because else "held fixed"


def _cell(value: Any, space: Space, column: str) -> str:
    return show_as(value, space[column].words, brief=True, with_unit=True)


def _row(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={show(value)}" for name, value in row.items())

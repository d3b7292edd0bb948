"""Plots of explanations, drawn with matplotlib.

Each class follows scikit-learn's displays: `from_...` computes what is drawn, `plot(ax=None)` draws it and sets `ax_`
and `figure_`. The colours are those of Okabe and Ito, which differ for every kind of colour vision, and no plot needs
colour to be read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError
from flipset.plural import count
from flipset.results.statistics import wilson
from flipset.results.table import feature_labels, summarize, summarize_by, words_of
from flipset.show.summaries import STATUS_WORDS
from flipset.show.words import joined, labels, shortened
from flipset.values.change import show_as, show_brief

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flipset.results.data import ExplanationData
    from flipset.results.summary import Side, Summary, TableSummary
    from flipset.results.table import Results
    from flipset.space import Space
    from flipset.space.words import FeatureWords
    from flipset.values.change import Frontier

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MOST_OPTIONS = 7
"""Options that a plot shows: one for each colour."""


def _axes(ax: Any, width: float, height: float, columns: int = 1) -> Any:
    """Return the axes that were given, or make new ones: one, or several side by side."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise InputError("plots need matplotlib: pip install 'flipset[plot]'") from None
    return plt.subplots(1, columns, figsize=(width, height), layout="constrained")[1]


@dataclass(slots=True)
class ChangesDisplay:
    """The changes of the cheapest options, each on the scale of its feature, with the range of the population.

    Attributes
    ----------
    lines
        For each change: the number of its option (from 0), the feature, where the change starts and ends on the
        feature's scale (from 0 to 1), and its text.
    population
        For each feature, if known: the 10 %, 50 % and 90 % quantiles on the same scale.
    options
        For each option: its cost and its features.
    """

    lines: list[tuple[int, str, float, float, str]]
    population: dict[str, tuple[float, float, float]]
    options: list[tuple[str, str]]
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @classmethod
    def from_explanation(cls, e: ExplanationData, space: Space | None = None) -> ChangesDisplay:
        """Use the changes of an explanation; the space adds scales and the population."""
        best = sorted(e.counterfactuals, key=lambda one: one.cost)[:MOST_OPTIONS]
        lines: list[tuple[int, str, float, float, str]] = []
        population: dict[str, tuple[float, float, float]] = {}
        for n, one in enumerate(best):
            for change in one.changes:
                low, high = _range(change.feature, [change.before, change.after], space)
                places = [_place(value, low, high) for value in (change.before, change.after)]
                text = f"{change.before_text} → {change.after_text}"
                lines.append((n, change.label, places[0], places[1], text))
                seen = [] if space is None else space.seen(change.feature)
                if seen and high > low:
                    at = [seen[int(q * (len(seen) - 1))] for q in (0.1, 0.5, 0.9)]
                    ten, half, ninety = (_place(value, low, high) for value in at)
                    population[change.label] = ten, half, ninety
        return cls(lines, population, [(show_brief(one.cost), joined(labels(e.words, one.flipset))) for one in best])

    def plot(self, ax: Any = None) -> ChangesDisplay:
        """Draw the plot."""
        rows = [(n, name) for n, name, *_ in self.lines]
        names = [_broken(name, 30) for _, name in rows]
        notes = [_broken(f"{cost}: {features}", 80, "  ") for cost, features in self.options]
        # Wide enough for the texts on both sides of the axes, and high enough for the legend below them.
        beside = max((len(line) for text in names for line in text.splitlines()), default=0)
        beside += max((len(text) for *_, text in self.lines), default=0)
        note_lines = sum(text.count("\n") + 1 for text in notes)
        ax = _axes(ax, max(8, 4 + 0.085 * beside), 1.6 + 0.42 * len(rows) + 0.17 * note_lines)
        for y, (n, name, start, end, text) in enumerate(self.lines):
            if name in self.population:
                ten, half, ninety = self.population[name]
                ax.plot([ten, ninety], [y, y], color="#d0d0d0", linewidth=9, solid_capstyle="butt", zorder=1)
                ax.plot([half], [y], marker="|", color="#808080", markersize=11, zorder=2)
            colour = COLOURS[n % len(COLOURS)]
            arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 2, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", xy=(end, y), xytext=(start, y), arrowprops=arrow, zorder=3)
            ax.plot([start], [y], "o", color=colour, markersize=6, zorder=4)
            ax.text(1.03, y, text, va="center", fontsize=9)
        ax.set_yticks(range(len(rows)), names)
        # Upside down, so that the cheapest option is at the top.
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.set_xlim(-0.03, 1.02)
        ax.set_xticks([0, 0.5, 1], ["lower bound", "", "upper bound"])
        ax.set_title("Options, cheapest first. Grey: the middle 80 % of the population", fontsize=10, loc="left")
        for n, note in enumerate(notes):
            ax.plot([], [], "o-", color=COLOURS[n % len(COLOURS)], label=note)
        if self.options:
            # Below the labels of the axis, which are of one height: a larger share of axes with few lines.
            below = -max(0.06, 0.6 / len(rows)) if rows else -0.06
            ax.legend(title="cost: features", fontsize=8, loc="upper left", bbox_to_anchor=(0, below), frameon=False)
        _bare(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


@dataclass(slots=True)
class DualityDisplay:
    """The features that each option shares with each reason. Every option shares at least one with every reason."""

    options: list[str]
    reasons: list[str]
    shared: list[list[str]]
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @classmethod
    def from_explanation(cls, e: ExplanationData) -> DualityDisplay:
        """Use the flip sets and reasons of an explanation."""
        sets = [labels(e.words, names) for names in e.flipsets[:12]]
        reasons = [labels(e.words, reason) for reason in e.reasons]
        shared = [[", ".join(n for n in names if n in reason) for names in sets] for reason in reasons]
        return cls([" + ".join(names) for names in sets], [", ".join(reason) for reason in reasons], shared)

    def plot(self, ax: Any = None) -> DualityDisplay:
        """Draw the plot."""
        # Texts are broken into lines of the width of their column, and rows are as high as the longest of them.
        options = [_broken(text, 20) for text in self.options]
        reasons = [_broken(shortened(text, 180), 60) for text in self.reasons]
        cells = [[_broken(names, 22) for names in row] for row in self.shared]
        lines = max((text.count("\n") + 1 for text in [*reasons, *chain.from_iterable(cells)]), default=1)
        widest = max((len(line) for text in reasons for line in text.splitlines()), default=0)
        above = max((text.count("\n") + 1 for text in options), default=1)
        height = 0.7 + 0.15 * above + (0.3 + 0.13 * lines) * len(reasons)
        ax = _axes(ax, 1 + 0.07 * widest + 1.35 * len(options), height)
        for y, row in enumerate(cells):
            for x, names in enumerate(row):
                ax.plot([x], [y - 0.25], "o", markersize=7, color=COLOURS[0])
                ax.text(x, y - 0.08, names, ha="center", va="top", fontsize=7, color="#404040")
        ax.set_xticks(range(len(options)), options, fontsize=8)
        ax.xaxis.tick_top()
        ax.set_yticks(range(len(reasons)), reasons, fontsize=8)
        ax.set_xlim(-0.6, len(self.options) - 0.4)
        ax.set_ylim(len(self.reasons) - 0.4, -0.6)
        ax.set_title("Features that each option (top) shares with each reason (left)", fontsize=10, loc="left")
        _bare(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


@dataclass(slots=True)
class FrontierDisplay:
    """The frontier of two features: on it and beyond it the decision is flipped."""

    frontier: Frontier
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @classmethod
    def from_frontier(cls, frontier: Frontier) -> FrontierDisplay:
        """Use a frontier whose values are numbers."""
        values = [*frontier.before, *(value for point in frontier.points for value in point)]
        if not all(isinstance(value, (int, float)) for value in values):
            raise InputError("a frontier can be plotted only for two columns of numbers")
        return cls(frontier)

    def plot(self, ax: Any = None) -> FrontierDisplay:
        """Draw the plot."""
        ax = _axes(ax, 5, 4)
        xs, ys = ([point[i] for point in self.frontier.points] for i in (0, 1))
        before: Any = self.frontier.before
        # The steps must enclose exactly the points that are enough. So where they turn depends on the direction.
        ax.step(xs, ys, where="post" if _rises(xs, before[0]) else "pre", color=COLOURS[0], linewidth=1.5)
        ax.plot(xs, ys, "o", color=COLOURS[0], label="smallest values that are enough")
        ax.plot(*[[value] for value in before], "s", color=COLOURS[1], label="now")
        titles = [words.with_unit(f"{words.label}," if words.unit else words.label) for words in self.frontier.words]
        across, upwards = titles or self.frontier.features
        ax.set_xlabel(_broken(across, 48))
        ax.set_ylabel(_broken(upwards, 40))
        ax.legend(frameon=False)
        _bare(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


@dataclass(slots=True)
class SummaryDisplay:
    """How many changes rows need, and which features are in their smallest options, by group if there are groups.

    Attributes
    ----------
    groups
        The summary of each group; without groups, that of all rows.
    side
        The rows that are drawn: "declined" or "approved". They are never drawn together.
    labels
        Names of features for people.
    words
        What people call the column that makes the groups, and its values.
    """

    groups: Mapping[Any, TableSummary]
    side: Side = "declined"
    labels: Mapping[str, str] = field(default_factory=dict)
    words: FeatureWords | None = None
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @classmethod
    def from_explanations(
        cls, t: Results, groups: Iterable[Any] | None = None, side: Side = "declined"
    ) -> SummaryDisplay:
        """Use a table of explanations; `groups` has one value for each row."""
        whole = summarize(t)
        whole.of(side)  # refuses a side that does not exist
        name = getattr(groups, "name", None)
        words = None if name is None else words_of(t).of(str(name))
        return cls({"all": whole} if groups is None else summarize_by(t, groups), side, feature_labels(t), words)

    def plot(self, ax: Sequence[Any] | None = None) -> SummaryDisplay:
        """Draw into two axes: the number of changes, and the features. Lines are intervals of 95 %."""
        sizes, features = _axes(ax, 10, 4.2, columns=2)
        drawn = {group: summary.of(self.side) for group, summary in self.groups.items()}
        self._draw_sizes(sizes, drawn)
        self._draw_features(features, drawn)
        rows = sum(one.asked for one in drawn.values())
        title = f"{_outcome(drawn, self.side).capitalize()}: {count(rows, 'row')}. Lines: intervals of 95 %"
        sizes.set_title(title, fontsize=10, loc="left")
        for each in (sizes, features):
            _bare(each)
        self.ax_, self.figure_ = [sizes, features], sizes.figure
        return self

    def _draw_sizes(self, ax: Any, drawn: Mapping[Any, Summary]) -> None:
        """Draw the shares of rows by the number of changes, and those of rows without a proved number."""
        keys = sorted({size for one in drawn.values() for size in one.sizes})
        others = [status for status in STATUS_WORDS if any(one.statuses[status] for one in drawn.values())]
        counts = [
            [*(one.sizes.get(size, 0) for size in keys), *(one.statuses[status] for status in others)]
            for one in drawn.values()
        ]
        names = [*map(str, keys), *(STATUS_WORDS[status] for status in others)]
        labels = [f"{show_as(group, self.words)} ({count(one.asked, 'row')})" for group, one in drawn.items()]
        _draw_bars(ax.bar, counts, [one.asked for one in drawn.values()], labels, "yerr")
        ax.set_xticks([i + _middle(drawn) for i in range(len(names))], names)
        ax.set_xlabel("changes needed")
        ax.set_ylabel(f"share of {_outcome(drawn, self.side)} rows")
        if len(drawn) > 1:  # below the axes, where it hides no bar
            ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, -0.16), fontsize=8)

    def _draw_features(self, ax: Any, drawn: Mapping[Any, Summary]) -> None:
        """Draw the shares of rows with a feature in a smallest option, of the rows whose options are known."""
        names = list(dict.fromkeys(name for one in drawn.values() for name in one.in_some))[:12]
        proved = [one.statuses["optimal"] for one in drawn.values()]
        counts = [
            [round(one.in_some.get(name, 0) * rows) for name in names]
            for one, rows in zip(drawn.values(), proved, strict=True)
        ]
        _draw_bars(ax.barh, counts, proved, [""] * len(drawn), "xerr")
        ax.set_yticks([i + _middle(drawn) for i in range(len(names))], [self.labels.get(name, name) for name in names])
        ax.invert_yaxis()
        ax.set_xlabel(f"share of {_outcome(drawn, self.side)} rows with the feature\nin a smallest option")


def _draw_bars(
    bar: Any, counts: Sequence[Sequence[int]], whole: Sequence[int], labels: Sequence[str], errors: str
) -> None:
    """Draw counts as shares, a colour for each group, with intervals; `errors` is the argument of `bar` for them."""
    height = 0.8 / max(1, len(counts))
    for n, (own, rows) in enumerate(zip(counts, whole, strict=True)):
        shares = [part / rows if rows else 0.0 for part in own]
        ends = [wilson(part, rows) if rows else (0.0, 0.0) for part in own]
        # No reach is negative by a rounding of the last bit, which matplotlib refuses.
        below = [max(0.0, share - low) for share, (low, _) in zip(shares, ends, strict=True)]
        above = [max(0.0, high - share) for share, (_, high) in zip(shares, ends, strict=True)]
        style: dict[str, Any] = {"color": COLOURS[n % len(COLOURS)], "edgecolor": "white", errors: [below, above]}
        style["error_kw"] = {"ecolor": "#404040", "elinewidth": 1}
        bar([i + n * height for i in range(len(own))], shares, height, label=labels[n], **style)


def _middle(drawn: Mapping[Any, Summary]) -> float:
    """Return how far the middle of the bars of all groups lies from the first of them."""
    return 0.8 / max(1, len(drawn)) * (len(drawn) - 1) / 2


def _outcome(drawn: Mapping[Any, Summary], side: Side) -> str:
    return next((one.outcome for one in drawn.values()), side)


def _range(name: str, values: Sequence[Any], space: Space | None) -> tuple[float, float]:
    numbers = [float(value) for value in values if isinstance(value, (int, float))]
    if space is not None and name in space.names:
        feature = space[name]
        numbers += [float(end) for end in (feature.lower, feature.upper) if isinstance(end, (int, float))]
    return (min(numbers), max(numbers)) if numbers else (0.0, 1.0)


def _place(value: Any, low: float, high: float) -> float:
    if not isinstance(value, (int, float)) or high <= low:
        return 0.5
    # Halves, because the difference of two floats near the largest one is infinite.
    return (float(value) / 2 - low / 2) / (high / 2 - low / 2)


def _rises(values: Sequence[Any], before: Any) -> bool:
    return bool(values and values[-1] >= before)


def _broken(text: str, width: int, further: str = "") -> str:
    """Break a text into lines; `further` begins all but the first."""
    return TextWrapper(width, subsequent_indent=further, break_on_hyphens=False).fill(text)


def _bare(ax: Any) -> None:
    """Leave out the lines at the top and on the right."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)

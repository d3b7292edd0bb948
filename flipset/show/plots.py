"""Plots of explanations, drawn with matplotlib.

Each class follows scikit-learn's displays: `from_...` computes what is drawn, `plot(ax=None)` draws it and sets `ax_`
and `figure_`. The colours are those of Okabe and Ito, which differ for every kind of colour vision, and no plot needs
colour to be read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError
from flipset.results.table import summarize, summarize_by
from flipset.show.words import joined
from flipset.values.change import show_brief

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flipset.results.data import ExplanationData
    from flipset.results.summary import Summary
    from flipset.results.table import Results
    from flipset.space import Space
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
    options: list[str]
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
                lines.append((n, change.feature, places[0], places[1], text))
                seen = [] if space is None else space.seen(change.feature)
                if seen and high > low:
                    at = [seen[int(q * (len(seen) - 1))] for q in (0.1, 0.5, 0.9)]
                    ten, half, ninety = (_place(value, low, high) for value in at)
                    population[change.feature] = ten, half, ninety
        return cls(lines, population, [f"{show_brief(one.cost)}: {joined(one.flipset)}" for one in best])

    def plot(self, ax: Any = None) -> ChangesDisplay:
        """Draw the plot."""
        rows = [(n, name) for n, name, *_ in self.lines]
        ax = _axes(ax, 8, 1.2 + 0.5 * len(rows))
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
        ax.set_yticks(range(len(rows)), [name for _, name in rows])
        # Upside down, so that the cheapest option is at the top.
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.set_xlim(-0.03, 1.02)
        ax.set_xticks([0, 0.5, 1], ["lower bound", "", "upper bound"])
        ax.set_title("Options, cheapest first. Grey: the middle 80 % of the population", fontsize=10, loc="left")
        for n, name in enumerate(self.options):
            ax.plot([], [], "o-", color=COLOURS[n % len(COLOURS)], label=name)
        if self.options:
            ax.legend(title="cost: features", fontsize=8, loc="upper left", bbox_to_anchor=(0, -0.06), frameon=False)
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
        sets = e.flipsets[:12]
        shared = [[", ".join(n for n in names if n in reason) for names in sets] for reason in e.reasons]
        return cls([" +\n".join(names) for names in sets], [_short(", ".join(reason)) for reason in e.reasons], shared)

    def plot(self, ax: Any = None) -> DualityDisplay:
        """Draw the plot."""
        ax = _axes(ax, 3.5 + 1.1 * len(self.options), 1.2 + 0.45 * len(self.reasons))
        for y, row in enumerate(self.shared):
            for x, names in enumerate(row):
                ax.plot([x], [y], "o", markersize=7, color=COLOURS[0])
                ax.text(x, y + 0.36, names, ha="center", va="center", fontsize=7, color="#404040")
        ax.set_xticks(range(len(self.options)), self.options, fontsize=8)
        ax.xaxis.tick_top()
        ax.set_yticks(range(len(self.reasons)), self.reasons, fontsize=8)
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
        ax.set_xlabel(self.frontier.features[0])
        ax.set_ylabel(self.frontier.features[1])
        ax.legend(frameon=False)
        _bare(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


@dataclass(slots=True)
class SummaryDisplay:
    """How many changes rows need, and which features are in their smallest options, by group if there are groups."""

    groups: Mapping[Any, Summary]
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @classmethod
    def from_explanations(cls, t: Results, groups: Iterable[Any] | None = None) -> SummaryDisplay:
        """Use a table of explanations; `groups` has one value for each row."""
        return cls({"all rows": summarize(t)} if groups is None else summarize_by(t, groups))

    def plot(self, ax: Sequence[Any] | None = None) -> SummaryDisplay:
        """Draw into two axes: the number of changes, and the features."""
        sizes, features = _axes(ax, 10, 4.2, columns=2)
        keys = sorted({size for summary in self.groups.values() for size in summary.sizes})
        names = list(dict.fromkeys(n for summary in self.groups.values() for n in summary.in_some))[:12]
        height = 0.8 / len(self.groups)
        for n, (group, summary) in enumerate(self.groups.items()):
            explained = max(1, summary.rows - summary.errors)
            shares = [*(summary.sizes.get(size, 0) / explained for size in keys), summary.no_way_out]
            colour = COLOURS[n % len(COLOURS)]
            at = [i + n * height for i in range(len(shares))]
            sizes.bar(at, shares, height, color=colour, label=str(group), edgecolor="white")
            places = [i + n * height for i in range(len(names))]
            features.barh(places, [summary.in_some.get(name, 0) for name in names], height, color=colour)
        middle = height * (len(self.groups) - 1) / 2
        sizes.set_xticks([i + middle for i in range(len(keys) + 1)], [*map(str, keys), "no option"])
        sizes.set_xlabel("changes needed")
        sizes.set_ylabel("share of rows")
        features.set_yticks([i + middle for i in range(len(names))], names)
        features.invert_yaxis()
        features.set_xlabel("share of rows with the feature in a smallest option")
        if len(self.groups) > 1:
            sizes.legend(frameon=False)
        for each in (sizes, features):
            _bare(each)
        self.ax_, self.figure_ = [sizes, features], sizes.figure
        return self


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


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _bare(ax: Any) -> None:
    """Leave out the lines at the top and on the right."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)

"""`Groups`, the result of `Explanations.summary_by`: the summaries of groups, which can be printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flipset.results.groups import GroupSummaries
from flipset.show.group_tables import groups_html, tell_groups
from flipset.show.html import fragment

if TYPE_CHECKING:
    from flipset.space.words import FeatureWords


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Groups(GroupSummaries):
    """The summaries of groups; `print` shows the declined rows, a notebook the approved ones, too.

    `words` are those of the column that makes the groups, if it has a name.
    """

    words: FeatureWords | None = None

    def __str__(self) -> str:
        return "\n".join(tell_groups(self, words=self.words)) if self else "no groups"

    def _repr_html_(self) -> str:
        return fragment(groups_html(self, self.words) if self else ())

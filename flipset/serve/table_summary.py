"""The summary of the page: how many changes rows need, and which features are in flip sets and reasons.

It counts only rows that are explained so far, so it may be asked for at any time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import InputError
from flipset.serve.groups import groups_of

if TYPE_CHECKING:
    from flipset.serve.row_results import Bools, RowResults

MOST_COMPARED = 100
"""The most groups that can be compared."""


def summarize_rows(results: RowResults, by: str = "") -> dict[str, Any]:
    """Return the changes that explained rows need and the features in flip sets and reasons; also by group."""
    # One copy for all parts, so that the groups add up to the whole while more rows are explained.
    known = results.known
    everything = _summary_of(results, known)
    if not by:
        return {"all": everything, "groups": []}
    values = np.array(groups_of(results.frame, by), dtype=object)
    different = sorted(set(values))
    if len(different) > MOST_COMPARED:
        raise InputError(f"{by!r} has {len(different):,} values; at most {MOST_COMPARED} can be compared")
    groups = [{"group": value, **_summary_of(results, known & (values == value))} for value in different]
    return {"all": everything, "groups": groups}


def _summary_of(results: RowResults, rows: Bools) -> dict[str, Any]:
    explained = rows & ~results.have("error")
    flippable = explained & ~np.isnan(results.sizes)
    sizes, counts = np.unique(results.sizes[flippable], return_counts=True)
    n, m = int(explained.sum()), int(flippable.sum())
    # A row without an option has reasons but no flip set, so the shares have different denominators.
    shares = {
        "some": results.parts["some"][flippable].sum(axis=0) / max(m, 1),
        "all": results.parts["all"][flippable].sum(axis=0) / max(m, 1),
        "reason": results.parts["reason"][explained].sum(axis=0) / max(n, 1),
    }
    return {
        "rows": int(rows.sum()),
        "errors": int(rows.sum()) - n,
        "none": int((explained & results.have("none")).sum()),
        "mean_size": float(results.sizes[flippable].mean()) if m else None,
        "sizes": [{"size": size, "rows": count} for size, count in zip(sizes.tolist(), counts.tolist(), strict=True)],
        "features": [
            {"name": name, **{part: float(share[i]) for part, share in shares.items()}}
            for i, name in enumerate(results.units)
            if any(share[i] for share in shares.values())
        ],
    }

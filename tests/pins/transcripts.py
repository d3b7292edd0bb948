"""What a case did, in a form that can be written as JSON and hashed."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import isnan
from threading import Lock
from typing import Any, TypeAlias, TypedDict

import numpy as np

from flipset import Counterfactuals, Explanation, Explanations, FlipsetError, Flipsets, NotMonotone

ASPECTS = ("answer", "reasons", "proof", "cost", "asked")
APART = ("reasons", "proof", "queries", "rounds")

# Fields that say what an answer rests on, not what it is; the pins are older than they are.
ADDED = ("basis", "audited_pairs", "contradicted", "fingerprints")


class Transcript(TypedDict):
    """What a case did, by aspect; `rows` holds one of these for each row of a table."""

    answer: Any
    reasons: Any
    proof: Any
    cost: Any
    asked: Any
    rows: list[Any]


Case: TypeAlias = Callable[[], Transcript]


def numbered(family: str, count: int, make: Callable[[int], Transcript]) -> Iterator[tuple[str, Case]]:
    """Yield so many cases of a family, by name."""
    for i in range(count):
        yield f"{family}/{i:04d}", partial(make, i)


def transcript(
    answer: Any = None,
    reasons: Any = None,
    proof: Any = None,
    cost: Any = None,
    asked: Any = None,
    rows: Sequence[Transcript] = (),
) -> Transcript:
    return Transcript(answer=answer, reasons=reasons, proof=proof, cost=cost, asked=asked, rows=list(rows))


def together(parts: Mapping[str, Transcript], asked: Any = None) -> Transcript:
    """Join what several steps of a case did."""
    joined = {
        aspect: {name: part[aspect] for name, part in parts.items()}  # type: ignore[literal-required]
        for aspect in ASPECTS
    }
    rows = [row for part in parts.values() for row in part["rows"]]
    asked = joined["asked"] if asked is None else asked
    return transcript(joined["answer"], joined["reasons"], joined["proof"], joined["cost"], asked, rows)


# --- hashes -----------------------------------------------------------------------------------------------------------


def text_of(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=_written)


def _written(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"a transcript holds a {type(value).__name__}: {value!r}")


def short(value: Any, digits: int) -> str:
    return hashlib.sha256(text_of(value).encode()).hexdigest()[:digits]


def pin_of(done: Transcript) -> str:
    """Return the line of a case: the hash of each aspect, then that of each row."""
    whole = ":".join(short(done[aspect], 8) for aspect in ASPECTS)  # type: ignore[literal-required]
    return " ".join([whole, *(short(row, 4) for row in done["rows"])])


# --- what the model was given -----------------------------------------------------------------------------------------


class Seen:
    """A model that keeps what it was given, call by call; of frames and arrays the cells, whatever their types."""

    def __init__(self, model: Callable[[Any], Any], rows_of: Callable[[Any], list[Any]] | None = None) -> None:
        self.model = model
        self.calls: list[list[Any]] = []
        self._rows_of = rows_of or cells_of
        self._lock = Lock()

    def __call__(self, rows: Any) -> Any:
        cells = self._rows_of(rows)
        with self._lock:
            self.calls.append(cells)
        return self.model(rows)

    def cost(self) -> dict[str, int]:
        """Return how much was asked."""
        sizes = [len(call) for call in self.calls]
        return {"calls": len(sizes), "rows": sum(sizes), "largest": max(sizes, default=0)}

    def different(self) -> list[str]:
        """Return what was asked, whatever the order."""
        return sorted({text_of(row) for call in self.calls for row in call})


def cells_of(rows: Any) -> list[list[Any]]:
    """Return the cells of a frame, an array or a list, numbers as floats."""
    if hasattr(rows, "columns"):
        columns = [rows[name].tolist() for name in rows.columns]
        return [[plain(cell) for cell in row] for row in zip(*columns, strict=True)]
    table = rows.tolist() if isinstance(rows, np.ndarray) else rows
    return [[plain(cell) for cell in row] for row in table]


def plain(cell: Any) -> Any:
    """Return a cell as text, nothing, or a float."""
    if cell is None or type(cell).__name__ == "NAType":
        return None
    if isinstance(cell, (bool, int, float, np.number, np.bool_)):
        number = float(cell)
        return None if isnan(number) else number
    return str(cell)


# --- results ----------------------------------------------------------------------------------------------------------


def of_error(error: Exception) -> Transcript:
    """Return what an error says, apart from its words."""
    answer: dict[str, Any] = {"error": type(error).__name__}
    if isinstance(error, NotMonotone):
        answer["sets"] = [sorted(map(str, error.smaller)), sorted(map(str, error.larger))]
        answer["rows"] = None if error.rows is None else [_row(row) for row in error.rows]
    return transcript(answer)


def of_explanation(e: Explanation) -> Transcript:
    """Return an explanation by aspect."""
    whole = e.to_dict()
    answer = {name: value for name, value in whole.items() if name not in (*APART, *ADDED)}
    answer["format"] = "flipset-explanation/1"
    answer["features"] = list(e.features)
    cost = {"queries": e.queries, "rounds": e.rounds}
    return transcript(answer, whole["reasons"], whole["proof"], cost)


def of_flipsets(found: Flipsets) -> Transcript:
    """Return the result for a set function, or for a row in a box, by aspect."""
    answer: dict[str, Any] = {
        "status": found.status,
        "size": found.size,
        "bounds": [found.lower, found.upper],
        "flipsets": [sorted(one) for one in found.flipsets],
    }
    if isinstance(found, Counterfactuals):
        answer["decision"] = [bool(found.decision), float(found.score), float(found.threshold)]
        answer["rows"] = found.rows.tolist()
        answer["held_fixed"] = list(found.held_fixed)
    proof = {"d": found.proof.d, "zeros": found.proof.zeros, "ones": found.proof.ones, "weights": found.proof.weights}
    cost = {"queries": found.queries, "rounds": found.rounds}
    return transcript(answer, [sorted(one) for one in found.certificates], proof, cost)


def of_result(result: Explanation | FlipsetError) -> Transcript:
    return of_error(result) if isinstance(result, FlipsetError) else of_explanation(result)


def of_table(found: Explanations, *, rounds: bool = True) -> Transcript:
    """Return explanations of a table, as a whole and row by row."""
    rows = [of_result(result) for result in found]
    shares = _all_together(found)
    answer = {
        "rows": [row["answer"] for row in rows],
        "summary": shares["summary"],
        "sizes": shares["sizes"],
        "shares": shares["shares"],
        "wide": _without(found.to_dict(), ("reasons", "queries", "error", "basis", "cost_at_least")),
        "long": found.to_long_dict(),
    }
    reasons = {"rows": [row["reasons"] for row in rows], "in_reasons": shares["in_reasons"]}
    cost = {
        "rows": [row["cost"] for row in rows],
        "queries": found.queries,
        "rounds": found.rounds if rounds else None,
    }
    return transcript(answer, reasons, [row["proof"] for row in rows], cost, rows=rows)


def _all_together(found: Explanations) -> dict[str, Any]:
    """Return shares of all rows, whatever their decision. They are pinned; summaries are by decision, and tested."""
    explained = [result for result in found if not isinstance(result, FlipsetError)]
    sets = [[set(names) for names in e.flipsets] for e in explained if e.flipsets]
    some = Counter(name for own in sets for name in set.union(*own))
    every = Counter(name for own in sets for name in set.intersection(*own))
    reasons = Counter(name for e in explained for name in {name for reason in e.reasons for name in reason})
    statuses = Counter(e.status for e in explained)
    sizes = Counter(int(e.size) if float(e.size).is_integer() else e.size for e in explained if e.size is not None)

    def shares(counts: Counter[str], whole: int) -> list[tuple[str, float]]:
        return sorted((name, n / whole) for name, n in counts.items())

    none, stopped = (statuses[status] / len(explained) if explained else 0.0 for status in ("none", "stopped"))
    return {
        "summary": [len(found), len(found) - len(explained), none, stopped],
        "sizes": sorted(sizes.items()),
        "shares": [shares(some, len(sets)), shares(every, len(sets))],
        "in_reasons": shares(reasons, len(explained)),
    }


def _without(data: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: [plain_text(cell) for cell in cells] for name, cells in data.items() if name not in names}


def plain_text(cell: Any) -> Any:
    """Return a cell as it reads, its type included."""
    return None if cell is None or type(cell).__name__ == "NAType" or cell != cell else cell


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: plain(cell) for name, cell in row.items()}


def watched(work: Callable[[], Transcript], seen: Seen, *, ordered: bool = True) -> Transcript:
    """Do something, and add to what it did what the model saw; an error is a result, too."""
    try:
        done = work()
    except FlipsetError as error:
        done = of_error(error)
    if ordered:
        done["cost"] = {"reported": done["cost"], "seen": seen.cost()}
        done["asked"] = seen.calls
    else:
        done["asked"] = seen.different()
    return done

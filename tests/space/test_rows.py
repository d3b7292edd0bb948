"""Rows as they come: a bad one costs one row, and none reaches the model as anything but what it is."""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from flipset import Explainer, Explanation, Feature, FlipsetError, InputError, Space
from tests.same import answer_of


def scores_of(frame: Any) -> Any:
    return np.asarray(frame["v"], dtype=float)


FRAMES = [
    pd.DataFrame({"c": pd.Categorical(["x", "y", "x"]), "k": [1, 2, 3], "v": [1.0, 2.0, 3.0]}),
    pd.DataFrame(
        {"c": pd.Categorical(["x", "y", "x"]), "k": pd.array([1, 2, 3], "int8"), "v": pd.array([1.0, 2, 3], "Float64")}
    ),
    pl.DataFrame({"c": pl.Series(["x", "y", "x"], dtype=pl.Enum(["x", "y"])), "k": [1, 2, 3], "v": [1.0, 2.0, 3.0]}),
]


@pytest.mark.parametrize("frame", FRAMES, ids=["numpy", "nullable", "polars"])
@pytest.mark.parametrize(
    ("column", "cell", "words"),
    [
        ("c", "z", r"column 'c' of type .* cannot hold 'z'"),
        ("k", "two", r"column 'k' of type .* cannot hold 'two'"),
        ("k", "2", r"column 'k' of type .* cannot hold '2'"),
        ("k", 2.5, r"column 'k' of type .* cannot hold 2.5"),
        ("k", 10**30, r"column 'k' of type .* cannot hold 1000"),
        ("v", "much", r"feature 'v': the row has 'much'; expected a finite number"),
        ("v", float("inf"), r"feature 'v': the row has inf; expected a finite number"),
        ("v", [1, 2], r"feature 'v': the row has \[1, 2\] \(list\); expected one value"),
        ("v", {"a": 1}, r"feature 'v': the row has {'a': 1} \(dict\); expected one value"),
        ("v", date(2020, 1, 1), r"feature 'v': the row has datetime.date\(2020, 1, 1\)"),
        ("v", Fraction(1, 3), r"feature 'v': the row has Fraction\(1, 3\)"),
    ],
)
def test_a3_a_bad_row_costs_one_row(frame: Any, column: str, cell: Any, words: str) -> None:
    explainer = Explainer(scores_of, Space.from_frame(frame, increasing=["v"]), threshold=2.5)
    row = {"c": "y", "k": 2, "v": 2.0}
    rows = [row | {"c": "x"}, row | {column: cell}, row | {"k": 3}]
    requests: list[dict[str, Any]] = [{}, {"batch": 1}, {"in_flight": 2}, {"objective": "cost"}]
    for request in requests:
        first, bad, last = explainer.explain_table(rows, **request)
        assert isinstance(first, Explanation)
        assert isinstance(last, Explanation)
        assert isinstance(bad, InputError)
        assert bad.args[0].startswith("row 1: ")
        with pytest.raises(InputError, match=words):
            raise bad
        with pytest.raises(InputError, match=words):
            explainer.explain(rows[1], **{name: value for name, value in request.items() if name != "in_flight"})


def test_a3_a_missing_value_in_a_column_of_whole_numbers_costs_one_row() -> None:
    frame = FRAMES[0]
    explainer = Explainer(scores_of, Space.from_frame(frame, increasing=["v"]), threshold=2.5)
    table = pd.DataFrame({"c": ["x", "y"], "k": [1.0, np.nan], "v": [1.0, 1.0]})
    good, bad = explainer.explain_table(table)
    assert isinstance(good, Explanation)
    assert str(bad).startswith("row 1: column 'k' of type int64 cannot hold nan: the type has no missing values")


def test_a3_arrow_floats_may_be_missing_in_either_way() -> None:
    table = pa.table({"v": [1.0, 1.0, 1.0], "w": [1.0, float("nan"), None]})
    space = Space.from_frame(pa.table({"v": [1.0, 2.0, 3.0], "w": [1.0, 2.0, 3.0]}), increasing=["v"])
    given: list[Any] = []

    def model(rows: Any) -> Any:
        given.extend(rows["w"].to_pylist())
        return rows["v"].to_numpy()

    found = Explainer(model, space, threshold=2.5).explain_table(table)
    assert [type(e) for e in found] == [Explanation] * 3
    assert {repr(cell) for cell in given} == {"1.0", "nan", "None"}


def test_rows_that_cannot_be_read_cost_one_row_each() -> None:
    explainer = Explainer(lambda rows: rows[:, 0], Space([Feature("x", direction=+1, lower=0, upper=9)]), threshold=5)
    found = explainer.explain_table([[1.0], [1.0, 2.0], "text", None, [3.0]])
    assert [type(result) for result in found] == [Explanation, InputError, InputError, InputError, Explanation]
    assert str(found[1]) == "row 1: the row has 2 values; expected 1: 'x'"
    told: dict[int, Any] = {}
    explainer.explain_table([[1.0], [1.0, 2.0]], each=told.__setitem__)
    assert sorted(told) == [0, 1]
    with pytest.raises(InputError, match="row 1: the row has 2 values"):
        explainer.scores([[1.0], [1.0, 2.0]])


@pytest.mark.parametrize("kind", ["float16", "float32"])
@pytest.mark.parametrize("module", ["pandas", "polars", "arrow", "nullable"])
@pytest.mark.parametrize("direction", [1, -1])
def test_a9_columns_of_narrow_floats_are_asked_and_reported_as_they_are(kind: str, module: str, direction: int) -> None:
    if module in ("polars", "nullable") and kind == "float16":
        pytest.skip("no such type")
    cells = np.array([0.1, 0.2, 0.7, 0.9], dtype=kind)
    frame: Any = pd.DataFrame({"v": cells})
    if module == "polars":
        frame = pl.DataFrame({"v": cells})
    elif module == "arrow":
        frame = pa.table({"v": pa.array(cells)})
    elif module == "nullable":
        frame = pd.DataFrame({"v": pd.array(cells, "Float32")})
    given: list[Any] = []

    def model(rows: Any) -> Any:
        values = np.array(
            [float(value) for value in rows["v"].to_pylist()] if module == "arrow" else rows["v"].to_list()
        )
        given.extend(values.tolist())
        return direction * values

    words: Any = {"increasing" if direction == 1 else "decreasing": ["v"]}
    for bounds, steps in (((0.05, 1e6), {}), ((-0.3, 0.3), {"v": 0.1}), ((0.15, 0.55), {"v": 0.05})):
        space = Space.from_frame(frame, bounds={"v": bounds}, steps=steps, **words)
        for threshold in (0.25, 0.5, 60.0, -0.05):
            for row in cells.tolist():
                given.clear()
                explainer = Explainer(model, space, threshold=direction * threshold)
                e = explainer.explain({"v": row})
                assert np.isfinite(given).all()
                exact = set(np.array(given, dtype=kind).astype(float).tolist())
                assert exact == set(given)
                for counterfactual in e.counterfactuals:
                    value = counterfactual.row["v"]
                    assert value in exact
                    most = float(np.finfo(kind).max)
                    lower, upper = np.clip(bounds, -most, most).astype(kind)  # as the column holds them
                    assert lower <= value <= upper
                    assert (direction * value >= direction * threshold) != e.decision
                assert explainer.verify(e)


def test_a9_a_row_that_a_narrow_column_cannot_hold_is_refused() -> None:
    frame = pd.DataFrame({"v": np.array([0.1, 0.2], dtype="float32")})
    explainer = Explainer(scores_of, Space.from_frame(frame, increasing=["v"]), threshold=0.15)
    with pytest.raises(InputError, match=r"column 'v' of type float32 cannot hold 0.1: it would become 0.1000000014"):
        explainer.explain({"v": 0.1})


def test_a14_masked_cells_and_pandas_missing_are_missing() -> None:
    space = Space([Feature("x", direction=+1, lower=0, upper=9), Feature("y")])
    given: list[Any] = []

    def model(rows: Any) -> Any:
        assert rows.dtype == np.float64
        given.extend(rows[:, 1].tolist())
        return rows[:, 0]

    explainer = Explainer(model, space, threshold=5)
    masked = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    assert [e.row["y"] for e in explainer.explain_table(masked)] == [None, 4.0]  # type: ignore[union-attr]
    assert explainer.explain(masked[0]).row == {"x": 1.0, "y": None}
    assert explainer.explain([1.0, pd.NA]).row == {"x": 1.0, "y": None}
    assert {str(value) for value in given} == {"nan", "4.0"}


def test_what_a_model_is_given_for_a_row_does_not_depend_on_other_rows() -> None:
    space = Space([Feature("x", "integer", direction=+1, lower=0, upper=9), Feature("y"), Feature("z")])
    seen: dict[Any, set[Any]] = {}

    def model(rows: Any) -> Any:
        for row in rows:
            seen.setdefault(tuple(map(str, row[1:])), set()).add((rows.dtype, tuple(map(type, row))))
        return np.array([float(row[0]) for row in rows])

    explainer = Explainer(model, space, threshold=5)
    rows: list[list[Any]] = [
        [1, 2, 3],
        [1, "a", 3],
        [1, Decimal("1.5"), "b"],
        [2, True, 4],
        [3, 4.0, None],
        [1, 2**60, 1],
    ]
    found = explainer.explain_table(rows)
    together = {key: set(kinds) for key, kinds in seen.items()}
    assert list(found) == [explainer.explain(row) for row in rows]
    assert seen == together
    assert all(len(kinds) == 1 for kinds in seen.values())


def test_a8_a_row_has_the_reasons_it_has_alone() -> None:
    weights = np.array([3, 2, 2, 1, 1, 4.0])
    names = "abcdef"
    space = Space([Feature(n, direction=+1, lower=0, upper=9, special=("NA",) if n == "a" else ()) for n in names])

    def model(rows: Any) -> Any:
        cells = np.array([[0 if cell == "NA" else cell for cell in row] for row in rows], dtype=float)
        return (cells * weights).sum(axis=1)  # a product of matrices may round a row differently in another batch

    rng = np.random.default_rng(0)
    rows: list[list[Any]] = rng.integers(0, 7, (40, 6)).astype(float).tolist()
    explainer = Explainer(model, space, threshold=80)
    alone = [answer_of(explainer.explain(row)) for row in rows]

    def answers(table: list[list[Any]], **how: Any) -> list[Any]:
        return list(map(answer_of, explainer.explain_table(table, **how)))

    assert answers(rows) == alone
    odd: list[list[Any]] = [["NA", 1.0, 2.0, 3.0, 1.0, 0.0], ["x"] * 6, [1.0] * 5]
    assert answers([*odd, *rows])[3:] == alone
    assert answers([*rows[:20], *odd, *rows[20:]], width=7)[:20] == alone[:20]


@pytest.mark.parametrize(
    "bad", [{1, 2}, object(), b"x", 1j, np.datetime64("2020-01-01"), "\ud800", 10**400, Decimal("NaN")]
)
def test_whatever_a_cell_holds_the_other_rows_are_explained(bad: Any) -> None:
    spaces = [
        Space([Feature("x", direction=+1, lower=0, upper=9), Feature("y", fixed=True)]),
        Space([Feature("x", direction=+1, lower=0, upper=9), Feature("y", options=(1, 2))]),
        Space([Feature("x", direction=+1, lower=0, upper=9), Feature("y", "binary", direction=+1)]),
        Space(
            [Feature("x", direction=+1, lower=0, upper=9), Feature("y", "ordinal", direction=-1, options=("a", "b"))]
        ),
    ]
    for space in spaces:
        explainer = Explainer(lambda rows: np.array([float(row[0]) for row in rows]), space, threshold=5)
        good = "a" if space["y"].kind == "ordinal" else 1
        found = explainer.explain_table([[1.0, good], [1.0, bad], [bad, good], [2.0, good]])
        assert [isinstance(result, (Explanation, FlipsetError)) for result in found] == [True] * 4
        assert isinstance(found[0], Explanation)
        assert isinstance(found[3], Explanation)
        assert isinstance(found[2], InputError)


class Hostile:
    """An object that fails wherever it is looked at."""

    def __init__(self, method: str) -> None:
        self.method = method

    def __repr__(self) -> str:
        return str(self._do("repr", "hostile"))

    def __eq__(self, other: object) -> bool:
        return bool(self._do("eq", self is other))

    def __hash__(self) -> int:
        return int(self._do("hash", 1))

    def _do(self, method: str, result: Any) -> Any:
        if method == self.method:
            raise RuntimeError(f"no {method} here")
        return result


@pytest.mark.parametrize("method", ["repr", "eq", "hash", "decimal", "pandas", "polars"])
@pytest.mark.parametrize("framed", [False, True])
def test_objects_that_fail_cost_one_row(method: str, framed: bool) -> None:
    odd: dict[str, Any] = {"decimal": Decimal("sNaN"), "pandas": pd.Series([1, 2]), "polars": pl.Series([1])}
    features = [Feature("a", "integer", direction=+1, lower=0, upper=9), Feature("c", options=("n", "s")), Feature("z")]
    frame = pd.DataFrame({"a": [1, 2], "c": ["n", "s"], "z": pd.Series([0, "x"], dtype=object)})
    space = Space(features, reference=frame if framed else None)

    def model(rows: Any) -> Any:
        return np.asarray(rows["a"] if framed else [row[0] for row in rows]) >= 5

    for column in (1, 2):
        row: list[Any] = [2, "n", 0]
        row[column] = odd.get(method, Hostile(method))
        found = Explainer(model, space).explain_table([[1, "n", 0], row, [3, "s", 0]])
        assert [type(result) for result in found] == [Explanation, InputError, Explanation]

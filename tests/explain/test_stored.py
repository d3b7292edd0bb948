"""Explanations in a file of JSON lines: read one at a time, and a bad line costs itself alone."""

from pathlib import Path

import pytest

from flipset import Explanation, FlipsetError, InputError, read_explanations
from flipset.explain import stored
from tests.results.examples import EXPLAINER


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "explanations.jsonl"
    EXPLAINER.explain_table([[4, 5, 50], [9, 1, 30], [0, 0, 40]]).write(path)
    return path


def test_what_was_written_is_read(file: Path) -> None:
    found = read_explanations(file)
    assert list(found) == list(EXPLAINER.explain_table([[4, 5, 50], [9, 1, 30], [0, 0, 40]]))
    assert len(found) == 3
    assert list(found) == list(read_explanations(str(file)))  # it can be read again


def test_bad_lines_are_errors_in_their_places(file: Path) -> None:
    good = file.read_bytes().splitlines()
    lines = [good[0], b"", b'{"error": "no such row"}', b"{", b"\xff", b"[]", b"  ", good[1]]
    file.write_bytes(b"\n".join(lines))  # without a newline at the end
    found = list(read_explanations(file))
    assert [isinstance(one, Explanation) for one in found] == [True, False, False, False, False, True]
    assert str(found[1]) == "no such row"
    assert all(isinstance(one, FlipsetError) for one in found[1:5])
    assert [str(one).startswith("the line cannot be read: ") for one in found[2:5]] == [True] * 3
    assert len(read_explanations(file)) == 6
    assert read_explanations(file).first() == found[0]


def test_of_a_line_that_is_too_long_only_a_part_is_in_memory(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = file.read_bytes().splitlines()
    longest = max(map(len, good)) + 1  # with the newline
    file.write_bytes(b"\n".join([good[0], b"[" + b"1," * 3 * longest + b"1]", good[1]]) + b"\n")
    monkeypatch.setattr(stored, "MOST_CHARACTERS", longest)
    first, long, last = read_explanations(file)
    assert isinstance(first, Explanation)
    assert isinstance(last, Explanation)
    assert str(long) == f"the line cannot be read: it may have {longest:,} bytes, and has more"


def test_a_file_without_explanations(tmp_path: Path) -> None:
    empty, errors = tmp_path / "empty.jsonl", tmp_path / "errors.jsonl"
    empty.write_text("\n\n", encoding="utf-8")
    errors.write_text('{"error": "no such row"}\n', encoding="utf-8")
    assert list(read_explanations(empty)) == []
    with pytest.raises(InputError, match=r"has no explanation$"):
        read_explanations(empty).first()
    with pytest.raises(InputError, match="has no explanation that can be read: no such row"):
        read_explanations(errors).first()
    with pytest.raises(InputError, match="cannot be read"):
        list(read_explanations(tmp_path / "absent.jsonl"))

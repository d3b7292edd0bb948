"""docs/architecture.md keeps its word: the picture is that of the code, and the modules that it names are run."""

from benchmarks.architecture import FIGURE, draw


def test_the_picture_is_that_of_the_code() -> None:
    assert FIGURE.read_text(encoding="utf-8") == draw(), "the rooms or their imports have changed: make architecture"

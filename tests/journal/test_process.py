"""What a process holds is closed by that process alone."""

import os
from pathlib import Path

from flipset.journal.file import open_file
from flipset.journal.process import ProcessState


def test_closing_closes_the_file_and_voids_the_claims(tmp_path: Path) -> None:
    state = ProcessState(tmp_path / "answers.db")
    state.file = open_file(tmp_path / "answers.db")
    with state.file.transaction(durable=False) as connection:
        assert state.claims.take(connection, ["1"]) == ["1"]
    assert len(list(tmp_path.glob("*-asking-*"))) == 1
    state.close()
    state.close()  # a second time does nothing
    assert state.file is None
    assert state.claims.owner is None
    assert os.listdir(tmp_path) == ["answers.db"]


def test_what_another_process_holds_is_left_alone(tmp_path: Path) -> None:
    state = ProcessState(tmp_path / "answers.db")
    state.file = open_file(tmp_path / "answers.db")
    state.pid += 1  # as in a child that was forked off
    state.close()
    assert state.file.connection.execute("SELECT 1").fetchone() == (1,)
    state.pid -= 1
    state.close()

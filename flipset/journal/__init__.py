"""Answers on disk: every score is written down before it is used, and no row is scored twice.

`Journal` is the class that users see. `file` opens the SQLite file and names its faults, `claims` keeps two processes
from scoring the same row, `texts` writes rows as text, and `store` says what an explainer needs of any journal.
"""

from flipset.journal.journal import FORMAT, Journal
from flipset.journal.store import AnswerStore

__all__ = ["FORMAT", "AnswerStore", "Journal"]

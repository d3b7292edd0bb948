"""The page: one local server for people who would rather look, and a JSON interface for programs.

- `calls`: calls of the model, one at a time, people before the background.
- `table`: the table, what is known about its rows, and how it is searched.
- `cases`: what is asked about one row, and the answers as JSON.
- `jobs`: work for clients, and none for those who are gone.
- `safety`: who may speak to the server.
- `case_routes`, `table_routes`, `app`: the paths.
"""

from flipset.serve.about import Served
from flipset.serve.app import make_app

__all__ = ["Served", "make_app"]

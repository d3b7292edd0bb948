"""The page: a local server with a page for people and a JSON interface for programs.

- `calls`: access to the model, a limited number of calls at a time, requests of clients first.
- `table`: the table, what is known about its rows, and their selection.
- `cases`: requests about single rows, and their answers as JSON.
- `jobs`: work for clients, which ends when they disconnect.
- `safety`: which requests are admitted.
- `case_routes`, `table_routes`, `app`: the routes.
"""

from flipset.serve.about import Served
from flipset.serve.app import make_app

__all__ = ["Served", "make_app"]

"""The page: a local server with a page for people and a JSON interface for programs.

- `server`, `connections`: the server, and the limits on connections, on the time for a request, and on its log.
- `safety`: which requests are admitted.
- `bodies`: requests and answers as bytes.
- `jobs`: work for clients in threads, a queue for each kind, which ends when they disconnect.
- `calls`: access to the model, a limited number of calls at a time, urgent work first.
- `cases`: requests about single rows, and their answers as JSON.
- `table`: the thread that scores and explains the table in the background.
- `row_results`, `selection`, `groups`, `table_summary`: what is known about its rows, and what the page shows of it.
- `case_routes`, `table_routes`, `app`: the routes.
"""

from flipset.serve.about import Served
from flipset.serve.app import make_app
from flipset.serve.server import make_server

__all__ = ["Served", "make_app", "make_server"]

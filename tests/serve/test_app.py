"""The application: what is put together before the first request."""

from flipset.serve import Served, make_app
from tests.serve.running import applications, approve, explainer


def test_routes_are_built_before_the_first_request() -> None:
    # Included routers would be built again at the first request, in the server's thread, while others are at work.
    app = make_app(Served(explainer(approve, 5), applications(5), "approve", "loans.csv"), hosts=("localhost",)).app
    paths = [getattr(route, "path", None) for route in app.routes]
    assert None not in paths
    assert {"/", "/api/about", "/api/explain", "/api/rows", "/api/summary", "/api/verify"} <= set(paths)

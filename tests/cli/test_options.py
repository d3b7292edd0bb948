"""Options that several commands share, as they are read and as the library takes them."""

from dataclasses import fields
from inspect import signature

import pytest
from cyclopts import App

from flipset import Explainer, InputError
from flipset.cli.options import EndpointOptions, ModelOptions, SearchOptions, SpaceOptions
from flipset.explain.request import Request
from flipset.models.remote.settings import Settings
from flipset.search.wanted_reasons import REASONS


def read(*arguments: str) -> tuple[ModelOptions, SpaceOptions, SearchOptions]:
    app = App(result_action="return_value")

    @app.default
    def command(
        how: ModelOptions | None = None, what: SpaceOptions | None = None, search: SearchOptions | None = None
    ) -> tuple[ModelOptions, SpaceOptions, SearchOptions]:
        return how or ModelOptions(), what or SpaceOptions(), search or SearchOptions()

    found: tuple[ModelOptions, SpaceOptions, SearchOptions] = app(arguments, exit_on_error=False, print_error=False)
    return found


def test_what_is_not_said_is_what_the_library_does() -> None:
    search = read()[2].request()
    defaults = signature(Explainer.explain).parameters
    assert search == {name: defaults[name].default for name in search}


def test_every_option_of_a_search_is_something_that_can_be_wanted() -> None:
    assert set(SearchOptions().request()) <= {one.name for one in fields(Request)}


def test_every_option_of_an_endpoint_is_a_setting() -> None:
    renamed = {"output_name": "output", "model_version": "version", "header_env": "headers"}
    names = {renamed.get(one.name, one.name) for one in fields(EndpointOptions)}
    assert names <= {one.name for one in fields(Settings)}


def test_options_are_flat_and_lists_may_come_in_parts() -> None:
    how, what, search = read(
        "--threshold", "0.3", "--url", "http://a/invocations", "--increasing", "a,b", "--increasing", "c",
        "--max-queries", "7", "--no-reasons",
    )  # fmt: skip
    assert how.threshold == 0.3
    assert how.endpoint.url == "http://a/invocations"
    assert what.increasing == ["a,b", "c"]
    assert (search.max_queries, search.reasons, search.values) == (7, False, True)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ((), REASONS), (("--reasons",), REASONS), (("--no-reasons",), False), (("--reasons", "none"), False),
        (("--reasons", "1"), 1), (("--reasons=7",), 7), (("--reasons", "all"), "all"), (("--reasons=false",), False),
    ],
)  # fmt: skip
def test_reasons_are_a_number_or_a_word(given: tuple[str, ...], wanted: object) -> None:
    assert read(*given)[2].request()["reasons"] == wanted


@pytest.mark.parametrize("given", ["0", "-2", "many", "2.5", ""])
def test_other_reasons_are_refused(given: str) -> None:
    with pytest.raises(InputError, match=rf"^--reasons {given}: expected a number of at least 1, all or none$"):
        read(f"--reasons={given}")[2].request()


def test_thresholds_are_numbers_between_commas() -> None:
    assert read("--thresholds", "0.3,0.5")[2].request()["thresholds"] == (0.3, 0.5)
    assert read()[2].request()["thresholds"] is None
    wanted = read("--max-options", "3", "--diverse", "--more", "5", "--curve")[2].request()
    assert (wanted["options"], wanted["diverse"], wanted["more"], wanted["curve"]) == (3, True, 5, True)

import asyncio
import errno
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from flipset import FlipsetError, OracleError, Search, StorageError, Unavailable, arun, ask, run
from flipset.protocol import Flips


def two() -> Search[list[float]]:
    return list((yield from ask((0b01, 0b10))))


def drive_sync(oracle: Callable[[Sequence[Flips]], Any]) -> list[float]:
    return run(two(), oracle)


def drive_async(oracle: Callable[[Sequence[Flips]], Any]) -> list[float]:
    async def waits(batch: Sequence[Flips]) -> Any:
        return oracle(batch)

    return asyncio.run(arun(two(), waits))


DRIVERS = pytest.mark.parametrize("drive", [drive_sync, drive_async])


@DRIVERS
@pytest.mark.parametrize(
    ("given", "read"),
    [
        ([True, False], [1.0, -1.0]),
        ([0.25, -0.0], [0.25, 0.0]),
        ([1, -1], [1.0, -1.0]),
        (np.array([True, False]), [1.0, -1.0]),
        (np.array([0.0, -2.5]), [0.0, -2.5]),
        (np.array([0.5, -2.5], dtype=np.float32), [0.5, -2.5]),
        (np.array([3, -2]), [3.0, -2.0]),
        ((float("inf"), float("-inf")), [float("inf"), float("-inf")]),
        ([Fraction(1, 2), Fraction(-1, 2)], [0.5, -0.5]),
    ],
)
def test_answers_that_can_be_read(drive: Callable[..., list[float]], given: Any, read: list[float]) -> None:
    assert drive(lambda batch: given) == read


@DRIVERS
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([True], "1 answer to 2 queries"),
        ([True] * 3, "3 answers to 2 queries"),
        ([1.0, float("nan")], "NaN"),
        (np.array([np.nan, 1.0]), "NaN"),
        ([1, 0], "integer 0"),
        (np.array([1, 0]), "integer 0"),
        (["yes", "no"], r"'yes' \(str\)"),
        ([None, 1.0], "NoneType"),
        (1.0, "must return a sequence .* float"),
    ],
)
def test_answers_that_cannot_be_read(drive: Callable[..., list[float]], given: Any, message: str) -> None:
    with pytest.raises(OracleError, match=message) as caught:
        drive(lambda batch: given)
    assert caught.value.batch == (0b01, 0b10)


@DRIVERS
def test_what_the_model_raises_is_kept_as_the_cause(drive: Callable[..., list[float]]) -> None:
    def broken(batch: Sequence[Flips]) -> list[float]:
        raise ZeroDivisionError("inside the model")

    with pytest.raises(OracleError, match="ZeroDivisionError when asked 2 queries: inside the model") as caught:
        drive(broken)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@DRIVERS
def test_an_interrupt_passes_and_closes_the_search(drive: Callable[..., list[float]]) -> None:
    def interrupted(batch: Sequence[Flips]) -> list[float]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        drive(interrupted)


@DRIVERS
@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (ConnectionResetError("gone"), Unavailable),
        (TimeoutError("too late"), Unavailable),
        (OSError(errno.ENOSPC, "No space left on device"), StorageError),
        (FileNotFoundError(errno.ENOENT, "a table of this row"), OracleError),
        (ValueError("this row"), OracleError),
    ],
)
def test_c3_faults_of_the_network_and_the_disk_are_not_blamed_on_the_queries(
    drive: Callable[..., Any], raised: Exception, kind: type[FlipsetError]
) -> None:
    def oracle(batch: Sequence[Flips]) -> Any:
        raise raised

    with pytest.raises(kind, match=f"the model raised {type(raised).__name__} when asked 2 queries") as caught:
        drive(oracle)
    assert type(caught.value) is kind
    assert caught.value.__cause__ is raised

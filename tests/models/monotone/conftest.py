"""Libraries use one thread: for models this small, more threads wait for each other, above all on a busy machine."""

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    with threadpool_limits(limits=1):
        yield

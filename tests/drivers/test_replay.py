"""Running a flow from a recording: what does not fit it is refused."""

import pytest

from flipset import run
from flipset.drivers import replay
from flipset.errors import ProtocolError
from flipset.layers import Transcript, trace
from flipset.protocol import Flow, ask


class Asks:
    """Asks what the first answer says."""

    def __init__(self) -> None:
        self.is_closed = False

    def flow(self) -> Flow[int, str]:
        try:
            (first,) = yield from ask([0])
            (second,) = yield from ask([1 if first >= 0 else 2])
            return f"{first}, {second}"
        finally:
            self.is_closed = True


def record(first: float) -> Transcript[int]:
    transcript: Transcript[int] = []
    run(trace(Asks().flow(), transcript), lambda batch: [first])
    return transcript


def test_the_same_answers_lead_to_the_same_result() -> None:
    asks = Asks()
    assert replay(asks.flow(), record(0.5)) == "0.5, 0.5"
    assert asks.is_closed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rounds: [rounds[0], record(-1.0)[1]], "round 2 .* other queries"),
        (lambda rounds: rounds[:1], "ends before"),
        (lambda rounds: [*rounds, rounds[0]], "done after round 2, but the transcript goes on"),
        (lambda rounds: [], "ends before"),
        (lambda rounds: [(rounds[0].queries, (1.0, 1.0)), rounds[1]], "2 answers to a batch of 1"),
    ],
)
def test_another_recording_is_refused_and_the_flow_closed(change: object, message: str) -> None:
    asks = Asks()
    with pytest.raises(ProtocolError, match=message):
        replay(asks.flow(), change(record(0.5)))  # type: ignore[operator]
    assert asks.is_closed


def test_a_recording_may_be_any_iterable() -> None:
    assert replay(Asks().flow(), iter(record(-1.0))) == "-1.0, -1.0"

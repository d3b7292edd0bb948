"""The clock of one flow among many, with a clock that the tests move."""

from flipset.layers import WorkClock, clocked, limit_seconds
from flipset.protocol import Done, Flow, advance, ask


class Wall:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_time_counts_while_the_flow_works_and_not_while_it_waits() -> None:
    wall = Wall()
    clock = WorkClock(wall)

    def working() -> Flow[int, float]:
        wall.now += 2
        yield from ask([1])
        wall.now += 3
        return clock()

    flow = clocked(working(), clock)
    assert advance(flow) == [1]
    wall.now += 100  # the work of others
    clock.add(0.5)  # its share of the call
    assert clock() == 2.5
    assert advance(flow, [1.0]) == Done(5.5)


def test_c6_a_limit_counts_the_flows_own_work_alone() -> None:
    wall = Wall()

    def asking() -> Flow[int, str]:
        for _ in range(3):
            yield from ask([1])
        return "done"

    clock = WorkClock(wall)
    flow = clocked(limit_seconds(asking(), 1, clock), clock)
    step = advance(flow)
    while not isinstance(step, Done):
        wall.now += 1000
        clock.add(0.1)
        step = advance(flow, [1.0])
    assert step.result == "done"

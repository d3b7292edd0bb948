"""Which question comes next: open ones only, and those first that are expected to settle most."""

from random import Random

from flipset import run
from flipset.protocol import features_of
from flipset.search.guided.beliefs import Beliefs
from flipset.search.guided.plan import PlannedQuery, plan
from flipset.search.guided.pool import Pool, sets_of_size
from flipset.search.guided.record import Record
from flipset.sets.known import Known


def planned(pool: Pool, known: Known, beliefs: Beliefs, room: int) -> list[PlannedQuery]:
    found: list[PlannedQuery] = run(plan(pool, known, beliefs, Record(), room), lambda batch: 1 / 0)  # type: ignore[arg-type,return-value]
    return found


def taught(weights: list[float], threshold: float, rng: Random, answers: int) -> tuple[Known, Beliefs]:
    """Facts and beliefs from some answers of an additive function."""
    known, beliefs = Known(), Beliefs(len(weights))
    for _ in range(answers):
        query = rng.randrange(1 << len(weights))
        margin = sum(weights[i] for i in features_of(query)) - threshold
        known.learn(query, margin >= 0)
        beliefs.learn(query, margin)
    return known, beliefs


def test_no_question_follows_from_what_is_known_or_is_asked_twice() -> None:
    for seed in range(60):
        rng = Random(seed)
        width = rng.randint(3, 9)
        known, beliefs = taught([rng.uniform(0, 2) for _ in range(width)], rng.uniform(1, 5), rng, 8)
        pool = sets_of_size(width, rng.choice([1, 2, 3]))
        run(pool.settle(known), lambda batch: 1 / 0)  # type: ignore[arg-type,return-value]
        before = pool.open
        questions = planned(pool, known, beliefs, room=6)
        assert pool.open == before  # planning changes nothing
        assert len(questions) <= 6
        assert bool(questions) == bool(before)
        asked = [question.query for question in questions]
        assert len(set(asked)) == len(asked)
        assert all(known.settle(query) is None for query in asked)
        assert all(question.chance is None or 0 < question.chance <= 1 for question in questions)


def test_where_most_do_not_flip_a_large_set_is_asked_and_where_most_do_a_candidate() -> None:
    rng = Random(5)
    weak = [0.1] * 9 + [3.0]
    known = Known()
    known.learn((1 << 10) - 1, True)  # a search knows that before it plans; of single features, nothing is settled yet
    _, beliefs = taught(weak, 2.0, rng, 30)
    (first, *_) = planned(fresh(10, known), known, beliefs, room=1)
    assert first.chance is not None
    assert first.query.bit_count() > 1  # one question for many candidates
    strong = [3.0] * 10
    _, beliefs = taught(strong, 2.0, rng, 0)
    beliefs.learn((1 << 10) - 1, 28.0)
    beliefs.learn(0, -2.0)
    beliefs.learn(1, 1.0)
    (first, *_) = planned(fresh(10, known), known, beliefs, room=1)
    assert first.query.bit_count() == 1


def fresh(width: int, known: Known) -> Pool:
    pool = sets_of_size(width, 1)
    run(pool.settle(known), lambda batch: 1 / 0)  # type: ignore[arg-type,return-value]
    return pool

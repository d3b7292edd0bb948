"""The contract of a search: right, frugal with its batch, and decided by its answers alone."""

from __future__ import annotations

from itertools import count as naturals
from typing import TYPE_CHECKING

from flipset.drivers import replay, run
from flipset.errors import BudgetExhausted, ProtocolError
from flipset.layers import Transcript, trace
from flipset.protocol import Done, advance, everything, interrupt, is_checkpoint
from flipset.testing.contract import Contract, check
from flipset.testing.functions import labels, margins, smallest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from flipset.protocol import Flips, Search
    from flipset.testing.contract import Case

    Oracle = Callable[[Sequence[Flips]], list[float]]

PATIENCE = 10
"""How often a search may ask again after it was told that its budget ended."""


class SearchContract(Contract):
    """What a search for all smallest flip sets must do. Define `search`.

    Attributes
    ----------
    batches
        The batch sizes that it is run with.
    most_checkpoints
        The steps, rounds and checkpoints together, after which a search is taken not to end.
    """

    batches: Sequence[int] = (1, 3, 16, 64)
    most_checkpoints: int = 1_000_000

    def search(self, d: int, *, batch: int) -> Search[tuple[Flips, ...]]:
        """Return a new search for all smallest flip sets of `d` features; no set, where nothing flips."""
        raise NotImplementedError

    def find(self, case: Case, oracle: Oracle, batch: int) -> list[Flips]:
        """Run the search; return the sets in order."""
        return sorted(run(self.search(case.d, batch=batch), oracle))

    def record(self, case: Case, oracle: Oracle, batch: int) -> Transcript[Flips]:
        """Run the search; return all rounds."""
        transcript: Transcript[Flips] = []
        run(trace(self.search(case.d, batch=batch), transcript), oracle)
        return transcript

    # --- the answer -----------------------------------------------------------------------------------------------

    def test_it_finds_what_enumeration_finds_with_labels(self) -> None:
        """All smallest flip sets, each once, at every batch size."""
        for case in self.cases():
            for batch in self.batches:
                found, truth = self.find(case, labels(case.g), batch), sorted(smallest(case.g, case.d))
                check(found == truth, f"{case.name}, batch {batch}: found {found}, and the truth is {truth}")

    def test_it_finds_what_enumeration_finds_with_margins(self) -> None:
        """The same where the answers have sizes; a margin of exactly 0 flips."""
        for case in self.cases():
            oracle, truth = margins(case.g, case.d, case.rng), sorted(smallest(case.g, case.d))
            for batch in self.batches:
                found = self.find(case, oracle, batch)
                check(found == truth, f"{case.name}, batch {batch}: found {found}, and the truth is {truth}")

    def test_it_concludes_from_signs_alone(self) -> None:
        """Margins of another scale, and sizes that mislead, lead to the same sets."""
        for case in self.cases():
            truth = sorted(smallest(case.g, case.d))
            for scale in (1e-30, 1e30):
                found = self.find(case, margins(case.g, case.d, case.rng, scale=scale), self.batches[-1])
                check(found == truth, f"{case.name}, margins times {scale}: found {found}, the truth is {truth}")
            for batch in self.batches:
                found = self.find(case, _misleading(case, case.rng), batch)
                check(found == truth, f"{case.name}, misleading sizes: found {found}, the truth is {truth}")

    # --- the exchange ---------------------------------------------------------------------------------------------

    def test_it_asks_sets_of_its_features_and_keeps_to_the_batch(self) -> None:
        """Every query is a bitmask of at most `d` features, and no round has more queries than the batch."""
        for case in self.cases():
            for batch in self.batches:
                for number, (queries, _) in enumerate(self.record(case, labels(case.g), batch), start=1):
                    where = f"{case.name}, batch {batch}, round {number}"
                    check(len(queries) <= batch, f"{where}: asks {len(queries)} queries")
                    for query in queries:
                        check(isinstance(query, int) and 0 <= query <= everything(case.d), f"{where}: asks {query!r}")

    def test_it_is_deterministic_and_replays_from_a_transcript(self) -> None:
        """The same answers lead to the same queries and the same result."""
        for case in self.cases():
            for batch in self.batches:
                transcript: Transcript[Flips] = []
                result = run(trace(self.search(case.d, batch=batch), transcript), labels(case.g))
                again = self.record(case, labels(case.g), batch)
                check(again == transcript, f"{case.name}, batch {batch}: two runs ask different queries")
                replayed = replay(self.search(case.d, batch=batch), transcript)
                check(replayed == result, f"{case.name}, batch {batch}: the transcript leads to {replayed}")

    def test_it_goes_on_from_a_checkpoint(self) -> None:
        """A driver answers an empty batch by no answers, and between two rounds there are finitely many."""
        for case in self.cases():
            search, oracle = self.search(case.d, batch=1), labels(case.g)
            step = advance(search)
            for _ in range(self.most_checkpoints):
                if isinstance(step, Done):
                    break
                step = advance(search, () if is_checkpoint(step) else oracle(step))
            check(isinstance(step, Done), f"{case.name}: the search does not end")

    def test_it_refuses_a_wrong_number_of_answers(self) -> None:
        """A driver's mistake is a `ProtocolError`, not a wrong result."""
        for case in self.cases():
            search = self.search(case.d, batch=self.batches[-1])
            step = _past_checkpoints(search, advance(search))
            if isinstance(step, Done):
                continue
            try:
                advance(search, [1.0] * (len(step) + 1))
            except ProtocolError:
                continue
            raise AssertionError(f"{case.name}: takes {len(step) + 1} answers to a batch of {len(step)}")

    # --- the end --------------------------------------------------------------------------------------------------

    def test_it_closes_cleanly_in_every_round(self) -> None:
        """Closing a search ends it; it neither asks nor raises."""
        for case in self.cases():
            # Every round, until the search has ended by itself: a mistake may be in any of them.
            for round_ in naturals():
                search = self.search(case.d, batch=self.batches[0])
                step = _advance_to(search, round_, labels(case.g))
                search.close()
                check(_has_ended(search), f"{case.name}: the search is not over after it was closed")
                if isinstance(step, Done):
                    break

    def test_it_ends_when_a_budget_ends(self) -> None:
        """`BudgetExhausted`, raised where it waits for answers, ends it: by that error, or with a result."""
        for case in self.cases():
            for round_ in naturals():
                search = self.search(case.d, batch=self.batches[0])
                step = _advance_to(search, round_, labels(case.g))
                if isinstance(step, Done):
                    break
                check(_ends_by_budget(search), f"{case.name}, round {round_ + 1}: asks on after its budget ended")


def _misleading(case: Case, rng: Random) -> Oracle:
    """Answer by the sign of the function and a size that has nothing to do with it."""
    # Drawn once for each set, so that asking twice gives the same answer.
    sizes = [rng.choice((1e-9, 0.3, 1.0, 7.0, 1e9)) for _ in range(1 << case.d)]
    return lambda batch: [sizes[query] if case.g(query) else -sizes[query] for query in batch]


def _past_checkpoints(
    search: Search[tuple[Flips, ...]], step: Sequence[Flips] | Done[tuple[Flips, ...]]
) -> Sequence[Flips] | Done[tuple[Flips, ...]]:
    while is_checkpoint(step):
        step = advance(search, ())
    return step


def _advance_to(
    search: Search[tuple[Flips, ...]], rounds: int, oracle: Oracle
) -> Sequence[Flips] | Done[tuple[Flips, ...]]:
    """Answer so many rounds; return what the search does then."""
    step = _past_checkpoints(search, advance(search))
    for _ in range(rounds):
        if isinstance(step, Done):
            break
        step = _past_checkpoints(search, advance(search, oracle(step)))
    return step


def _ends_by_budget(search: Search[tuple[Flips, ...]]) -> bool:
    """Tell a search that its budget ended, and again whenever it asks; say whether it ends."""
    try:
        # A search may ask again before it gives up, but not for ever.
        for _ in range(PATIENCE):
            step = _past_checkpoints(search, interrupt(search, BudgetExhausted("a test")))
            if isinstance(step, Done):
                return True
    except BudgetExhausted:
        return True
    return False


def _has_ended(search: Search[tuple[Flips, ...]]) -> bool:
    try:
        next(search)
    except StopIteration:
        return True
    return False

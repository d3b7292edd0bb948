"""The proved worst case, and what it leaves to guesses."""

from flipset.search.guided.bound import credit, worst_case


def test_credit_is_the_difference_of_the_two_bounds_and_grows() -> None:
    for d, c, r, size in [(10, 1, 1, 1), (100, 5, 9, 3), (10_000, 12, 40, 2)]:
        assert credit(d, c, r, size) == worst_case(d, c, r, size) - worst_case(d, c, r, size, probes=1)
        assert credit(d, c + 1, r + 1, size) > credit(d, c, r, size)
        assert credit(d, c, r, size + 1) >= credit(d, c, r, size)

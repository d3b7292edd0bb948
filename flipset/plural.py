"""Numbers with their nouns, for text: "1 query", "2 queries"."""

from __future__ import annotations


def count(n: float, noun: str) -> str:
    """Return a number and its noun, in the singular for 1.

    Examples
    --------
    >>> count(1, "query"), count(1200, "query"), count(0, "row"), count(2, "way")
    ('1 query', '1,200 queries', '0 rows', '2 ways')
    """
    return f"{n:,} {noun if n == 1 else plural(noun)}"


def count_seconds(seconds: float) -> str:
    """Return a duration in seconds, rounded to hundredths.

    Examples
    --------
    >>> count_seconds(1.0), count_seconds(0.9789), count_seconds(86400)
    ('1 second', '0.98 seconds', '86,400 seconds')
    """
    return f"{round(seconds, 2):,g} {'second' if seconds == 1 else 'seconds'}"


def plural(noun: str) -> str:
    """Return the plural of a noun that forms it in one of the two regular ways."""
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"

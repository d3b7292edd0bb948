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


def plural(noun: str) -> str:
    """Return the plural of a noun that forms it in one of the two regular ways."""
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"

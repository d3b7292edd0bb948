"""The limits on everything that is read, each with what it counts and the reason for its value.

A file, a table or a request may come from a stranger. Each limit is checked before work is done in proportion to the
thing that it bounds, and what exceeds it is an `InputError` that names the field and the limit. The values are far
above what flipset writes itself, and `tests/test_limits.py` holds writer and readers to that. docs/reliability.md has
this list as a table, made from this module.
"""

from __future__ import annotations


class Limit(int):
    """A whole number that must not be exceeded, with what it counts and the reason for its value."""

    what: str
    reason: str

    def __new__(cls, value: int, what: str, reason: str) -> Limit:
        """Make a limit."""
        limit = super().__new__(cls, value)
        limit.what, limit.reason = what, reason
        return limit

    def __reduce__(self) -> tuple[type[Limit], tuple[int, str, str]]:
        return Limit, (int(self), self.what, self.reason)


# --- any text -------------------------------------------------------------------------------------------------------

MOST_CHARACTERS = Limit(
    256_000_000,
    "characters of a JSON text",
    "an explanation with 142,506 counterfactuals of 30 columns has about 100 million",
)
MOST_VALUES = Limit(
    32_000_000,
    "values in a JSON text, counted by its commas and brackets",
    "a parsed value takes up to 80 bytes, so this is 2.6 GB",
)
MOST_TOML_CHARACTERS = Limit(
    32_000_000,
    "characters of a TOML text",
    "a space of 100,000 columns has about 9 million, and parsing TOML is slow",
)
MOST_TOML_DOTS = Limit(
    64,
    "dots in a TOML text between two commas, brackets, equals signs or line breaks",
    "parsing a dotted key takes time in proportion to the square of its parts; a space has no dotted keys",
)
MOST_TEXT = Limit(100_000, "characters of one string, such as a name or a cell", "a cell is a value, not a document")
MOST_DIGITS = Limit(300, "digits of a whole number or a decimal", "a number of more digits is not a float")
MOST_EXPONENT = Limit(300, "exponent of a decimal, positive or negative", "1e100000000 takes hours to compute with")
MOST_WEIGHT_EXPONENT = Limit(
    100, "exponent of a weight, positive or negative", "weights are added exactly, as fractions of whole numbers"
)

# --- explanations, proofs and spaces ----------------------------------------------------------------------------------

MOST_COLUMNS = Limit(
    100_000, "columns of a row, a space or a table; units that can move", "five times the widest known"
)
MOST_OPTIONS = Limit(
    100_000, "options of one feature, or combinations of those of a group", "a query has all of them as rows"
)
MAX_BLOCK = Limit(
    4_096,
    "rows of one query, where features have several options; `max_block` changes it",
    "every query of the search takes as many rows",
)
MOST_SETS = Limit(
    1_000_000,
    "flip sets; also reasons, counterfactuals, contradictions, and zeros or ones of a proof",
    "seven times the 142,506 smallest sets of 5 among 30 features",
)
MOST_FEATURES = Limit(1_000_000, "features of a proof by itself", "research on functions with very many features")
MOST_BITS = Limit(
    800_000_000,
    "features of a proof times its sets",
    "in memory a set takes one bit for each feature, however few it names: this is 100 MB",
)

# --- checks -----------------------------------------------------------------------------------------------------------

CHECK_STEPS = Limit(
    100_000_000,
    "steps of a verification, or of the check of a proof; `steps` and --max-steps change it",
    "a check can take exponential time; this many steps take 5 to 20 s",
)
MOST_QUERIED = Limit(5_000_000, "rows that a verification may query", "the model may be slow")
MOST_QUERIED_CELLS = Limit(
    50_000_000,
    "cells that the queries of a verification may change",
    "one query of 100,000 units changes 100,000 cells, and a file has room for many",
)
CELLS_AT_ONCE = Limit(
    4_000_000, "cells of one call of the model in a verification", "in memory a cell takes up to 100 bytes"
)

# --- trees ------------------------------------------------------------------------------------------------------------

MOST_LEAF_PAIRS = Limit(
    20_000_000,
    "pairs of nodes that are compared to show that trees are in order",
    "some seconds; 500 trees of depth 6 have at most 1 million",
)
MOST_BOX_CELLS = Limit(
    100_000_000,
    "inputs of all nodes whose boxes are computed to show that trees are in order",
    "some seconds; 500 trees of depth 6 with 30 inputs have 2 million",
)
MOST_TREE_NODES = Limit(
    5_000_000, "nodes of the trees that are read to show that they are in order", "a node takes about 60 bytes: 300 MB"
)

# --- tables on the command line ---------------------------------------------------------------------------------------

MOST_TABLE_BYTES = Limit(
    8_000_000_000, "bytes of a table in a file, uncompressed", "a small compressed file may hold any number of bytes"
)
MOST_TABLE_CELLS = Limit(1_000_000_000, "cells of a table: rows times columns", "a number takes 8 bytes: 8 GB")

# --- the page ---------------------------------------------------------------------------------------------------------

MOST_REQUEST_BYTES = Limit(
    4_000_000, "bytes of the body of a request to the page", "2,000 rows of 100 columns have about 3 million"
)
MOST_REQUEST_ROWS = Limit(2_000, "rows of one request to the page", "some seconds of work, while others wait")
MOST_REQUEST_NAMES = Limit(
    10_000, "names of features, or cells, of a row in a request to the page", "a person changes some tens"
)
MOST_FILTER = Limit(
    500, "characters of a filter of the page's table", "filters are part of the address, which has 64 kB"
)
MOST_PROBLEMS = Limit(20, "errors listed for one malformed request to the page", "the first ones say what is wrong")
PAGE_CHECK_STEPS = Limit(
    20_000_000, "steps of a verification on the page", "1 to 4 s; `flipset verify` has room for more"
)
BACKGROUND_QUERIES = Limit(
    2_000,
    "queries for one row that the page explains in the background, where rows need this many in the mean",
    "a row usually needs 5 to 900; a row that is opened has no such limit",
)
BACKGROUND_ROWS = Limit(
    200_000, "rows that the page explains in the background; others are explained when they are viewed", "some minutes"
)
MOST_CONNECTIONS = Limit(
    256, "connections to the page at a time", "a process may usually have 1,024 files open; a browser uses 6"
)
RECEIPT_SECONDS = Limit(
    20,
    "seconds in which a request to the page must arrive, and in which a client must read what was sent",
    "4 MB at 200 kB/s",
)

LIMITS = {name: value for name, value in list(globals().items()) if isinstance(value, Limit)}
"""All limits, by name."""

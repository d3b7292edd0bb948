"""Pins: what the library did before it was rebuilt, one line for each of some 2,000 seeded cases.

Query order is behaviour. Whoever moves code runs `python -m tests.pins --check --jobs 2` and sees which cases differ,
and in what. `pins.json` has for each case five hashes, joined by ":", so that a change that was meant can be told from
one that was not:

answer
    Everything that a user reads apart from the rest of this list: decision, status, sizes, flip sets, counterfactuals
    with their values and costs, grids, contradictions, kinds of errors.
reasons
    The reasons, or certificates, in their order.
proof
    Zeros and ones, in their order.
cost
    Queries and rounds as reported, calls of the model and the largest of them.
asked
    The rows or sets that the model was given, call by call, in order. Where calls are made side by side, and their
    order is up to chance, the set of all of them.

A case about a table has the hash of each row after that, in order: four digits, of everything but the calls.
Errors count by their kind, not by their words, and so do the problems that `verify` finds: words may change.

Cases use public names only, models written by hand, and no chance but that of seeds. Models add up column by column,
for the sums of linear algebra depend on the machine.

    python -m tests.pins                      write pins.json anew
    python -m tests.pins --check --jobs 2     tell what differs; exit code 1 if anything does
    python -m tests.pins --check --only rows/ some cases only
    python -m tests.pins --show NAME          one case in full, as JSON, to compare old and new
"""

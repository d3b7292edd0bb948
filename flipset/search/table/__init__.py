"""The table search: the smallest flip sets of many rows at once, in arrays.

`search` holds the state of every row and decides what each asks next, `chains` grows the zeros, `log` keeps all queries
and answers, and `one` runs the same search for a single row.
"""

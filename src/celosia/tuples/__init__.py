"""The compressed tuple table: which combinations of values occur, in how many rows, for how many persons.

Everything that risk, criteria and search know about a million rows. NumPy only; no files, no engines.
Codes are positions in a vocabulary sorted by code point; tuples are sorted by their codes, so the same data
give the same table on every engine.
"""

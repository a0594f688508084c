"""Counts, ranks and digests of the columns of a table, made inside the engine."""

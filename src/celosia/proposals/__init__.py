"""Proposals for the dictionary, from the names and the values of the columns.

Public names: `suggest` over `ColumnFacts`, the measures of one column, and dependencies between columns.
"""

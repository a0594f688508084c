"""The compressed tuple table: which combinations of values occur, in how many rows, for how many persons.

Everything that risk, criteria and search know about a million rows. NumPy only; no files, no engines.
Codes are positions in a vocabulary sorted by code point; tuples are sorted by their codes, so the same data
give the same table on every engine.
"""

from celosia.tuples._finer import Counted, tuples_with
from celosia.tuples._group import group_codes, pack_keys
from celosia.tuples._table import (
    Persons,
    Tuples,
    distinct_pairs,
    labels_over,
    person_counts,
    persons_in_groups,
    pick,
    project,
    roll_up,
    roll_up_persons,
)

__all__ = [
    "Counted",
    "Persons",
    "Tuples",
    "distinct_pairs",
    "group_codes",
    "labels_over",
    "pack_keys",
    "person_counts",
    "persons_in_groups",
    "pick",
    "project",
    "roll_up",
    "roll_up_persons",
    "tuples_with",
]

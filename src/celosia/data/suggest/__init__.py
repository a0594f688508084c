"""Proposals for the dictionary, from the names and the values of the columns.

Public names: `suggest` over `ColumnFacts`, the measures of one column, and dependencies between columns.
"""

from celosia.data.suggest._dependencies import Dependency, contradicted, dependencies, dependencies_of_codes
from celosia.data.suggest._facts import (
    ColumnFacts,
    distinctness,
    entropy,
    list_rare_values,
    rare_values,
    separation,
)
from celosia.data.suggest._judged import Judged, judged
from celosia.data.suggest._person import person_key
from celosia.data.suggest._propose import suggest

__all__ = [
    "ColumnFacts",
    "Dependency",
    "Judged",
    "contradicted",
    "dependencies",
    "dependencies_of_codes",
    "distinctness",
    "entropy",
    "judged",
    "list_rare_values",
    "person_key",
    "rare_values",
    "separation",
    "suggest",
]

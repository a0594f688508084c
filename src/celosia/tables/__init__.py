"""Cross tables that give nothing back: primary rules, secondary suppression, audit, rounding, over time.

Arrays in, arrays out; no table, no engine, no file.
"""

from celosia.tables._audit import Audit, audit
from celosia.tables._bounds import PRIMARY, PUBLISHED, SECONDARY, Bounds, Reasons, Status, threshold_bounds
from celosia.tables._cells import (
    ALL,
    CellTable,
    Dimension,
    Margins,
    beneath_small,
    cell_table,
    kept_sets,
    never_empty,
    with_empty,
)
from celosia.tables._elimination import complete, recoverable
from celosia.tables._grid import Cells, Flags, Grid, Values
from celosia.tables._linking import grid_of
from celosia.tables._merge import Merge, free_label, merge_small
from celosia.tables._primary import below_threshold, dominated, empty, few_for_a_mean, full, together, within_p_percent
from celosia.tables._protect import BoundsOf, Protection, levels, protect, protect_sums

__all__ = [
    "ALL",
    "PRIMARY",
    "PUBLISHED",
    "SECONDARY",
    "Audit",
    "Bounds",
    "BoundsOf",
    "CellTable",
    "Cells",
    "Dimension",
    "Flags",
    "Grid",
    "Margins",
    "Merge",
    "Protection",
    "Reasons",
    "Status",
    "Values",
    "audit",
    "below_threshold",
    "beneath_small",
    "cell_table",
    "complete",
    "dominated",
    "empty",
    "few_for_a_mean",
    "free_label",
    "full",
    "grid_of",
    "kept_sets",
    "levels",
    "merge_small",
    "never_empty",
    "protect",
    "protect_sums",
    "recoverable",
    "threshold_bounds",
    "together",
    "with_empty",
    "within_p_percent",
]

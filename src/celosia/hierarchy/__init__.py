"""Hierarchies: builders, files in ARX's layout, official code lists, and the maps the search works with.

Knows labels and vocabularies. Ignores tables, engines and policies. Official lists are in
`celosia.hierarchy.official`.
"""

from celosia.hierarchy._builder import Builder
from celosia.hierarchy._compile import compile_for, depth_first_order, gaps, level_range
from celosia.hierarchy._csv import read_csv, write_csv
from celosia.hierarchy._edits import placed, regrouped, renamed, under_star, with_level, without_level
from celosia.hierarchy._groups import natural_order
from celosia.hierarchy._masks import short_numbers
from celosia.hierarchy._model import CompiledHierarchy, Hierarchy
from celosia.hierarchy._registry import BUILDERS, build, check_spec, level_detail
from celosia.hierarchy._rows import from_rows, split_groups, to_rows
from celosia.model.parameters import Param

__all__ = [
    "BUILDERS",
    "Builder",
    "CompiledHierarchy",
    "Hierarchy",
    "Param",
    "build",
    "check_spec",
    "compile_for",
    "depth_first_order",
    "from_rows",
    "gaps",
    "level_detail",
    "level_range",
    "natural_order",
    "placed",
    "read_csv",
    "regrouped",
    "renamed",
    "short_numbers",
    "split_groups",
    "to_rows",
    "under_star",
    "with_level",
    "without_level",
    "write_csv",
]

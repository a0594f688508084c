"""Conditions on rows, as a step declares them: a table from columns to the values they must have.

Knows texts. Ignores numbers and order. Several columns must all hold; of several tables, one is enough. A missing
cell is written "".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.techniques._checks import wrong_setting
from celosia.techniques._contract import StepInput

Condition = Mapping[str, Sequence[str]]


def conditions(technique: str, parameter: str, declared: Any) -> tuple[Condition, ...]:
    """A declared condition, or several, checked."""
    tables = (declared,) if isinstance(declared, dict) else tuple(declared or ())
    for table in tables:
        if not isinstance(table, dict) or not table or not all(_texts(values) for values in table.values()):
            raise wrong_setting(technique, parameter, "condition")
    return tables


def _texts(values: Any) -> bool:
    return isinstance(values, list | tuple) and bool(values) and all(isinstance(value, str) for value in values)


def columns_named(tables: Sequence[Condition]) -> tuple[str, ...]:
    """The columns that conditions name."""
    return tuple(dict.fromkeys(name for table in tables for name in table))


def lines_where(given: StepInput, tables: Sequence[Condition]) -> NDArray[np.bool_]:
    """The lines for which one of the conditions holds."""
    holds = np.zeros(given.lines, bool)
    for table in tables:
        all_columns = np.ones(given.lines, bool)
        for name, values in table.items():
            all_columns &= _is_among(given.columns[name], values)
        holds |= all_columns
    return holds


def count_unmatched_values(given: StepInput, tables: Sequence[Condition]) -> int:
    """How many of the declared values no row has: a sign of a code written in another way."""
    declared = {(name, value) for table in tables for name, values in table.items() for value in values}
    present = {name: set(pc.unique(given.columns[name]).to_pylist()) for name in columns_named(tables)}
    return sum(value not in present[name] for name, value in declared)


def _is_among(cells: pa.Array, values: Sequence[str]) -> NDArray[np.bool_]:
    among = pc.is_in(cells, value_set=pa.array(list(dict.fromkeys(values)), cells.type))
    return np.asarray(among.to_numpy(zero_copy_only=False), bool)

"""Global recoding: every category to another by a declared map; one that the map lacks stops the run.

Knows texts. Ignores hierarchies. Missing (""), masked and unknown cells stay unless the map names them.
Source: ATENEA 4.2.4 (global recoding); YAPÓ 2.5 (institution to its kind).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from celosia.model.parameters import Text, TomlTable
from celosia.model.values import CellKind, kind_of
from celosia.techniques._checks import wrong_setting
from celosia.techniques._columns import unknown_in
from celosia.techniques._contract import Settings, StepInput
from celosia.techniques._families import recoding
from celosia.techniques._values import each_value, refuse_unmapped

_NAME = "recode"


def values_without_map(given: StepInput, settings: Settings) -> list[str]:
    """The values without a counterpart, in code-point order: for the private list alone, shown on request."""
    table = _map(settings)
    plain = {
        value
        for name in settings["columns"]
        for value in given.columns[name].unique().to_pylist()
        if kind_of(value, unknown_in(settings, name)) is CellKind.PLAIN
    }
    return sorted(plain - table.keys())


def _map(settings: Settings) -> Mapping[str, str]:
    declared: Any = settings["map"]
    if not isinstance(declared, dict) or not all(isinstance(text, str) for text in declared.values()):
        raise wrong_setting(_NAME, "map", "map")
    return declared


def _recode_column(given: StepInput, name: str, settings: Settings) -> pa.Array:
    table, others = _map(settings), settings["others"]
    unknown = [code for code in unknown_in(settings, name) if code not in table]
    special = {old: new for old, new in table.items() if kind_of(old) is not CellKind.PLAIN}
    cells = given.columns[name]
    column = each_value(cells, unknown, lambda values: [table.get(v, others) for v in values], special)
    refuse_unmapped(_NAME, given, name, column.failed)
    return column.cells


TECHNIQUE = recoding(
    _NAME,
    {"map": TomlTable(required=True), "others": Text()},
    _recode_column,
    check=_map,
    uncovered=values_without_map,
    norms=("A25", "Y12"),
)

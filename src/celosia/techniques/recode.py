"""Global recoding: every category to another by a declared map; one that the map lacks stops the run.

Knows texts. Ignores hierarchies. Missing (""), masked and unknown cells stay unless the map names them.
Source: ATENEA 4.2.4 (global recoding); YAPÓ 2.5 (institution to its kind).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from celosia.errors import UnmappedValues
from celosia.model.parameters import Param, conflict
from celosia.model.values import CellKind, kind_of
from celosia.techniques._contract import (
    COLUMNS,
    INTO,
    UNKNOWN,
    Given,
    Lines,
    Outcome,
    Settings,
    Technique,
    columns_of,
    unknown_in,
)
from celosia.techniques._draws import Draws
from celosia.techniques._values import each_value, new_names, recoded

_NAME = "recode"


def unmapped(given: Given, settings: Settings) -> list[str]:
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
        raise conflict(_NAME, "map", "map", "techniques")
    return declared


def _apply(given: Given, settings: Settings, draws: Draws) -> Outcome:
    names, table = new_names(_NAME, settings), _map(settings)
    made = {name: _recoded(given, name, table, settings) for name in names}
    return recoded(names, made)


def _recoded(given: Given, name: str, table: Mapping[str, str], settings: Settings) -> pa.Array:
    others = settings["others"]
    unknown = [code for code in unknown_in(settings, name) if code not in table]
    special = {old: new for old, new in table.items() if kind_of(old) is not CellKind.PLAIN}
    made = each_value(given.columns[name], unknown, lambda values: [table.get(v, others) for v in values], special)
    if made.failed.any():
        distinct = len(given.columns[name].filter(pa.array(made.failed)).unique())
        rows = int(given.rows[made.failed].sum())
        raise UnmappedValues(technique=_NAME, variable=name, distinct=distinct, rows=rows)
    return made.cells


TECHNIQUE = Technique(
    name=_NAME,
    lines=Lines.VALUES,
    params={
        "columns": COLUMNS,
        "map": Param("table", required=True),
        "others": Param("text"),
        "into": INTO,
        "unknown": UNKNOWN,
    },
    uses=columns_of,
    apply=_apply,
    uncovered=unmapped,
    apart=True,
    norms=("A25", "Y12"),
)

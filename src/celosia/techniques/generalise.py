"""Generalisation to a level of a hierarchy, described as in celosia.toml, or of an official list.

Knows levels. Ignores how a hierarchy is made (`celosia.hierarchy`), and reports what it does not cover in the
hierarchy's own words. Missing, masked and unknown cells stay categories of their own at every level; at a level that
sends everything to `*` they go there too, since leaving them would say who answered.
Source: MINSAL, Implementación (age to ranges, country to national or not); ATENEA 4.2.4.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from celosia.hierarchy.compile import compile_for, level_range
from celosia.hierarchy.csv import read_csv
from celosia.hierarchy.model import CompiledHierarchy
from celosia.hierarchy.official import LISTS
from celosia.hierarchy.registry import build
from celosia.model.parameters import Text, TomlTable, Whole
from celosia.techniques._checks import wrong_setting
from celosia.techniques._columns import unknown_in
from celosia.techniques._contract import Settings, StepInput
from celosia.techniques._families import recoding

_NAME = "generalise"
_BOUNDS = ("minimum", "maximum")  # of the search; a step names its one level


def _description(settings: Settings) -> dict[str, Any]:
    """The hierarchy's description: the one given, or that of the official list."""
    described, official = settings["hierarchy"], settings["list"]
    if (described is None) == (official is None) or not isinstance(described, dict | None):
        raise wrong_setting(_NAME, "hierarchy, list", "hierarchy_or_list")
    if described is None:
        return {"builder": "official", "list": official, "pad": True, "uncovered": settings["uncovered"]}
    return {name: value for name, value in described.items() if name not in _BOUNDS}


def _generalise_column(given: StepInput, name: str, settings: Settings) -> pa.Array:
    encoded = given.columns[name].dictionary_encode()
    values, codes = encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False)
    rows = np.bincount(codes, weights=given.rows, minlength=len(values)).astype(np.int64)
    counts = dict(zip(values, rows.tolist(), strict=True))
    levels = _compile_hierarchy(name, values, counts, _description(settings), unknown_in(settings, name))
    level = settings["level"]
    level_range(levels, level, level)
    labels = pa.array(levels.labels[level], pa.large_string())
    return labels.take(pa.array(levels.maps[level][codes]))


def _compile_hierarchy(
    name: str, values: list[str], counts: dict[str, int], spec: dict[str, Any], unknown: tuple[str, ...]
) -> CompiledHierarchy:
    if "file" in spec:
        path = Path(str(spec["file"]))
        read, _ = read_csv(path, name)
        return compile_for(read, values, unknown=unknown, gap=spec.get("uncovered", "error"), file=str(path))
    declared = {**spec, "unknown": [*dict.fromkeys((*spec.get("unknown", ()), *unknown))]}
    hierarchy = build(declared, values, variable=name, counts=counts)
    return compile_for(hierarchy, values, unknown=declared["unknown"])


TECHNIQUE = recoding(
    _NAME,
    {
        "hierarchy": TomlTable(),
        "list": Text(choices=LISTS),
        "uncovered": Text(default="error", choices=("error", "suppress")),
        "level": Whole(default=1, minimum=0),
    },
    _generalise_column,
    check=_description,
    norms=("A27", "M16", "M17"),
)

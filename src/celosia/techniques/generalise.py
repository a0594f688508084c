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

from celosia.hierarchy import CompiledHierarchy, build, compile_for, level_range, read_csv
from celosia.hierarchy.official import LISTS
from celosia.model.parameters import Param, conflict
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
from celosia.techniques._values import new_names, recoded

_NAME = "generalise"
_BOUNDS = ("minimum", "maximum")  # of the search; a step names its one level


def _apply(given: Given, settings: Settings, draws: Draws) -> Outcome:
    names, spec = new_names(_NAME, settings), _description(settings)
    return recoded(names, {name: _generalised(given, name, spec, settings) for name in names})


def _description(settings: Settings) -> dict[str, Any]:
    """The hierarchy's description: the one given, or that of the official list."""
    described, official = settings["hierarchy"], settings["list"]
    if (described is None) == (official is None) or not isinstance(described, dict | None):
        raise conflict(_NAME, "hierarchy, list", "hierarchy_or_list", "techniques")
    spec = _official(settings) if described is None else dict(described)
    return {name: value for name, value in spec.items() if name not in _BOUNDS}


def _official(settings: Settings) -> dict[str, Any]:
    return {"builder": "official", "list": settings["list"], "pad": True, "uncovered": settings["uncovered"]}


def _generalised(given: Given, name: str, spec: dict[str, Any], settings: Settings) -> pa.Array:
    encoded = given.columns[name].dictionary_encode()
    values, places = encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False)
    rows = np.bincount(places, weights=given.rows, minlength=len(values)).astype(np.int64)
    levels = _compiled(name, values, dict(zip(values, rows.tolist(), strict=True)), spec, unknown_in(settings, name))
    level = settings["level"]
    level_range(levels, level, level)
    labels = pa.array(levels.labels[level], pa.large_string())
    return labels.take(pa.array(levels.maps[level][places]))


def _compiled(
    name: str, values: list[str], counts: dict[str, int], spec: dict[str, Any], unknown: tuple[str, ...]
) -> CompiledHierarchy:
    if "file" in spec:
        path = Path(str(spec["file"]))
        read, _ = read_csv(path, name)
        return compile_for(read, values, unknown=unknown, gap=spec.get("uncovered", "error"), file=str(path))
    declared = {**spec, "unknown": [*dict.fromkeys((*spec.get("unknown", ()), *unknown))]}
    made = build(declared, values, variable=name, counts=counts)
    return compile_for(made, values, unknown=declared["unknown"])


TECHNIQUE = Technique(
    name=_NAME,
    lines=Lines.VALUES,
    params={
        "columns": COLUMNS,
        "hierarchy": Param("table"),
        "list": Param("text", choices=LISTS),
        "uncovered": Param("text", default="error", choices=("error", "suppress")),
        "level": Param("whole", default=1, minimum=0),
        "into": INTO,
        "unknown": UNKNOWN,
    },
    uses=columns_of,
    apply=_apply,
    apart=True,
    norms=("A27", "M16", "M17"),
)

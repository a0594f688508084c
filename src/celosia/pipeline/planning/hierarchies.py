"""The hierarchy of each quasi-identifier: described in celosia.toml, brought as a file, or proposed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from celosia.hierarchy.compile import compile_for
from celosia.hierarchy.csv import read_csv
from celosia.hierarchy.model import CompiledHierarchy
from celosia.hierarchy.official import lookup
from celosia.hierarchy.registry import build, level_detail
from celosia.model.paths import SETTINGS
from celosia.model.values import CellKind, kind_of
from celosia.model.variables import Variable
from celosia.pipeline.intake.proposed_hierarchies import MOST, default_spec
from celosia.pipeline.planning.errors import SensitiveHierarchyMissing
from celosia.tuples.table import Tuples, project


def compiled_hierarchies(
    quasi: Tuples, variables: Mapping[str, Variable], specs: Mapping[str, Mapping[str, Any]], folder: Path
) -> dict[str, CompiledHierarchy]:
    """The level maps of every quasi-identifier over the values that occur."""
    return {
        name: compiled_hierarchy(variables[name], vocabulary, specs.get(name), folder, _row_counts(quasi, i))
        for i, (name, vocabulary) in enumerate(zip(quasi.names, quasi.vocabularies, strict=True))
    }


def sensitive_hierarchies(
    tables: Mapping[str, Tuples],
    variables: Mapping[str, Variable],
    specs: Mapping[str, Mapping[str, Any]],
    needed: Sequence[str],
    folder: Path,
) -> dict[str, CompiledHierarchy]:
    """The level maps of the sensitive variables that are described, and of those that a criterion needs."""
    compiled = {}
    for name in tables:
        if name in specs or name in needed:
            own = project(tables[name], (name,))[0]
            [vocabulary] = own.vocabularies
            spec = specs[name] if name in specs else sensitive_spec(variables[name], vocabulary)
            compiled[name] = compiled_hierarchy(variables[name], vocabulary, spec, folder, _row_counts(own, 0))
    return compiled


def sensitive_spec(variable: Variable, vocabulary: Sequence[str]) -> dict[str, Any]:
    """ICD-10's levels for a column of diagnoses; anything else must be described by a person."""
    plain = [value for value in vocabulary if kind_of(value, variable.unknown) is CellKind.PLAIN]
    diagnoses = lookup("icd10")
    if plain and sum(diagnoses.knows(value) for value in plain) >= MOST * len(plain):
        return {"builder": "official", "list": "icd10", "uncovered": "suppress"}
    raise SensitiveHierarchyMissing(variable=variable.name)


def compiled_hierarchy(
    variable: Variable,
    vocabulary: Sequence[str],
    spec: Mapping[str, Any] | None,
    folder: Path,
    counts: Mapping[str, int],
) -> CompiledHierarchy:
    """The level maps of one variable over its values and the rows behind each."""
    if spec and "file" in spec:
        path, gap = folder / str(spec["file"]), spec.get("uncovered", "error")
        hierarchy, _ = read_csv(path, variable.name)
        return compile_for(hierarchy, vocabulary, unknown=variable.unknown, gap=gap, file=str(path))
    chosen = dict(spec) if spec else default_spec(variable, vocabulary)
    chosen.setdefault("unknown", list(variable.unknown))
    hierarchy = build(chosen, vocabulary, variable=variable.name, counts=counts)
    return compile_for(hierarchy, vocabulary, unknown=variable.unknown, file=SETTINGS)


def published_detail(
    variable: Variable, spec: Mapping[str, Any] | None, tree: CompiledHierarchy, level: int
) -> dict[str, str]:
    """What a level shows, in facts that hold no value, and how many levels there are."""
    detail = {"builder": "top"}
    if len(tree.labels[level]) > 1:
        detail = level_detail(spec or default_spec(variable, tree.labels[0]), level)
    return {**detail, "height": str(tree.height)}


def _row_counts(tuples: Tuples, column: int) -> dict[str, int]:
    """Rows behind each value of a column."""
    rows = np.zeros(tuples.sizes[column], np.int64)
    np.add.at(rows, tuples.codes[:, column], tuples.rows)
    return dict(zip(tuples.vocabularies[column], rows.tolist(), strict=True))

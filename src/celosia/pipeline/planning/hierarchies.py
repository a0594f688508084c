"""The hierarchy of each quasi-identifier: described in celosia.toml, brought as a file, or proposed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from celosia.hierarchy.compile import compile_for
from celosia.hierarchy.csv import read_csv
from celosia.hierarchy.model import CompiledHierarchy, Hierarchy
from celosia.hierarchy.official import lookup
from celosia.hierarchy.registry import build, level_detail
from celosia.model.paths import SETTINGS
from celosia.model.values import CellKind, kind_of
from celosia.model.variables import Variable
from celosia.pipeline.intake.proposed_hierarchies import MOST, default_spec
from celosia.pipeline.planning.errors import SensitiveHierarchyMissing
from celosia.tuples.table import Tuples, project

HierarchyFolder = Path | Mapping[str, Hierarchy]  # a project's folder, or tables in memory by the name of their file


def compiled_hierarchies(
    quasi: Tuples, variables: Mapping[str, Variable], specs: Mapping[str, Mapping[str, Any]], folder: HierarchyFolder
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
    folder: HierarchyFolder,
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
    folder: HierarchyFolder,
    counts: Mapping[str, int],
) -> CompiledHierarchy:
    """The level maps of one variable over its values and the rows behind each."""
    if spec and "file" in spec:
        hierarchy, file = _described_table(folder, str(spec["file"]), variable.name)
        gap = spec.get("uncovered", "error")
        return compile_for(hierarchy, vocabulary, unknown=variable.unknown, gap=gap, file=file)
    chosen = dict(spec) if spec else default_spec(variable, vocabulary)
    chosen.setdefault("unknown", list(variable.unknown))
    hierarchy = build(chosen, vocabulary, variable=variable.name, counts=counts)
    return compile_for(hierarchy, vocabulary, unknown=variable.unknown, file=SETTINGS)


def _described_table(folder: HierarchyFolder, file: str, variable: str) -> tuple[Hierarchy, str]:
    """The hierarchy behind the name of a file, and where it is said to be."""
    if not isinstance(folder, Path):
        return folder[file], file
    return read_csv(folder / file, variable)[0], str(folder / file)


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

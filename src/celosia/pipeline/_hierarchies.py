"""The hierarchy of each quasi-identifier: described in celosia.toml, brought as a file, or proposed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from celosia.errors import SensitiveHierarchyMissing
from celosia.hierarchy import CompiledHierarchy, build, compile_for, gaps, level_detail, read_csv
from celosia.hierarchy.official import lookup
from celosia.model.values import CellKind, kind_of
from celosia.model.variables import Kind, Scale, Variable
from celosia.tuples import Tuples, project

_MOST = 0.9  # share of the values that must agree before a list or a format is proposed
_TERRITORY = {"cl-cut": [2, 3, 5], "co-divipola": [3, 5], "py-distritos": [2, 4], "pe-ubigeo": [2, 4, 6]}
_DATES = ("yyyy-mm-dd", "dd/mm/yyyy", "dd-mm-yyyy", "yyyymmdd")
_BANDS = 16  # a range of numbers is first cut into about this many bands


def compiled_hierarchies(
    quasi: Tuples,
    variables: Mapping[str, Variable],
    specs: Mapping[str, Mapping[str, Any]],
    folder: Path,
) -> dict[str, CompiledHierarchy]:
    """The level maps of every quasi-identifier over the values that occur."""
    return {
        name: compiled_hierarchy(variables[name], vocabulary, specs.get(name), folder, _counts(quasi, i))
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
    chosen = {name: specs.get(name) for name in tables if name in specs or name in needed}
    return {
        name: compiled_hierarchy(
            variables[name],
            (own := project(tables[name], (name,))[0]).vocabularies[0],
            spec if spec is not None else sensitive_spec(variables[name], own.vocabularies[0]),
            folder,
            _counts(own, 0),
        )
        for name, spec in chosen.items()
    }


def sensitive_spec(variable: Variable, vocabulary: Sequence[str]) -> dict[str, Any]:
    """ICD-10's levels for a column of diagnoses; anything else must be described by a person."""
    plain = [value for value in vocabulary if kind_of(value, variable.unknown) is CellKind.PLAIN]
    diagnoses = lookup("icd10")
    if plain and sum(diagnoses.knows(value) for value in plain) >= _MOST * len(plain):
        return {"builder": "official", "list": "icd10", "uncovered": "suppress"}
    raise SensitiveHierarchyMissing(variable=variable.name)


def uncovered(variable: Variable, vocabulary: Sequence[str], spec: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """The values a hierarchy file does not cover: shown on request only."""
    hierarchy, _ = read_csv(folder / spec["file"], variable.name)
    return gaps(hierarchy, vocabulary, variable.unknown)


def compiled_hierarchy(
    variable: Variable,
    vocabulary: Sequence[str],
    spec: Mapping[str, Any] | None,
    folder: Path,
    counts: Mapping[str, int],
) -> CompiledHierarchy:
    """The level maps of one variable over its values and the rows behind each."""
    if spec and "file" in spec:
        path = folder / str(spec["file"])
        hierarchy, _ = read_csv(path, variable.name)
        return compile_for(
            hierarchy, vocabulary, unknown=variable.unknown, gap=spec.get("uncovered", "error"), file=str(path)
        )
    chosen = dict(spec) if spec else default_spec(variable, vocabulary)
    chosen.setdefault("unknown", list(variable.unknown))
    made = build(chosen, vocabulary, variable=variable.name, counts=counts)
    return compile_for(made, vocabulary, unknown=variable.unknown, file="celosia.toml")


def published_detail(
    variable: Variable, spec: Mapping[str, Any] | None, tree: CompiledHierarchy, level: int
) -> dict[str, str]:
    """What a level shows, in facts that hold no value, and how many levels there are."""
    told = {"builder": "top"}
    if len(tree.labels[level]) > 1:
        told = level_detail(spec or default_spec(variable, tree.labels[0]), level)
    return {**told, "height": str(tree.height)}


def _counts(quasi: Tuples, column: int) -> dict[str, int]:
    totals = [0] * quasi.sizes[column]
    for code, rows in zip(quasi.codes[:, column].tolist(), quasi.rows.tolist(), strict=True):
        totals[code] += rows
    return dict(zip(quasi.vocabularies[column], totals, strict=True))


def default_spec(variable: Variable, vocabulary: Sequence[str]) -> dict[str, Any]:
    """A first description by scale and values; one level `*` where nothing better is known."""
    plain = [value for value in vocabulary if kind_of(value, variable.unknown) is CellKind.PLAIN]
    if variable.scale == Scale.DATE:
        return _date_spec(plain)
    if variable.scale in (Scale.DISCRETE, Scale.CONTINUOUS):
        return _interval_spec(plain)
    if variable.kind == Kind.LOCATION:
        return _territory_spec(plain)
    return {"builder": "suppress"}


def _date_spec(plain: Sequence[str]) -> dict[str, Any]:
    for form in _DATES:
        spec = {"builder": "dates", "format": form, "top": True, "uncovered": "suppress"}
        if plain and _share_placed(spec, plain) >= _MOST:
            return spec
    return {"builder": "suppress"}


def _share_placed(spec: Mapping[str, Any], plain: Sequence[str]) -> float:
    sample = plain[:: max(len(plain) // 500, 1)]
    made = build(dict(spec), sample)
    first = made.labels[1]
    return sum(first[label] != "*" for label in made.maps[1].tolist()) / len(sample)


def _interval_spec(plain: Sequence[str]) -> dict[str, Any]:
    numbers = [number for value in plain if (number := _number(value)) is not None]
    if not plain or len(numbers) < _MOST * len(plain) or min(numbers) < 0:
        return {"builder": "suppress"}
    return {
        "builder": "intervals",
        "width": _round_width(max(numbers)),
        "end": math.floor(max(numbers)) + 1,
        "top": True,
        "uncovered": "suppress",
    }


def _round_width(largest: float) -> float | int:
    """10 for ages; otherwise the 1, 2 or 5 times a power of ten that cuts the range into about sixteen bands."""
    if largest <= 125:
        return 10 if largest > 20 else 2
    raw = largest / _BANDS
    power = 10 ** math.floor(math.log10(raw))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= raw)


def _territory_spec(plain: Sequence[str]) -> dict[str, Any]:
    """Digits masked from the right where the values are codes of a list; a spreadsheet may have eaten their zero."""
    for padded in (False, True):
        for list_id, steps in _TERRITORY.items():
            width = steps[-1]
            whole = [value.zfill(width) if padded and len(value) == width - 1 else value for value in plain]
            fits = [value for value in whole if len(value) == width and value.isdigit() and _in_list(list_id, value)]
            if plain and len(fits) >= _MOST * len(plain):
                stated = {"width": width} if padded else {}
                return {"builder": "mask", "steps": steps, **stated, "uncovered": "suppress"}
    return {"builder": "suppress"}


def _in_list(list_id: str, value: str) -> bool:
    official = lookup(list_id)
    return official.knows(value) or official.knows(value[:4]) if list_id == "pe-ubigeo" else official.knows(value)


def _number(value: str) -> float | None:
    try:
        number = float(value.replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None  # «Inf» and «NaN» are texts, whatever Python makes of them

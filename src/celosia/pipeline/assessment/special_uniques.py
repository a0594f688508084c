"""Special uniques, the rule over a geographic variable, and rare values: from a source to arrays, and back as reports.

Knows sources and projects. Ignores how the figures are computed (package `risk`). Reports hold counts only; rows, areas
and values are given apart, on request.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.compile import level_range
from celosia.hierarchy.model import CompiledHierarchy
from celosia.model import dictionary
from celosia.model.paths import SPECIAL_UNIQUES
from celosia.model.reports.geography import FLOORS, MINIMUM, GeographyReport, UnitKind
from celosia.model.reports.rarity import RARE, RarityReport
from celosia.model.reports.special_uniques import ROWS_FORMAT, Scoring, SpecialUniquesReport
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.values import MISSING, is_masked
from celosia.model.variables import Kind, Role, Scale, Variable
from celosia.pipeline.assessment.errors import ConstantVariable, WholeNumberExpected
from celosia.pipeline.assessment.frame_kinds import remember_frame_kind
from celosia.pipeline.assessment.on_files import project_hierarchies
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.planning.hierarchies import compiled_hierarchies
from celosia.pipeline.planning.population import parse_numbers, read_population
from celosia.pipeline.project.arguments import Names, PathArg, check_arguments
from celosia.pipeline.project.progress import Progress, stage_progress
from celosia.risk import geography, rarity
from celosia.risk import special_uniques as scores
from celosia.storage import atomic_write, make_private_folder
from celosia.tuples.table import Tuples, person_counts, project

Counts = NDArray[np.int64]
_FEW = 100  # with more values than this, two of them are visible
ValueCounts = tuple[tuple[str, int], ...]


@check_arguments
@remember_frame_kind
def special_uniques(
    source: Any,
    variables: Names | None = None,
    max_size: int | None = None,
    scoring: str = Scoring.ORIGINAL,
    fraction: float = scores.DIS_FRACTION,
    person: str | None = None,
    rows_into: PathArg | None = None,
    report: Progress = None,
    **reading: Any,
) -> SpecialUniquesReport:
    """Rows that few of the variables single out, as counts; with `rows_into`, the rows too, in that private folder.

    Without `variables`, those are the quasi-identifiers that are not to be removed and show more than one value; the
    report names the others.
    """
    with open_table(source, report, described=False, **reading) as data:
        chosen = data.table.schema.checked_names(
            _distinguishing_quasi(data) if variables is None else variables, "variables"
        )
        # Too many variables are refused before anything is counted.
        scores.refuse_too_many_sets(len(chosen), max_size)
        tuples = data.table.tuples(chosen, data.person_key(person))
        _refuse_constants(tuples)
        scored = scores.special_uniques(tuples, max_size, scoring, fraction, stage_progress(report, "measure"))
    if rows_into is not None:
        _write_rows(tuples, scored, Path(rows_into))
    quasi = [v.name for v in data.variables if v.role == Role.QUASI] if variables is None else []
    return replace(scores.summary(tuples, scored), left_out=tuple(name for name in quasi if name not in chosen))


def _distinguishing_quasi(data: OpenTable) -> list[str]:
    """The quasi-identifiers to combine, without those of a single value, which tell nobody apart."""
    quasi = dictionary.combined_quasi(data.variables)
    distinct = data.table.distinct_counts(quasi) if quasi else {}
    return [name for name in quasi if distinct[name] > _FEW or _shows_two(data.table.frequencies(name).values)]


def _shows_two(values: Any) -> bool:
    return sum(value != MISSING and not is_masked(value) for value in values.to_pylist()) > 1


def _refuse_constants(tuples: Tuples) -> None:
    for name, codes in zip(tuples.names, scores.visible_codes(tuples), strict=True):
        if len(np.unique(codes[codes >= 0])) < 2:
            raise ConstantVariable(variable=name)


def _write_rows(tuples: Tuples, scored: scores.SpecialUniques, folder: Path) -> None:
    """The rows that have a minimal unique, highest score first: values and scores, for the institution alone."""
    special = np.flatnonzero(scored.by_size.any(axis=1))
    order = special[np.argsort(-scored.score[special], kind="stable")]
    make_private_folder(folder)
    with atomic_write(folder / SPECIAL_UNIQUES) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([ROWS_FORMAT])
        contributions = [f"contribution_{name}" for name in tuples.names]
        writer.writerow([*tuples.names, "smallest", "sets", "score", "dis", *contributions])
        writer.writerows(_row(tuples, scored, int(row)) for row in order)


def _row(tuples: Tuples, scored: scores.SpecialUniques, row: int) -> Iterator[object]:
    yield from (texts[code] for texts, code in zip(tuples.vocabularies, tuples.codes[row], strict=True))
    yield int(np.flatnonzero(scored.by_size[row])[0]) + 1
    yield int(scored.by_size[row].sum())
    yield float(scored.score[row])
    yield float(scored.dis[row])
    yield from scored.contribution[row].tolist()


@check_arguments
@remember_frame_kind
def geography_rule(
    source: Any,
    variable: str,
    minimum: int = MINIMUM,
    unit: str | None = None,
    members: str | None = None,
    population: Any = None,
    population_count: str | None = None,
    floors: Sequence[int] = FLOORS,
    hierarchy: Mapping[str, Any] | None = None,
    unknown: Names = (),
    **reading: Any,
) -> GeographyReport:
    """Whether every area of a variable has more than `minimum` units of the smallest unit, at each level of detail.

    `unit` names the column that tells units apart (a person key, never a household), `members` one that says how many
    a row stands for; else rows count, or the persons of a project. `population` is a table over the same variable,
    `unknown` are codes that name no area, besides those of the dictionary.
    """
    with open_table(source, described=False, **reading) as data:
        column, kind, key = _units(data, variable, unit, members)
        folder = data.project.folder if data.project is not None else None
        table = None if population is None else read_population(population, (variable,), population_count, folder)
        area_variable = _area_variable(data, variable, unknown)
        levels = _levels(data, column, table, hierarchy, area_variable)
    floors_checked = () if table is None else tuple(floors)
    return geography.geography_report(variable, levels, minimum, kind, key, area_variable.unknown, floors_checked)


def small_areas(
    source: Any,
    variable: str,
    minimum: int = MINIMUM,
    level: int = 0,
    unit: str | None = None,
    members: str | None = None,
    hierarchy: Mapping[str, Any] | None = None,
    unknown: Sequence[str] = (),
    **reading: Any,
) -> ValueCounts:
    """The areas of a level with at most `minimum` units: values of the file, for those who may see it."""
    with open_table(source, described=False, **reading) as data:
        column, _, _ = _units(data, variable, unit, members)
        area_variable = _area_variable(data, variable, unknown)
        compiled = _hierarchy(data, column, hierarchy, area_variable)
        position = level_range(compiled, level, level)[0]
        areas = geography.areas_by_level(column, compiled)[position]
    return geography.small_areas(areas, minimum, area_variable.unknown)


def _units(
    data: OpenTable, variable: str, unit: str | None, members: str | None
) -> tuple[Tuples, UnitKind, str | None]:
    """The variable as a table of units, what a unit is, and the column behind it."""
    if unit is not None and members is not None:
        raise ValueOutOfRange(parameter="members", given=members, allowed="unit | members")
    if members is not None:
        return _multiply_by_members(data, variable, members), UnitKind.MEMBERS, members
    key = data.person_key(unit)
    column = data.table.tuples((variable,), key)
    return column, UnitKind.ROWS if key is None else UnitKind.KEY, key


def _multiply_by_members(data: OpenTable, variable: str, members: str) -> Tuples:
    counts = data.table.tuples((variable, members))
    numbers = parse_numbers(counts.vocabularies[1], data.source.choices.decimal or ".")
    wrong = ~((numbers >= 0) & (numbers == np.rint(numbers)))
    if wrong.any():
        raise WholeNumberExpected(variable=members, count=int(wrong.sum()))
    column, label = project(counts, (variable,))
    units = np.zeros(len(column.rows), np.int64)
    np.add.at(units, label, counts.rows * numbers.astype(np.int64)[counts.codes[:, 1]])
    return replace(column, rows=units)


def _levels(
    data: OpenTable, column: Tuples, table: Tuples | None, spec: Mapping[str, Any] | None, area: Variable
) -> tuple[geography.Areas, ...]:
    """The areas of every level; a population counts also where the file has nobody."""
    if table is None:
        return geography.areas_by_level(column, _hierarchy(data, column, spec, area))
    [own_values], [population_values] = column.vocabularies, table.vocabularies
    all_values = tuple(sorted({*own_values, *population_values}))
    code_by_value = {value: code for code, value in enumerate(all_values)}
    new_codes = np.array([code_by_value[value] for value in own_values], np.int32)
    wide = replace(column, vocabularies=(all_values,), codes=new_codes[column.codes[:, 0]][:, None])
    inhabitants = np.zeros(len(all_values), np.int64)
    np.add.at(inhabitants, [code_by_value[population_values[code]] for code in table.codes[:, 0]], table.rows)
    return geography.areas_by_level(wide, _hierarchy(data, wide, spec, area), inhabitants)


def _hierarchy(data: OpenTable, column: Tuples, spec: Mapping[str, Any] | None, area: Variable) -> CompiledHierarchy:
    """The hierarchy given, that of the project, or the one proposed for codes of a territory."""
    name, folder = area.name, Path() if data.project is None else data.project.folder
    specs = project_hierarchies(data) if spec is None else {name: dict(spec)}
    return compiled_hierarchies(column, {name: area}, specs, folder)[name]


def _area_variable(data: OpenTable, name: str, unknown: Sequence[str]) -> Variable:
    """The variable as a location, as the caller says: codes that look like numbers are not cut into bands."""
    variable = _known_variable(data, name)
    codes = tuple(dict.fromkeys((*variable.unknown, *unknown)))
    return replace(variable, kind=Kind.LOCATION, scale=Scale.CATEGORICAL, unknown=codes)


@check_arguments
@remember_frame_kind
def rare_values(
    source: Any,
    threshold: int = RARE,
    variables: Names | None = None,
    person: str | None = None,
    report: Progress = None,
    **reading: Any,
) -> RarityReport:
    """How many values of each variable few units hold, and which variables seem strong indirect identifiers."""
    _refuse_threshold(threshold)
    with open_table(source, report, **reading) as data:
        key, progress = data.person_key(person), stage_progress(report, "measure")
        direct = {v.name for v in data.variables if v.role == Role.IDENTIFIER and not v.strong}
        names = [name for name in data.table.names if name not in direct] if variables is None else variables
        chosen = data.table.schema.checked_names([name for name in names if name != key], "variables")
        total = data.table.count_rows()
        summaries = []
        for number, name in enumerate(chosen, start=1):
            vocabulary, units = _unit_counts(data, name, key)
            summaries.append(rarity.rare_values(vocabulary, units, threshold, _known_variable(data, name)))
            progress(number / len(chosen))
        if key is not None:
            total = data.table.distinct_counts([key])[key]
    return RarityReport("rows" if key is None else "persons", total, threshold, tuple(summaries))


def rare_value_list(
    source: Any, variable: str, threshold: int = RARE, person: str | None = None, **reading: Any
) -> ValueCounts:
    """The rare values of one variable with their units: values of the file, for those who may see it."""
    _refuse_threshold(threshold)
    with open_table(source, described=False, **reading) as data:
        vocabulary, units = _unit_counts(data, variable, data.person_key(person))
        flags = rarity.rare_flags(vocabulary, units, threshold, _known_variable(data, variable).unknown)
        return rarity.list_values(vocabulary, units, flags)


def _unit_counts(data: OpenTable, name: str, key: str | None) -> tuple[tuple[str, ...], Counts]:
    """The values of a column, and the units that hold each."""
    column = data.table.tuples((name,), key)
    units = np.zeros(column.sizes[0], np.int64)
    units[column.codes[:, 0]] = person_counts(column)
    return column.vocabularies[0], units


def _refuse_threshold(threshold: int) -> None:
    if threshold < 1:
        raise ValueOutOfRange(parameter="threshold", given=threshold, allowed="≥ 1")


def _known_variable(data: OpenTable, name: str) -> Variable:
    """What is known about a variable; its name alone where nothing is."""
    data.table.schema.position(name)
    return next((variable for variable in data.variables if variable.name == name), Variable(name))

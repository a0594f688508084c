"""Special uniques, the rule over a geographic variable, and rare values: from a source to arrays, and back as reports.

Knows sources and projects. Ignores how the figures are made (room `risk`). Reports hold counts only; rows, areas and
values are given apart, on request.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.data.files import private_folder, replacing
from celosia.errors import ConstantVariable, ValueOutOfRange, WholeNumberExpected
from celosia.hierarchy import CompiledHierarchy, level_range
from celosia.model.geography import FLOORS, MINIMUM, GeographyReport, UnitKind
from celosia.model.rarity import RARE, RarityReport
from celosia.model.special_uniques import ROWS_FORMAT, Scoring, SpecialUniquesReport
from celosia.model.variables import Kind, Role, Scale, Variable
from celosia.pipeline._call import Place
from celosia.pipeline._hierarchies import compiled_hierarchies
from celosia.pipeline._open import Opened, opened
from celosia.pipeline._policy import without_bounds
from celosia.pipeline._population import numbers_of, read_population
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._project import read_toml
from celosia.risk import geography, rarity
from celosia.risk import special_uniques as scores
from celosia.tuples import Tuples, person_counts, project

Counts = NDArray[np.int64]
Listed = tuple[tuple[str, int], ...]
ROWS_FILE = "special-uniques.csv"


# --- special uniques ------------------------------------------------------------------------------


def special_uniques(
    source: Any,
    variables: Sequence[str] | None = None,
    max_size: int | None = None,
    scoring: str = Scoring.ORIGINAL,
    fraction: float = scores.DIS_FRACTION,
    person: str | None = None,
    rows_into: Place | None = None,
    report: Progress = None,
    **reading: Any,
) -> SpecialUniquesReport:
    """Rows that few of the variables single out, as counts; with `rows_into`, the rows too, in that private folder."""
    with opened(source, report, described=False, **reading) as found:
        return special_uniques_of(found, variables, max_size, scoring, fraction, person, rows_into, report)


def special_uniques_of(
    found: Opened,
    variables: Sequence[str] | None = None,
    max_size: int | None = None,
    scoring: str = Scoring.ORIGINAL,
    fraction: float = scores.DIS_FRACTION,
    person: str | None = None,
    rows_into: Place | None = None,
    report: Progress = None,
) -> SpecialUniquesReport:
    """The same over an opened table; the quasi-identifiers of a project are taken when no variable is named."""
    names = [v.name for v in found.variables if v.role == Role.QUASI] if variables is None else variables
    chosen = found.table.schema.chosen(names, "variables")
    scores.refuse_many(len(chosen), max_size)  # before anything is counted
    tuples = found.table.tuples(chosen, _key(found, person))
    _refuse_constants(tuples)
    scored = scores.special_uniques(tuples, max_size, scoring, fraction, stage(report, "measure"))
    if rows_into is not None:
        _write_rows(tuples, scored, Path(rows_into))
    return scores.summary(tuples, scored)


def _refuse_constants(tuples: Tuples) -> None:
    for name, codes in zip(tuples.names, scores.visible_codes(tuples), strict=True):
        if len(np.unique(codes[codes >= 0])) < 2:
            raise ConstantVariable(variable=name)


def _write_rows(tuples: Tuples, scored: scores.SpecialUniques, folder: Path) -> None:
    """The rows that have a minimal unique, highest score first: values and scores, for the house alone."""
    special = np.flatnonzero(scored.by_size.any(axis=1))
    order = special[np.argsort(-scored.score[special], kind="stable")]
    private_folder(folder)
    with replacing(folder / ROWS_FILE) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([ROWS_FORMAT])
        writer.writerow(
            [*tuples.names, "smallest", "sets", "score", "dis", *(f"contribution_{name}" for name in tuples.names)]
        )
        writer.writerows(_row(tuples, scored, int(place)) for place in order)


def _row(tuples: Tuples, scored: scores.SpecialUniques, place: int) -> Iterator[object]:
    yield from (texts[code] for texts, code in zip(tuples.vocabularies, tuples.codes[place], strict=True))
    yield int(np.flatnonzero(scored.by_size[place])[0]) + 1
    yield int(scored.by_size[place].sum())
    yield float(scored.score[place])
    yield float(scored.dis[place])
    yield from scored.contribution[place].tolist()


# --- geography ------------------------------------------------------------------------------------


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
    unknown: Sequence[str] = (),
    **reading: Any,
) -> GeographyReport:
    """Whether every area of a variable has more than `minimum` units of the smallest unit, at each level of detail.

    `unit` names the column that tells units apart (a person key, never a household), `members` one that says how many
    a row stands for; else rows count, or the persons of a project. `population` is a table over the same variable,
    `unknown` are codes that name no area, besides those of the dictionary.
    """
    with opened(source, described=False, **reading) as found:
        return geography_rule_of(
            found, variable, minimum, unit, members, population, population_count, floors, hierarchy, unknown
        )


def geography_rule_of(
    found: Opened,
    variable: str,
    minimum: int = MINIMUM,
    unit: str | None = None,
    members: str | None = None,
    population: Any = None,
    population_count: str | None = None,
    floors: Sequence[int] = FLOORS,
    hierarchy: Mapping[str, Any] | None = None,
    unknown: Sequence[str] = (),
) -> GeographyReport:
    """The same over an opened table."""
    column, kind, key = _units(found, variable, unit, members)
    table = None if population is None else read_population(population, (variable,), population_count, found.folder)
    known = _geographic(found, variable, unknown)
    levels = _levels(found, column, table, hierarchy, known)
    asked = () if table is None else tuple(floors)
    return geography.geography_report(variable, levels, minimum, kind, key, known.unknown, asked)


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
) -> Listed:
    """The areas of a level that have no more units than the minimum: values of the file, for those who may see it."""
    with opened(source, described=False, **reading) as found:
        column, _, _ = _units(found, variable, unit, members)
        known = _geographic(found, variable, unknown)
        made = _hierarchy(found, column, hierarchy, known)
        place = level_range(made, level, level)[0]
        return geography.small_areas(geography.areas_by_level(column, made)[place], minimum, known.unknown)


def _units(found: Opened, variable: str, unit: str | None, members: str | None) -> tuple[Tuples, UnitKind, str | None]:
    """The variable as a table of units, what a unit is, and the column behind it."""
    if unit is not None and members is not None:
        raise ValueOutOfRange(parameter="members", given=members, allowed="unit | members")
    if members is not None:
        return _with_members(found, variable, members), UnitKind.MEMBERS, members
    key = _key(found, unit)
    column = found.table.tuples((variable,), key)
    return column, UnitKind.ROWS if key is None else UnitKind.KEY, key


def _with_members(found: Opened, variable: str, members: str) -> Tuples:
    each = found.table.tuples((variable, members))
    numbers = numbers_of(each.vocabularies[1], found.source.choices.decimal or ".")
    wrong = ~((numbers >= 0) & (numbers == np.rint(numbers)))
    if wrong.any():
        raise WholeNumberExpected(variable=members, count=int(wrong.sum()))
    column, label = project(each, (variable,))
    units = np.zeros(len(column.rows), np.int64)
    np.add.at(units, label, each.rows * numbers.astype(np.int64)[each.codes[:, 1]])
    return replace(column, rows=units)


def _levels(
    found: Opened, column: Tuples, table: Tuples | None, spec: Mapping[str, Any] | None, known: Variable
) -> tuple[geography.Areas, ...]:
    """The areas of every level; a population counts also where the file has nobody."""
    if table is None:
        return geography.areas_by_level(column, _hierarchy(found, column, spec, known))
    [own], [theirs] = column.vocabularies, table.vocabularies
    both = tuple(sorted({*own, *theirs}))
    place = {value: code for code, value in enumerate(both)}
    moved = np.array([place[value] for value in own], np.int32)
    wide = replace(column, vocabularies=(both,), codes=moved[column.codes[:, 0]][:, None])
    inhabitants = np.zeros(len(both), np.int64)
    np.add.at(inhabitants, [place[theirs[code]] for code in table.codes[:, 0]], table.rows)
    return geography.areas_by_level(wide, _hierarchy(found, wide, spec, known), inhabitants)


def _hierarchy(found: Opened, column: Tuples, spec: Mapping[str, Any] | None, known: Variable) -> CompiledHierarchy:
    """The hierarchy given, that of the project, or the one proposed for codes of a territory."""
    folder = found.folder or Path()
    described = {} if found.folder is None else read_toml(folder / "celosia.toml").get("hierarchies", {})
    own = {name: without_bounds(each) for name, each in described.items() if name == known.name}
    chosen = own if spec is None else {known.name: dict(spec)}
    return compiled_hierarchies(column, {known.name: known}, chosen, folder)[known.name]


def _geographic(found: Opened, name: str, unknown: Sequence[str]) -> Variable:
    """The variable as a place: the caller says so, and codes that look like numbers are not to be cut into bands."""
    known = _described(found, name)
    codes = tuple(dict.fromkeys((*known.unknown, *unknown)))
    return replace(known, kind=Kind.LOCATION, scale=Scale.CATEGORICAL, unknown=codes)


# --- rare values ----------------------------------------------------------------------------------


def rare_values(
    source: Any,
    threshold: int = RARE,
    variables: Sequence[str] | None = None,
    person: str | None = None,
    report: Progress = None,
    **reading: Any,
) -> RarityReport:
    """How many values of each variable few units hold, and which variables seem strong indirect identifiers."""
    with opened(source, report, **reading) as found:
        return rare_values_of(found, threshold, variables, person, report)


def rare_values_of(
    found: Opened,
    threshold: int = RARE,
    variables: Sequence[str] | None = None,
    person: str | None = None,
    report: Progress = None,
) -> RarityReport:
    """The same over an opened table; names and documents are left out unless they are named."""
    _refuse_threshold(threshold)
    key, told = _key(found, person), stage(report, "measure")
    direct = {v.name for v in found.variables if v.role == Role.IDENTIFIER and not v.strong}
    names = [name for name in found.table.names if name not in direct] if variables is None else variables
    chosen = found.table.schema.chosen([name for name in names if name != key], "variables")
    rows, made = found.table.count_rows(), []
    for number, name in enumerate(chosen, start=1):
        vocabulary, units = _held(found, name, key)
        made.append(rarity.rare_values(vocabulary, units, threshold, _described(found, name)))
        if told:
            told(number / len(chosen))
    total = rows if key is None else found.table.distinct_counts([key])[key]
    return RarityReport("rows" if key is None else "persons", total, threshold, tuple(made))


def rare_value_list(
    source: Any, variable: str, threshold: int = RARE, person: str | None = None, **reading: Any
) -> Listed:
    """The rare values of one variable with their units: values of the file, for those who may see it."""
    _refuse_threshold(threshold)
    with opened(source, described=False, **reading) as found:
        vocabulary, units = _held(found, variable, _key(found, person))
        flags = rarity.rare_flags(vocabulary, units, threshold, _described(found, variable).unknown)
        return rarity.listed(vocabulary, units, flags)


def _held(found: Opened, name: str, key: str | None) -> tuple[tuple[str, ...], Counts]:
    """The values of a column, and the units that hold each."""
    column = found.table.tuples((name,), key)
    units = np.zeros(column.sizes[0], np.int64)
    units[column.codes[:, 0]] = person_counts(column)
    return column.vocabularies[0], units


def _refuse_threshold(threshold: int) -> None:
    if threshold < 1:
        raise ValueOutOfRange(parameter="threshold", given=threshold, allowed="≥ 1")


def _described(found: Opened, name: str) -> Variable:
    """What is known about a variable; its name alone where nothing is."""
    found.table.schema.position(name)
    return next((variable for variable in found.variables if variable.name == name), Variable(name))


def _key(found: Opened, person: str | None) -> str | None:
    key = person or found.person
    if key is not None:
        found.table.schema.position(key)
    return key

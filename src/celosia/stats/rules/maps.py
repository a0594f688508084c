"""Maps from raw values to categories, and the private list of the values that have none.

Knows the files and official lists of a project, and that a name may be typed with other case and accents. Ignores
engines: it is given `fetch`, which runs an expression inside the database. What leaves is raw values of the mapped
column with their counts; they stay in memory, and in `private/` when something is wrong.
Source: YAPÓ 2.2, 2.3 (region of a city), 2.3 (zones too fine), 2.5 (institutions to levels).
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from celosia.hierarchy.official import OfficialList, fold_name, lookup
from celosia.model.paths import ProjectPaths
from celosia.pipeline.project.errors import BadProjectFile
from celosia.stats.declaration.declaration import (
    LISTS,
    NOT_STATED,
    UNMAPPED,
    Dimension,
    StatsConfig,
    StatsTable,
    ValueMap,
)
from celosia.stats.errors import MapUnclear, ValuesWithoutMapping
from celosia.stats.rules.column_readers import strip_blanks
from celosia.stats.rules.rules import RuleSpec, labels_of
from celosia.storage import PRIVATE_FILE, FileMissing, atomic_write, make_private_folder

Expression = Any  # an Ibis column or table
Fetch = Callable[[Expression], pa.Table]
Finder = Callable[[str], str | None]
_LEVEL = {"py": "department", "co": "department", "pe": "department", "cl": "region"}
_HEADER = ("value", "category", "rows", "persons")
_RAW, _ROWS, _PERSONS = "celosia_raw", "celosia_rows", "celosia_persons"


def category_finder(value_map: ValueMap, folder: Path) -> Finder:
    """The category of a raw value by a map, None where it has none."""
    if value_map.list is not None:
        return _official_finder(value_map.list)
    return _finder_from_file(folder / str(value_map.file))


def file_categories(value_map: ValueMap, folder: Path) -> dict[str, str]:
    """Value and category of every line of a map of the project; none of an official list."""
    return {} if value_map.file is None else _lines(folder / value_map.file)


def _finder_from_file(path: Path) -> Finder:
    """A CSV with a header: value, category; further columns do not count."""
    exact = _lines(path)
    by_name: dict[str, set[str]] = {}
    for value, category in exact.items():
        by_name.setdefault(fold_name(value), set()).add(category)
    return lambda text: exact.get(text) or _only_one(by_name.get(fold_name(text), ()))


def _lines(path: Path) -> dict[str, str]:
    try:
        text = path.read_text("utf-8-sig")
    except OSError:
        raise FileMissing(path=str(path)) from None
    except UnicodeDecodeError:
        raise BadProjectFile(path=str(path), line="?") from None
    mark = ";" if text.partition("\n")[0].count(";") else ","
    pairs: dict[str, str] = {}
    incomplete = repeated = 0
    for line in list(csv.reader(text.splitlines(), delimiter=mark))[1:]:
        value, category = ([text.strip() for text in line] + ["", ""])[:2]
        incomplete += bool(line) and not (value and category)
        repeated += pairs.get(value, category) != category
        pairs[value] = category
    if incomplete or repeated or not pairs:
        raise MapUnclear(path=str(path), incomplete=incomplete, repeated=repeated)
    return pairs


def _official_finder(name: str) -> Finder:
    """The region code of a place written as its code or its name; a name of two regions has none."""
    official = lookup(LISTS[name])
    level = official.levels.index(_LEVEL[name])
    groups = _groups(name)

    def region(text: str) -> str | None:
        regions = {path[level].code for path in map(official.path, (text, *official.find_name(text))) if path}
        return (
            _only_one(regions)
            if regions
            else _only_one(groups.get(fold_name(text), ())) or _only_one(groups.get(text, ()))
        )

    return region


@cache
def _groups(name: str) -> Mapping[str, set[str]]:
    """The regions themselves, by code and by name."""
    official: OfficialList = lookup(LISTS[name])
    level = official.levels.index(_LEVEL[name])
    groups: dict[str, set[str]] = {}
    for path in filter(None, map(official.path, official.codes())):
        for text in (path[level].code, fold_name(path[level].name)):
            groups.setdefault(text, set()).add(path[level].code)
    return groups


def _only_one(values: Any) -> str | None:
    return next(iter(values)) if len(values) == 1 else None


def rule_spec(
    config: StatsConfig,
    table: StatsTable,
    dimension: Dimension,
    relation: Expression,
    fetch: Fetch,
    folder: Path,
    now: datetime,
    dialect: str,
) -> RuleSpec:
    """What a rule needs to know; a map reads the values present, a zone also how many persons each has."""
    zone = config.zone
    today = (now if zone is None or now.tzinfo is None else now.astimezone(ZoneInfo(zone))).date()
    if dimension.rule not in ("map", "zone"):
        return RuleSpec(dialect, today, zone, path=config.path)
    category = category_finder(config.maps[dimension.settings["map"]], folder)
    present = fetch(_present_values(relation, dimension.column, config.personal[table.source].person))
    counts = zip(present[_RAW].to_pylist(), present[_PERSONS].to_pylist(), strict=True)
    least = dimension.settings.get("minimum")
    pairs = {text: _category_of(text, persons, category(text), least) for text, persons in sorted(counts)}
    known = {text: label for text, label in pairs.items() if label is not None}
    return RuleSpec(dialect, today, zone, known, config.path)


def _category_of(text: str, persons: int, category: str | None, least: int | None) -> str | None:
    """The category; a zone of enough persons stays what it is."""
    return text if category is not None and least is not None and persons >= least else category


def _present_values(relation: Expression, column: str, person: str) -> Expression:
    """Every value of a column, blanks around it apart, with its persons."""
    named = relation[column]
    text, missing = strip_blanks(named if named.type().is_string() else named.cast("string"))
    there = relation.filter(~missing)
    return there.group_by(text.name(_RAW)).aggregate(**{_PERSONS: there[person].nunique()})


def specs_of(
    config: StatsConfig,
    table: StatsTable,
    relation: Expression,
    fetch: Fetch,
    folder: Path,
    now: datetime,
    dialect: str,
) -> dict[str, RuleSpec]:
    """The spec of every dimension of a table, by name."""
    given = (relation, fetch, folder, now, dialect)
    return {dimension.name: rule_spec(config, table, dimension, *given) for dimension in table.dimensions}


def labels_for(table: StatsTable, specs: Mapping[str, RuleSpec], relation: Expression) -> dict[str, Expression]:
    """The label expression of every dimension of a table, by name."""
    return {dimension.name: labels_of(dimension, specs[dimension.name], relation) for dimension in table.dimensions}


def parents_of(
    config: StatsConfig, dimension: Dimension, labels: Sequence[str], folder: Path
) -> tuple[Mapping[str, str], ...]:
    """For each declared level, the parent of every label below it: department → region → …; NOT_STATED stays itself.

    A label without a parent stops the run like a value without a mapping.
    """
    parents, below = [], [label for label in labels if label != NOT_STATED]
    for name in dimension.settings.get("levels", ()):
        category = category_finder(config.maps[name], folder)
        pairs = {label: category(label) for label in dict.fromkeys(below)}
        lost = sorted(label for label, parent in pairs.items() if parent is None)
        if lost:
            path = _write(folder, f"{name}.{dimension.name}", [(label, 0, 0) for label in lost])
            raise ValuesWithoutMapping(table=name, dimension=dimension.name, values=len(lost), rows=0, path=path)
        parents.append({**{label: str(parent) for label, parent in pairs.items()}, NOT_STATED: NOT_STATED})
        below = [str(parent) for parent in pairs.values()]
    return tuple(parents)


def unmapped_values(person: str, dimension: Dimension, labels: Expression, relation: Expression) -> Expression:
    """The raw values without a category, with the rows and persons of each."""
    columns = [relation[name] for name in dimension.columns]
    texts = [column if column.type().is_string() else column.cast("string") for column in columns]
    raw = texts[0] if len(texts) == 1 else texts[0].fill_null("") + " " + texts[1].fill_null("")
    marked = relation.select(raw.name(_RAW), relation[person].name("celosia_person"), labels.name("celosia_label"))
    lost = marked.filter(marked["celosia_label"] == UNMAPPED)
    return lost.group_by(_RAW).aggregate(**{_ROWS: lost.count(), _PERSONS: lost["celosia_person"].nunique()})


def refuse_unmapped(
    config: StatsConfig,
    table: StatsTable,
    labels: Mapping[str, Expression],
    relation: Expression,
    fetch: Fetch,
    folder: Path,
) -> None:
    """Refuse the first dimension with values without a category; a private file lists them."""
    person = config.personal[table.source].person
    for dimension in table.dimensions:
        values = fetch(unmapped_values(person, dimension, labels[dimension.name], relation))
        if not values.num_rows:
            continue
        columns = (values[name].to_pylist() for name in (_RAW, _ROWS, _PERSONS))
        lines = sorted(zip(*columns, strict=True), key=lambda line: (-line[1], line[0]))
        path = _write(folder, f"{table.name}.{dimension.name}", lines)
        raise ValuesWithoutMapping(
            table=table.name,
            dimension=dimension.name,
            values=len(lines),
            rows=sum(line[1] for line in lines),
            path=path,
        )


def _write(folder: Path, name: str, lines: Sequence[tuple[str, int, int]]) -> str:
    """The private list, in the form of a map file whose categories are still empty."""
    make_private_folder(ProjectPaths(folder).private)
    unmapped_folder = make_private_folder(ProjectPaths(folder).unmapped)
    path = unmapped_folder / f"{name}.csv"
    with atomic_write(path, PRIVATE_FILE) as draft, open(draft, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_HEADER)
        writer.writerows((value, "", rows, persons) for value, rows, persons in lines)
    return str(path)

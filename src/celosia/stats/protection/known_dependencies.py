"""Dependencies between columns that the last runs found, kept among the private files for `check` and `attack`.

Knows labels of two columns that always go together. They are never published: that everybody of one category has the
same other one may be what nobody should know. Source: `stats.counting.dependent_columns`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from celosia.model.paths import ProjectPaths
from celosia.stats.counting.dependent_columns import columns_of
from celosia.stats.protection.identity import Pair, meaning_of
from celosia.stats.protection.published import PublishedTable
from celosia.stats.protection.version import Version
from celosia.storage import atomic_write

_FORMAT = "celosia/dependencies/1"


@dataclass(frozen=True, slots=True)
class KnownDependency:
    """Every category of some columns goes with one category of others."""

    origin: str  # block of PERSONAL
    columns: tuple[str, ...]
    target: tuple[str, ...]
    meaning: str  # of a dimension over the columns, as the history knows it
    target_meaning: str
    pairs: Mapping[str, str]


def known_dependencies(versions: Iterable[Version]) -> list[KnownDependency]:
    """The exact dependencies that versions were counted with."""
    known = {
        (version.table.source, columns_of(dependency.origin), columns_of(dependency.target)): KnownDependency(
            version.table.source,
            columns_of(dependency.origin),
            columns_of(dependency.target),
            meaning_of(dependency.origin),
            meaning_of(dependency.target),
            dict(dependency.pairs),
        )
        for version in versions
        for dependency in version.dependencies
        if dependency.pairs
    }
    return list(known.values())


def save_dependencies(home: Path, newest: Sequence[KnownDependency]) -> None:
    """Replace what is kept of these origins."""
    origins = {dependency.origin for dependency in newest}
    every = [*(known for known in read_dependencies(home) if known.origin not in origins), *newest]
    document = {"format": _FORMAT, "dependencies": [asdict(dependency) for dependency in every]}
    with atomic_write(ProjectPaths(home).dependencies) as draft:
        draft.write_text(json.dumps(document, ensure_ascii=False), "utf-8", newline="\n")


def read_dependencies(home: Path) -> list[KnownDependency]:
    """What the last runs found; nothing where no file can be read."""
    try:
        document = json.loads(ProjectPaths(home).dependencies.read_text("utf-8"))
        if document["format"] != _FORMAT:
            return []
        return [
            KnownDependency(
                str(line["origin"]),
                tuple(line["columns"]),
                tuple(line["target"]),
                str(line["meaning"]),
                str(line["target_meaning"]),
                dict(line["pairs"]),
            )
            for line in document["dependencies"]
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def follow_categories(dependencies: Iterable[KnownDependency]) -> dict[Pair, list[Pair]]:
    """Per category, as the history knows it, those that follow from it."""
    follow: dict[Pair, list[Pair]] = {}
    for known in dependencies:
        for origin, target in known.pairs.items():
            follow.setdefault((known.meaning, origin), []).append((known.target_meaning, target))
    return follow


def join_dependencies(
    tables: Sequence[PublishedTable], dependencies: Sequence[KnownDependency]
) -> list[PublishedTable]:
    """Published tables of one origin with the categories that follow from their own, where another shows these."""
    return [replace(table, implied=_implied_categories(table, tables, dependencies)) for table in tables]


def _implied_categories(
    table: PublishedTable, tables: Sequence[PublishedTable], dependencies: Sequence[KnownDependency]
) -> dict[str, tuple[str, dict[str, str]]]:
    own = {tuple(sorted(column.columns)): column.column for column in table.entry.columns if column.kind == "dimension"}
    implied: dict[str, tuple[str, dict[str, str]]] = {}
    for dependency in dependencies:
        name = own.get(dependency.columns)
        if name is None or dependency.target in own:
            continue
        at = table.entry.dimensions().index(name)
        labels = {key[at] for key in table.keys} - {None}
        shown = _names_in(tables, dependency.target)
        if shown is not None and labels <= dependency.pairs.keys() and table.entry.origin == dependency.origin:
            target, names = shown
            implied[name] = target, {a: names.get(b, b) for a, b in dependency.pairs.items()}
    return implied


def _names_in(tables: Sequence[PublishedTable], columns: tuple[str, ...]) -> tuple[str, dict[str, str]] | None:
    """How the tables that show these columns call the dimension and its categories."""
    for table in tables:
        for column in table.entry.columns:
            if column.kind == "dimension" and tuple(sorted(column.columns)) == columns:
                at = table.entry.dimensions().index(column.column)
                labels = {label for key in table.keys if (label := key[at]) is not None}
                return table.dimension_name(column.column), {
                    label: table.shared_label(column.column, label) for label in labels
                }
    return None

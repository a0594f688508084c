"""The catalogue of STATS: an entry for every table, a table for every entry, as data and as a page.

Knows declarations and what a run did. Ignores PERSONAL. Source: YAPÓ 4 (per table: sources, rule, frequency, k).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from celosia.data.files import replacing, writing_into
from celosia.errors import CatalogueDisagrees, NeverRan
from celosia.model.stats import StatsConfig, StatsTable, stats_name
from celosia.model.stats_reports import CatalogueEntry, StatsCatalogue, entry_from
from celosia.pipeline import catalogue_page
from celosia.stats._lineage import lineage_of, sources_of
from celosia.stats._project import Place, read_config
from celosia.stats._protection import Version, shows_more
from celosia.stats._target import StatsTarget, open_target
from celosia.tables import ALL, CellTable

PUBLIC_FILE = 0o644
_NOTHING = "–"


def entry_of(config: StatsConfig, version: Version, now: datetime) -> CatalogueEntry:
    """The entry of one STATS table."""
    table = version.table
    return CatalogueEntry(
        table=stats_name(table.name, version.audience),
        base=table.name,
        title=table.title,
        audience=version.audience,
        k=version.k,
        sources=sources_of(config.personal[table.source]),
        frequency=table.frequency,
        action=table.action,
        method=table.method,
        width=table.width,
        zeros="hide" if (version.cells.persons[version.cells.offered] == 0).any() else table.zeros,
        margins=table.margins,
        columns=lineage_of(config, table),
        link=link_of(table),
        parents=_parents(version.cells),
        meanings=version.meanings,
        names=version.names,
        others={name: members for name, (_, members) in version.others.items()},
        others_label={name: label for name, (label, _) in version.others.items()},
        additive=shows_more(table),
        adds_up=adding_up(version.cells),
        base_unit=table.base or 0 if table.method == "round" else 0,
        last_run=now.isoformat(timespec="seconds"),
    )


def link_of(table: StatsTable) -> str:
    """What tables that are protected together have in common; a table of its own has its name."""
    alone = not table.linked or table.method == "round"
    return f"{table.source}/{table.name}" if alone else table.source


def _parents(cells: CellTable) -> dict[str, dict[str, str]]:
    """Label and the one it lies under, for dimensions with levels."""
    found = {}
    for tree in cells.dimensions:
        under = {tree.labels[i]: tree.labels[up] for i, up in enumerate(tree.parent) if up != ALL}
        if under:
            found[tree.name] = under
    return found


def adding_up(cells: CellTable) -> tuple[str, ...]:
    """The dimensions in which every person stands in one category only, as far as the counted margins show it."""
    place = {tuple(line): at for at, line in enumerate(cells.codes.tolist())}
    return tuple(tree.name for at, tree in enumerate(cells.dimensions) if _adds_up(cells, at, place))


def _adds_up(cells: CellTable, at: int, place: Mapping[tuple[int, ...], int]) -> bool:
    """Whether every whole along a dimension is the sum of its categories, on every level of its tree."""
    parents = [*cells.dimensions[at].parent, ALL]
    sums: dict[int, int] = {}
    for line, persons in zip(cells.codes.tolist(), cells.persons.tolist(), strict=True):
        if line[at] != ALL:
            whole = place.get((*line[:at], parents[line[at]], *line[at + 1 :]))
            if whole is not None:
                sums[whole] = sums.get(whole, 0) + persons
    return all(int(cells.persons[whole]) == total for whole, total in sums.items())


def catalogue_in(target: StatsTarget, config: StatsConfig) -> StatsCatalogue:
    """The catalogue that STATS holds, in the order of stats.toml."""
    held = {name: entry_from(document) for name, document in target.catalogue().items()}
    order = [stats_name(table.name, audience) for table in config.tables for audience in table.audiences]
    names = sorted(held, key=lambda name: (order.index(name) if name in order else len(order), name))
    return StatsCatalogue(config.title, tuple(held[name] for name in names), dict(config.audiences))


def differences(tables: Sequence[str], entries: Mapping[str, object]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tables without an entry, and entries without a table."""
    return tuple(sorted(set(tables) - set(entries))), tuple(sorted(set(entries) - set(tables)))


def stats_catalogue(folder: Place) -> StatsCatalogue:
    """The catalogue of a project's STATS; it must agree with the tables that are there."""
    home = Path(folder)
    config = read_config(home)
    with contextlib.closing(open_target(config.target.url, home, config.target.schema, read_only=True)) as target:
        uncatalogued, absent = differences(target.tables(), target.catalogue())
        if uncatalogued or absent:
            raise CatalogueDisagrees(
                uncatalogued=", ".join(uncatalogued) or _NOTHING, absent=", ".join(absent) or _NOTHING
            )
        found = catalogue_in(target, config)
    if not found.entries:
        raise NeverRan(path=str(home))
    return found


def write_catalogue(folder: Place, into: Place | None = None) -> tuple[StatsCatalogue, Path]:
    """Write `catalogue.json` and `catalogue.html`, and give the catalogue and where it was written."""
    found = stats_catalogue(folder)
    home = Path(folder if into is None else into)
    with writing_into(home):
        home.mkdir(parents=True, exist_ok=True)
    with replacing(home / "catalogue.json", PUBLIC_FILE) as draft:
        draft.write_text(json.dumps(found.as_dict(), ensure_ascii=False, indent=2) + "\n", "utf-8")
    with replacing(home / "catalogue.html", PUBLIC_FILE) as draft:
        draft.write_text(catalogue_page(found), "utf-8")
    return found, home

"""The run from PERSONAL to STATS: rules, counts, merges, earlier publications, protection, writing, scan, journal.

Knows the order of the steps. One transaction: what fails at any step leaves STATS as it was, and the journal says so
with counts and names of rules, never a value (YAPÓ 4, Y27). No count reaches STATS before it is protected (Y20), and
none that would give somebody away together with earlier releases: then the tables of that origin stay as they are.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from celosia import messages
from celosia.errors import (
    CatalogueDisagrees,
    CelosiaError,
    RoundedSums,
    RoundingBelowK,
    ScanRefuses,
    StatsTableUnknown,
    TableUnprotectable,
    TitleTellsHidden,
)
from celosia.model.stats import StatsConfig, StatsTable, stats_name
from celosia.model.stats_reports import StatsRun, TableOutcome
from celosia.pipeline import journal_append
from celosia.stats._addresses import address, refuse_same_place
from celosia.stats._catalogue import differences, entry_of, link_of
from celosia.stats._connections import PersonalSource, open_source
from celosia.stats._cuts import MARK
from celosia.stats._gate import counted_now, gives_away, lines_to_be
from celosia.stats._identity import origin_of, owners_of, texts_of
from celosia.stats._kept import FAILED, RUN, keep_run
from celosia.stats._past import Past
from celosia.stats._project import Place, journal_path, private, read_config, rounding_key
from celosia.stats._protection import Protected, Version, protect_group
from celosia.stats._rounding import rounded
from celosia.stats._rows import COUNTS, history_of, stats_rows
from celosia.stats._scan import Finding, scan_persons, scan_table
from celosia.stats._target import StatsTarget, open_target
from celosia.stats._versions import count_versions, identifying_labels

Progress = Callable[[str, float], None] | None
_NUMBER = re.compile(r"\d+")


def run_stats(
    folder: Place,
    *,
    full: bool = True,
    tables: Sequence[str] | None = None,
    budget_seconds: float | None = None,
    now: datetime | None = None,
    report: Progress = None,
) -> StatsRun:
    """Count, protect and write the tables of a project; all of them, or those named with what they are linked to."""
    home, moment = Path(folder), datetime.now(UTC) if now is None else now
    config = read_config(home)
    chosen = _chosen(config, tables)
    _refuse_unsafe_rounding(config, chosen)
    private(home)
    kind = "full" if full else "incremental"
    try:
        done, written = _walk(home, config, chosen, kind, budget_seconds, moment, report)
    except CelosiaError as fault:
        journal_append(journal_path(home), FAILED, moment, {"kind": kind, **_told(fault)})
        raise
    journal_append(journal_path(home), RUN, moment, done.facts())
    with contextlib.suppress(CelosiaError):  # what was published is published, with or without a report beside it
        keep_run(home, done, written, moment)
    return done


def _told(fault: CelosiaError) -> dict[str, Any]:
    """A failure for the journal: its code, and how many values of which rule; paths and sentences stay out."""
    values = fault.values
    rule = ".".join(str(values[name]) for name in ("table", "dimension") if name in values)
    count = values.get("values", 1)
    return {"error": fault.code, "errors": {rule or fault.code: count if isinstance(count, int) else 1}}


def _chosen(config: StatsConfig, names: Sequence[str] | None) -> tuple[StatsTable, ...]:
    """The tables asked for and all that are linked with them: those share cells, so none is protected alone."""
    if names is None:
        return config.tables
    known = {table.name: table for table in config.tables}
    for name in names:
        if name not in known:
            raise StatsTableUnknown(table=name, known=", ".join(known))
    links = {link_of(known[name]) for name in names}
    return tuple(table for table in config.tables if link_of(table) in links)


def _refuse_unsafe_rounding(config: StatsConfig, tables: Sequence[StatsTable]) -> None:
    for table in tables:
        if table.method != "round":
            continue
        most = max(config.k_of(audience) for audience in table.audiences)
        if (table.base or 0) < most:
            raise RoundingBelowK(table=table.name, base=table.base or 0, k=most)
        other = next((one.name for one in table.measures if one.kind not in COUNTS), None)
        if other is not None:
            raise RoundedSums(table=table.name, measure=other)


def _walk(
    home: Path, config: StatsConfig, tables: Sequence[StatsTable], kind: str, budget: float | None, now: datetime,
    report: Progress,
) -> tuple[StatsRun, list[Protected]]:  # fmt: skip
    refuse_same_place(address(config.source.url, home), address(config.target.url, home))
    with contextlib.ExitStack() as open_things:
        source = open_things.enter_context(contextlib.closing(open_source(config.source.url, home)))
        target = open_things.enter_context(
            contextlib.closing(open_target(config.target.url, home, config.target.schema))
        )
        blocks = {table.source: config.personal[table.source] for table in tables}
        for name, personal in blocks.items():
            config.refuse_columns_without_rule(name, [column for column, _ in source.columns(personal)])
        read = {name: source.rows(personal) for name, personal in blocks.items()}
        versions = count_versions(source, config, tables, home, kind == "full", now, report)
        past = Past(target.history())
        versions = [replace(one, origin=origin_of(blocks[one.table.source])) for one in versions]
        owners = owners_of(versions)
        versions = [replace(one, earlier=past.of(one, owners)) for one in versions]
        found = _protected(versions, home, budget, report)
        kept = _unwritable(versions, found, past, _declared(config))
        written = [one for one in found if one is not None and one.version.origin not in kept]
        _refuse_telling_titles(config.title, written)
        there = target.catalogue()
        outcomes = tuple(
            _kept(version, there) if one is None or version.origin in kept else _outcome(one)
            for version, one in zip(versions, found, strict=True)
        )
        done = StatsRun(now.isoformat(timespec="seconds"), kind, read, outcomes)
        _write(source, target, config, written, done, now, report)
    return done, written


def _declared(config: StatsConfig) -> set[str]:
    return {stats_name(table.name, who) for table in config.tables for who in table.audiences}


def _unwritable(
    versions: Sequence[Version], found: Sequence[Protected | None], past: Past, declared: set[str]
) -> set[str]:
    """The origins whose tables stay as they are: with what was published before, the new ones would tell too much."""
    kept = {version.origin for version, one in zip(versions, found, strict=True) if one is None}
    owners = owners_of(versions)
    for origin in dict.fromkeys(version.origin for version in versions if version.origin not in kept):
        mine = [one for one in found if one is not None and one.version.origin == origin]
        names = {_name(one.version) for one in mine}
        new = tuple(line for one in mine for line in lines_to_be(one, _name(one.version), owners))
        beside = tuple(line for line in past.standing(origin) if line.table in declared - names)
        if gives_away(past.releases(origin), (*beside, *new), counted_now(mine, owners)):
            kept.add(origin)
    return kept


def _name(version: Version) -> str:
    return stats_name(version.table.name, version.audience)


def _kept(version: Version, there: Mapping[str, Any]) -> TableOutcome:
    """A table that was not renewed: it stays as it was, or stays out if it was never there."""
    name = _name(version)
    return TableOutcome(name, version.audience, version.k, 0, 0, 0, 0, state="kept" if name in there else "left_out")


def _protected(
    versions: Sequence[Version], home: Path, budget: float | None, report: Progress
) -> list[Protected | None]:  # fmt: skip
    """Every version protected with those it is linked to, in the order given; None where what was published before
    leaves no way to protect it."""
    groups: dict[str, list[int]] = {}
    for place, version in enumerate(versions):
        groups.setdefault(link_of(version.table), []).append(place)
    done: dict[int, Protected | None] = {}
    for number, places in enumerate(groups.values()):
        group = [versions[place] for place in places]
        found: Sequence[Protected | None]
        try:
            if group[0].table.method == "round":
                found = [rounded(version, rounding_key(home)) for version in group]
            else:
                found = protect_group(group, budget_seconds=budget)
        except TableUnprotectable:
            if not any(version.earlier for version in group):
                raise
            found = [None] * len(group)
        done |= dict(zip(places, found, strict=True))
        if report:
            report("protect", (number + 1) / len(groups))
    return [done[place] for place in range(len(versions))]


def _refuse_telling_titles(title: str, found: Sequence[Protected]) -> None:
    """A number in the title of a table, or of them all, may not be one that a table hides."""
    for one in found:
        told = {int(word) for word in _NUMBER.findall(f"{title} {one.version.table.title}")}
        if told & set(one.version.cells.persons[one.hidden].tolist()):
            raise TitleTellsHidden(table=one.version.table.name)


def _write(
    source: PersonalSource, target: StatsTarget, config: StatsConfig, found: Sequence[Protected], done: StatsRun,
    now: datetime, report: Progress,
) -> None:  # fmt: skip
    """Everything in one transaction: tables, history, catalogue, the line of the run; then the scan decides."""
    owners = owners_of([one.version for one in found])
    with target.transaction(now):
        declared = _declared(config)
        entries = {name: held for name, held in target.catalogue().items() if name in declared}
        for name in set(target.catalogue()) - declared:
            target.drop(name)
        for number, one in enumerate(found):
            name = _name(one.version)
            target.write(name, stats_rows(one))
            target.record(name, history_of(one), texts_of(one.version, owners))
            entries[name] = entry_of(config, one.version, now).as_dict()
            if report:
                report("write", (number + 1) / len(found))
        target.write_catalogue(entries)
        target.note(done.facts())
        _refuse_disagreement(target)
        _refuse_findings(scan_stats(target, config, source, found))


def _refuse_disagreement(target: StatsTarget) -> None:
    uncatalogued, absent = differences(target.tables(), target.catalogue())
    if uncatalogued or absent:
        raise CatalogueDisagrees(uncatalogued=", ".join(uncatalogued) or "–", absent=", ".join(absent) or "–")


def scan_stats(
    target: StatsTarget, config: StatsConfig, source: PersonalSource, found: Sequence[Protected]
) -> tuple[Finding, ...]:
    """What is in STATS that may not be: looked for in what was written, before it is committed."""
    findings: list[Finding] = []
    for one in found:
        table = one.version.table
        name, personal = stats_name(table.name, one.version.audience), config.personal[table.source]
        rows = target.read(name)
        words = {column: rows.column(column).to_pylist() for column in table.dimension_names}
        declared = {one.name: [*words[one.name], *map(str, one.settings.get("values", ()))] for one in table.dimensions}
        findings += scan_table(name, declared, (personal.person,))  # what is declared reaches the catalogue
        findings += _keys(name, one.version)
        labels = {column: sorted({word for word in cells if word is not None}) for column, cells in words.items()}
        findings += [Finding(name, column, "personal") for column in identifying_labels(source, personal, labels)]
    return tuple(dict.fromkeys(findings))


def _keys(name: str, version: Version) -> list[Finding]:
    """Dimensions with about one category per person, seen in their own margin or over the inner cells."""
    found: list[Finding] = []
    codes, persons = version.cells.codes, version.cells.persons
    for at, dimension in enumerate(version.table.dimensions):
        labels = version.cells.dimensions[at].labels
        most = np.zeros(len(labels) + 1, np.int64)
        np.maximum.at(most, codes[:, at], persons)  # code -1, all together, falls in the last place
        own = [place for place, label in enumerate(labels) if not label.startswith(MARK)]
        found += scan_persons(name, dimension.name, most[own].tolist())
    return found


def _refuse_findings(findings: Sequence[Finding]) -> None:
    if findings:
        told = [messages.text(f"stats.finding.{f.kind}", table=f.table, column=f.column) for f in findings]
        raise ScanRefuses(findings="; ".join(told))


def _outcome(found: Protected) -> TableOutcome:
    version, offered = found.version, found.version.cells.offered
    status, reasons = found.status[offered], found.reasons[offered]
    counted: dict[str, int] = {}
    for reason in reasons[status > 0]:
        counted[str(reason)] = counted.get(str(reason), 0) + 1
    return TableOutcome(
        table=stats_name(version.table.name, version.audience),
        audience=version.audience,
        k=version.k,
        rows=int(offered.sum()),
        published=int((status == 0).sum()),
        primary=int((status == 1).sum()),
        secondary=int((status == 2).sum()),
        reasons=dict(sorted(counted.items())),
        merged=sum(len(members) for _, members in version.others.values()),
    )
